"""The engine on Hyperscan: one block-mode database for all needles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from diagnose.extension import extension_identity, load_extension
from diagnose.packed import Packed, pack
from diagnose.scan.engine import Needle, first_end
from diagnose.scan.rarity import rare_end
from diagnose.typed import Any

_HYPERSCAN = ("hyperscan", "_hs_ext")

# Of one entry of the database: the beginning that some literals share, up to where it is rare (empty for an expression
# of an anchor's own); compare without regard to case; tell one place only; the needles, with their whole literals.
_Part = tuple[bytes, bool, bool, list[tuple[int, bytes]]]


class HyperscanEngine:
    """Searches for all literals at once with Hyperscan in block mode. See `Engine` for what it does.

    Raises ImportError where the package hyperscan is not installed.
    """

    name = "hyperscan"

    def __init__(self, needles: Sequence[Needle], quiet: Collection[int] = (), whole: Collection[bytes] = ()) -> None:
        hyperscan = _hyperscan()

        self._misfires: Counter[bytes] = Counter()
        try:
            parts = _parts(needles, quiet, whole)
            self._database = _compile(hyperscan, parts)
        except hyperscan.error:
            # An expression that Hyperscan cannot read costs speed, not answers.
            parts = _parts([Needle(needle.values, needle.nocase) for needle in needles], quiet, whole)
            self._database = _compile(hyperscan, parts)
        self._parts: Sequence[_Part] = list(parts.values())

    def changed(self, quiet: Collection[int], whole: Collection[bytes]) -> HyperscanEngine | None:
        """As `Engine.changed`; where an entry is an expression of an anchor's own, everything must be built anew."""
        hyperscan = _hyperscan()

        if not all(begin for begin, *_ in self._parts):
            return None
        parts: dict[Any, _Part] = {}
        for begin, nocase, _, owners in self._parts:
            for number, literal in owners:
                _add_literal(parts, literal if begin in whole else begin, nocase, number in quiet, number, literal)
        engine = HyperscanEngine.__new__(HyperscanEngine)
        engine._misfires = Counter()
        engine._parts = list(parts.values())
        engine._database = _compile(hyperscan, parts)
        return engine

    @classmethod
    def restored(cls, state: Any) -> HyperscanEngine:
        """Build the engine from its `state`; raises where this machine's Hyperscan cannot use it."""
        hyperscan = _hyperscan()

        build, parts, database = state
        if build != extension_identity(*_HYPERSCAN):
            raise ValueError("made by another build of hyperscan")
        engine = cls.__new__(cls)
        engine._misfires = Counter()
        engine._parts = Packed(parts)
        engine._database = hyperscan.loadb(database, mode=hyperscan.HS_MODE_BLOCK)
        engine._database.scratch = hyperscan.Scratch(engine._database)
        return engine

    def state(self) -> Any:
        """Return what `restored` needs, as values that `marshal` takes; None where there is nothing to search for."""
        hyperscan = _hyperscan()

        if self._database is None:
            return None
        return extension_identity(*_HYPERSCAN), pack(self._parts), hyperscan.dumpb(self._database)

    @property
    def misfires(self) -> Counter[bytes]:
        """How often only the beginning of a literal was there, by that beginning."""
        return self._misfires

    def find(self, data: bytes) -> dict[int, list[int]]:
        """Find every needle."""
        found: defaultdict[int, list[int]] = defaultdict(list)

        # Kept in a local: the binding holds no reference of its own to the callback.
        def on_match(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found[index].append(end)

        if self._database is not None:
            self._database.scan(data, on_match)
        result: dict[int, list[int]] = {}
        for index, ends in found.items():
            begin, nocase, quiet, owners = self._parts[index]
            missed = True
            for number, literal in owners:
                sure = _completed(data, ends, begin, literal, nocase, quiet)
                if sure:
                    result.setdefault(number, []).extend(sure)
                    missed = False
            if missed:
                self._misfires[begin] += len(ends)
        for ends in result.values():
            ends.sort()
        return result


def _completed(data: bytes, ends: list[int], begin: bytes, literal: bytes, nocase: bool, quiet: bool) -> list[int]:
    """Keep the ends of the beginning where the whole literal stands, and move them to the literal's end."""
    size, rest = len(begin), len(literal) - len(begin)
    if not size or not rest:
        return list(ends)
    if quiet:
        return first_end(data.lower() if nocase else data, literal)
    if nocase:
        return [e + rest for e in ends if data[e - size : e + rest].lower() == literal]
    return [e + rest for e in ends if data.startswith(literal, e - size)]


def _parts(needles: Sequence[Needle], quiet: Collection[int], whole: Collection[bytes]) -> dict[Any, _Part]:
    """The entries of the database, by what Hyperscan is to look for, case, and quietness."""
    parts: dict[tuple[bytes, bool, bool], _Part] = {}
    for number, needle in enumerate(needles):
        if needle.narrow:
            key = (needle.narrow.encode(), needle.nocase, False)
            parts.setdefault(key, (b"", needle.nocase, False, []))[3].append((number, b""))
            continue
        for value in needle.values:
            begin = value[: rare_end(value)]
            _add_literal(parts, value if begin in whole else begin, needle.nocase, number in quiet, number, value)
    return parts


def _add_literal(parts: dict[Any, _Part], begin: bytes, nocase: bool, quiet: bool, number: int, literal: bytes) -> None:
    # Every byte is written as its code: pure literals of Hyperscan's own end at a NUL byte.
    expression = begin.hex(" ").replace(" ", "\\x")
    key = (f"\\x{expression}".encode(), nocase, quiet)
    parts.setdefault(key, (begin, nocase, quiet, []))[3].append((number, literal))


def _hyperscan() -> Any:
    return load_extension(*_HYPERSCAN)


def _compile(hyperscan: Any, parts: Collection[tuple[bytes, bool, bool]]) -> Any:
    if not parts:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[expression for expression, _, _ in parts],
        ids=list(range(len(parts))),
        elements=len(parts),
        flags=[
            hyperscan.HS_FLAG_MULTILINE
            | (hyperscan.HS_FLAG_CASELESS if nocase else 0)
            | (hyperscan.HS_FLAG_SINGLEMATCH if quiet else 0)
            for _, nocase, quiet in parts
        ],
    )
    return database
