"""What a renderer is given besides the diagnosis, and what a renderer is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from diagnose.classes import dataclass, field
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.result import Diagnosis


@dataclass(frozen=True, slots=True)
class Context:
    """What a report needs to know that is not part of the answer."""

    version: str  # of this program
    pattern_count: int = 0  # patterns in force
    pattern_digest: str = ""  # of their contents, 12 hex digits
    width: int = 100  # columns of the terminal
    color: bool = False  # True: styles for a terminal
    verbose: bool = False  # True: everything that is known
    quiet: bool = False  # True: one line
    titles: Mapping[str, str] = field(default_factory=dict)  # pattern id -> title, of the patterns in force


Renderer = Callable[["Diagnosis", Context], str]
