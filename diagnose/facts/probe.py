"""A catalogue made ready to look at sources: one database of all literals, kept on disk between starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from diagnose import shelf
from diagnose.catalogue.compile import Matcher, compile_alternative
from diagnose.catalogue.model import Catalogue
from diagnose.classes import dataclass
from diagnose.facts.readers import READERS, STEP_READERS, stamp
from diagnose.packed import Packed, pack
from diagnose.read import own_stamp_end, split
from diagnose.scan import Anchor, Database
from diagnose.typed import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from diagnose.catalogue.model import Wording

TRACEBACK = "traceback"
HEADS = (b"Traceback (most recent call last)", b"Exception Group Traceback (most recent call last)")
_KEPT, _SPEAKERS = 100, 1024  # first and last hits of one wording, and ranks whose first one is kept in any case
_HEADS_KEPT, _HEADS_SPEAKERS = 64, 256  # the same of tracebacks
_SCHEMA = 3  # of the kept file; raised when anchors, or the database's state, mean something else
# An anchor's key, its literals, whether case counts, how many hits it keeps, and of how many speakers.
_Row = tuple[str, tuple[bytes, ...], bool, int, int]


class Candidate:
    """One alternative of one pattern; the pattern is built when a line needs it."""

    __slots__ = ("_catalogue", "_matcher", "exception", "number", "pattern")

    def __init__(self, catalogue: Catalogue, pattern: str, number: int, exception: Sequence[str] = ()) -> None:
        self._catalogue = catalogue
        self._matcher: Matcher | None = None
        self.pattern = pattern
        self.number = number
        self.exception = exception  # of one that is found in frames

    @property
    def matcher(self) -> Matcher:
        """The compiled alternative."""
        if self._matcher is None:
            self._matcher = compile_alternative(self._catalogue.patterns[self.pattern].match[self.number])
        return self._matcher

    def accepts(self, text: str) -> bool:
        """Tell whether the alternative's expression is found in a line; the scan asks this."""
        return any(match_body(self.matcher, split(part).body) is not None for part in text.split("\r"))


class Candidates:
    """Alternatives by their anchor's key, each made when it is asked for."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._made: dict[str, Candidate] = {}

    def get(self, key: str) -> Candidate | None:
        """Return the alternative of an anchor; None where the anchor is not a pattern's."""
        known = self._made.get(key)
        if known is None:
            pattern, mark, number = key.rpartition("#")
            if not mark:
                return None
            known = self._made[key] = Candidate(self._catalogue, pattern, int(number))
        return known


class _Anchors(Sequence[Anchor]):
    """Anchors, each made when it is found."""

    def __init__(self, rows: Sequence[_Row], candidates: Candidates) -> None:
        self._rows = rows
        self._candidates = candidates
        self._made: dict[int, Anchor] = {}

    @overload
    def __getitem__(self, index: int) -> Anchor: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Anchor]: ...
    def __getitem__(self, index: int | slice) -> Anchor | Sequence[Anchor]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        made = self._made.get(index)
        if made is None:
            key, literals, nocase, keep, speakers = self._rows[index]
            candidate = self._candidates.get(key)
            verify = candidate.accepts if candidate is not None else None
            made = Anchor(key, literals, nocase=nocase, keep=keep, speakers=speakers, verify=verify)
            self._made[index] = made
        return made

    def __iter__(self) -> Iterator[Anchor]:
        return (self[index] for index in range(len(self)))

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, slots=True)
class Probe:
    """A catalogue made ready to look at sources."""

    database: Database
    candidates: Candidates  # anchor key -> alternative
    framed: tuple[Candidate, ...]  # alternatives that are found in a traceback's frames, not by a literal


def prepare(catalogue: Catalogue, *, engine: str | None = None) -> Probe:
    """Build the database of all literals: patterns, fact readers, traceback heads.

    `engine` forces one of the scan engines; None takes the fastest there is.
    """
    path, identity = "", []
    if catalogue.kept is not None and engine is None:
        path = f"{os.path.splitext(catalogue.kept[0])[0]}.scan"
        identity = [_SCHEMA, catalogue.kept[1], list(sys.version_info[:3]), stamp()]
        kept = _fetch(path, identity, catalogue)
        if kept is not None:
            return kept
    readers = [*READERS.items(), *STEP_READERS.items()]
    rows = [
        (TRACEBACK, HEADS, False, _HEADS_KEPT, _HEADS_SPEAKERS),
        *(_row(each) for each in catalogue.wordings if not each.framed),
        *((key, each.anchors, False, each.keep, 0) for key, each in readers),
    ]
    framed = [(each.pattern, each.number, each.exception) for each in catalogue.wordings if each.framed]
    candidates = Candidates(catalogue)
    database = Database(_Anchors(rows, candidates), engine=engine)
    if path and (state := database.state()) is not None:
        shelf.store(path, shelf.head_of(identity, pack(rows), framed, state))
    return Probe(database, candidates, tuple(Candidate(catalogue, *each) for each in framed))


def _row(wording: Wording) -> _Row:
    literals = tuple(literal.encode() for literal in wording.literals)
    return f"{wording.pattern}#{wording.number}", literals, wording.nocase, _KEPT, _SPEAKERS


def _fetch(path: str, identity: list[Any], catalogue: Catalogue) -> Probe | None:
    """Read what an earlier start kept; None where it is not there, not of this catalogue, or not of this machine."""
    file = shelf.fetch(path)
    found = file.values(identity, 3) if file else None
    if found is None:
        return None
    rows, framed, state = found
    try:
        candidates = Candidates(catalogue)
        database = Database.restored(_Anchors(Packed(rows), candidates), state)
    except Exception:  # the native package has errors of its own; whatever is wrong, it is built anew
        return None
    return Probe(database, candidates, tuple(Candidate(catalogue, *each) for each in framed))


def match_body(matcher: Matcher, body: str) -> dict[str, str] | None:
    """Search a body with an alternative's expression and its `not`; what stands around the line is decided later."""
    if "\n" in body:  # a structured entry
        found = (match_body(matcher, part) for part in body.split("\n"))
        return next((each for each in found if each is not None), None)
    captures = matcher.find(matcher.alternative.regex, body)
    if captures is None and "^" in matcher.alternative.regex and (end := own_stamp_end(body)):
        body = body[end:]  # a collector may have written the stamp that stands before the words
        captures = matcher.find(matcher.alternative.regex, body)
    if captures is None or any(matcher.find(text, body) is not None for text in matcher.alternative.unless):
        return None
    return captures
