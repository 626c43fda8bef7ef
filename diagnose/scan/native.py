"""The engine on Hyperscan: one block-mode database for all needles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diagnose.scan.engine import Needle
from diagnose.scan.rarity import window


class HyperscanEngine:
    """Searches for all literals at once with Hyperscan in block mode.

    Raises ImportError where the package hyperscan is not installed.
    """

    name = "hyperscan"

    def __init__(self, needles: Sequence[Needle]) -> None:
        import hyperscan

        self._parts = [part for number, needle in enumerate(needles) for part in _parts(number, needle)]
        try:
            self._database = _compile(hyperscan, self._parts)
        except hyperscan.error:
            # An expression that Hyperscan cannot read costs speed, not answers.
            wide = [Needle(needle.values, needle.nocase) for needle in needles]
            self._parts = [part for number, needle in enumerate(wide) for part in _parts(number, needle)]
            self._database = _compile(hyperscan, self._parts)

    def find(self, data: bytes) -> dict[int, list[int]]:
        found: defaultdict[int, list[int]] = defaultdict(list)

        # Kept in a local: the binding holds no reference of its own to the callback.
        def on_match(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found[index].append(end)

        self._database.scan(data, on_match)
        result: dict[int, list[int]] = {}
        for index, ends in found.items():
            part = self._parts[index]
            if part.literal:
                ends = part.completed(data, ends)
            if ends:
                result.setdefault(part.number, []).extend(ends)
        for ends in result.values():
            ends.sort()
        return result


@dataclass(frozen=True, slots=True)
class _Part:
    """What stands in the database for one needle: an expression, or the part of a literal whose end is rare."""

    number: int  # of the needle
    expression: bytes
    nocase: bool
    literal: bytes = b""  # the whole literal; empty where the expression alone decides
    behind: int = 0  # bytes of the literal up to the end of its part

    def completed(self, data: bytes, ends: list[int]) -> list[int]:
        """Keep the ends of the part where the whole literal stands, and move them to the literal's end."""
        literal, behind = self.literal, self.behind
        rest = len(literal) - behind
        if self.nocase:
            return [e + rest for e in ends if e >= behind and data[e - behind : e + rest].lower() == literal]
        return [e + rest for e in ends if e >= behind and data.startswith(literal, e - behind)]


def _parts(number: int, needle: Needle) -> list[_Part]:
    if needle.narrow:
        return [_Part(number, needle.narrow.encode(), needle.nocase)]
    result = []
    for value in needle.values:
        start, end = window(value)
        # Every byte is written as its code: pure literals of Hyperscan's own end at a NUL byte.
        expression = "".join(f"\\x{byte:02x}" for byte in value[start:end]).encode()
        if (start, end) == (0, len(value)):
            result.append(_Part(number, expression, needle.nocase))
        else:
            result.append(_Part(number, expression, needle.nocase, value.lower() if needle.nocase else value, end))
    return result


def _compile(hyperscan: Any, parts: Sequence[_Part]) -> Any:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[part.expression for part in parts],
        ids=list(range(len(parts))),
        elements=len(parts),
        flags=[hyperscan.HS_FLAG_MULTILINE | (hyperscan.HS_FLAG_CASELESS if part.nocase else 0) for part in parts],
    )
    return database
