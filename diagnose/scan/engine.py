"""Three engines that find literals in a block of bytes: native Hyperscan, native Aho-Corasick, and plain Python.

They give the same answers; only their speed differs, by a factor of about 3 and 100.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

NAMES = ("hyperscan", "aho-corasick", "plain")


@dataclass(frozen=True, slots=True)
class Needle:
    """Literals that are reported under one number."""

    values: tuple[bytes, ...]
    nocase: bool = False  # compare without regard to ASCII case
    narrow: str = ""  # an expression that Hyperscan looks for in place of the literals


class Engine(Protocol):
    """Finds needles. Not for use by two threads at once."""

    name: str

    def find(self, data: bytes) -> dict[int, list[int]]:
        """Find every occurrence of every needle in `data`, which is shorter than 4 GiB.

        Returns the needles that were found, by their number, with the offsets behind their occurrences, ascending.
        """


def build_engine(needles: Sequence[Needle], prefer: str | None = None) -> Engine:
    """Build the fastest engine that this machine has.

    Args:
        needles: what to look for.
        prefer: the name of the engine to use, one of NAMES; None chooses.

    Raises ValueError for an unknown name, ImportError where the preferred engine is not installed.
    """
    from diagnose.scan.native import HyperscanEngine

    makers: dict[str, Callable[[Sequence[Needle]], Engine]] = {
        "hyperscan": HyperscanEngine,
        "aho-corasick": AhoCorasickEngine,
        "plain": PlainEngine,
    }
    if prefer is not None:
        if prefer not in makers:
            raise ValueError(f"unknown engine {prefer!r}; known are {', '.join(NAMES)}")
        return makers[prefer](needles)
    if not needles:
        return PlainEngine(needles)
    for name in NAMES[:-1]:
        try:
            return makers[name](needles)
        except ImportError:
            continue
    return PlainEngine(needles)


class PlainEngine:
    """Searches for one literal after the other; always there, for small logs."""

    name = "plain"

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._literals = _flatten(needles)

    def find(self, data: bytes) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        lower = data.lower() if any(literal.nocase for literal in self._literals) else b""
        for literal in self._literals:
            text = lower if literal.nocase else data
            at = text.find(literal.value)
            if at >= 0:
                ends = found.setdefault(literal.number, [])
                while at >= 0:
                    ends.append(at + len(literal.value))
                    at = text.find(literal.value, at + 1)
        return _ascending(found)


class AhoCorasickEngine:
    """Searches for all literals at once with an automaton of the package ahocorasick_rs."""

    name = "aho-corasick"

    def __init__(self, needles: Sequence[Needle]) -> None:
        from ahocorasick_rs import BytesAhoCorasick, Implementation

        literals = _flatten(needles)
        self._searches: list[tuple[Any, bool, list[int]]] = []
        for nocase in (False, True):
            chosen = [literal for literal in literals if literal.nocase is nocase]
            if chosen:
                automaton = BytesAhoCorasick([each.value for each in chosen], implementation=Implementation.DFA)
                self._searches.append((automaton, nocase, [each.number for each in chosen]))

    def find(self, data: bytes) -> dict[int, list[int]]:
        found: defaultdict[int, list[int]] = defaultdict(list)
        for automaton, nocase, numbers in self._searches:
            text = data.lower() if nocase else data
            for index, _, end in automaton.find_matches_as_indexes(text, overlapping=True):
                found[numbers[index]].append(end)
        return _ascending(found)


@dataclass(frozen=True, slots=True)
class _Literal:
    number: int
    value: bytes
    nocase: bool


def _flatten(needles: Sequence[Needle]) -> list[_Literal]:
    return [
        _Literal(number, value.lower() if needle.nocase else value, needle.nocase)
        for number, needle in enumerate(needles)
        for value in needle.values
    ]


def _ascending(found: dict[int, list[int]]) -> dict[int, list[int]]:
    for ends in found.values():
        ends.sort()
    return found
