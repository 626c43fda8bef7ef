"""A long list on its way through a file: each row is unpacked when it is asked for, and most never are."""

from __future__ import annotations

import marshal
from array import array
from collections.abc import Iterable, Iterator, Sequence

from diagnose.typed import Any, TypeVar, overload

Row = TypeVar("Row")


def pack(rows: Iterable[Any]) -> tuple[bytes, bytes]:
    """Return what `Packed` takes: where each row ends, and the rows, of values that `marshal` takes."""
    bodies = [marshal.dumps(row) for row in rows]
    ends = array("Q")
    for body in bodies:
        ends.append(len(body) + (ends[-1] if ends else 0))
    return ends.tobytes(), b"".join(bodies)


class Packed(Sequence[Row]):
    """The rows that were packed."""

    def __init__(self, packed: tuple[bytes, bytes]) -> None:
        """Take what `pack` gave; raises ValueError where that is damaged."""
        ends, self._data = packed
        self._ends = array("Q", ends)
        self._known: dict[int, Row] = {}

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        found = self._known.get(index)
        if found is None:
            begin = self._ends[index - 1] if index else 0
            found = self._known[index] = marshal.loads(self._data[begin : self._ends[index]])
        return found

    def __iter__(self) -> Iterator[Row]:
        return (self[index] for index in range(len(self)))

    def __len__(self) -> int:
        return len(self._ends)
