"""The engine on Hyperscan: one block-mode database for all needles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from diagnose.classes import dataclass, field
from diagnose.scan.engine import Needle, first_end
from diagnose.scan.rarity import rare_end


class HyperscanEngine:
    """Searches for all literals at once with Hyperscan in block mode. See `Engine` for what it does.

    Raises ImportError where the package hyperscan is not installed.
    """

    name = "hyperscan"

    def __init__(self, needles: Sequence[Needle], quiet: Collection[int] = (), whole: Collection[bytes] = ()) -> None:
        import hyperscan

        self._misfires: Counter[bytes] = Counter()
        try:
            self._parts = _parts(needles, quiet, whole)
            self._database = _compile(hyperscan, self._parts)
        except hyperscan.error:
            # An expression that Hyperscan cannot read costs speed, not answers.
            self._parts = _parts([Needle(needle.values, needle.nocase) for needle in needles], quiet, whole)
            self._database = _compile(hyperscan, self._parts)

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
            part = self._parts[index]
            missed = True
            for number, literal in part.owners:
                sure = part.completed(data, ends, literal)
                if sure:
                    result.setdefault(number, []).extend(sure)
                    missed = False
            if missed:
                self._misfires[part.begin] += len(ends)
        for ends in result.values():
            ends.sort()
        return result


@dataclass(frozen=True, slots=True)
class _Part:
    """One entry of the database: an expression, or the beginning that some literals share, up to where it is rare."""

    expression: bytes
    nocase: bool
    quiet: bool = False
    begin: bytes = b""  # the beginning; empty for an expression
    owners: list[tuple[int, bytes]] = field(default_factory=list)  # numbers of needles, with the whole literal

    def completed(self, data: bytes, ends: list[int], literal: bytes) -> list[int]:
        """Keep the ends of the beginning where the whole literal stands, and move them to the literal's end."""
        size, rest = len(self.begin), len(literal) - len(self.begin)
        if not size or not rest:
            return list(ends)
        if self.quiet:
            return first_end(data.lower() if self.nocase else data, literal)
        if self.nocase:
            return [e + rest for e in ends if data[e - size : e + rest].lower() == literal]
        return [e + rest for e in ends if data.startswith(literal, e - size)]


def _parts(needles: Sequence[Needle], quiet: Collection[int], whole: Collection[bytes]) -> list[_Part]:
    parts: dict[tuple[bytes, bool, bool], _Part] = {}
    for number, needle in enumerate(needles):
        if needle.narrow:
            key = (needle.narrow.encode(), needle.nocase, False)
            parts.setdefault(key, _Part(*key)).owners.append((number, b""))
            continue
        for value in needle.values:
            begin = value[: rare_end(value)]
            if begin in whole:
                begin = value
            key = (begin, needle.nocase, number in quiet)
            if key not in parts:
                # Every byte is written as its code: pure literals of Hyperscan's own end at a NUL byte.
                expression = begin.hex(" ").replace(" ", "\\x")
                parts[key] = _Part(f"\\x{expression}".encode(), needle.nocase, number in quiet, begin)
            parts[key].owners.append((number, value))
    return list(parts.values())


def _compile(hyperscan: Any, parts: Sequence[_Part]) -> Any:
    if not parts:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[part.expression for part in parts],
        ids=list(range(len(parts))),
        elements=len(parts),
        flags=[
            hyperscan.HS_FLAG_MULTILINE
            | (hyperscan.HS_FLAG_CASELESS if part.nocase else 0)
            | (hyperscan.HS_FLAG_SINGLEMATCH if part.quiet else 0)
            for part in parts
        ],
    )
    return database
