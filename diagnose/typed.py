"""The names of `typing` that this package uses, without `typing`: importing that takes as long as scanning a megabyte.

Type checkers see `typing` itself. While the program runs, nothing looks at an annotation.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO as IO
    from typing import Any as Any
    from typing import BinaryIO as BinaryIO
    from typing import Generic as Generic
    from typing import Literal as Literal
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import Self as Self
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import overload as overload
else:

    class Any:
        """Stands for every form that is only written in annotations, or is the base of a class."""

        def __class_getitem__(cls, _item):
            return cls

    IO = BinaryIO = Generic = Literal = NoReturn = Protocol = Self = Any

    def TypeVar(name, *_constraints, **_options):  # noqa: N802 it is written like the one it stands for
        return name

    def cast(_type, value):
        return value

    def overload(function):
        return function
