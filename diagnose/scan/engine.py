"""Three engines that find literals in a block of bytes: native Hyperscan, native Aho-Corasick, and plain Python.

They give the same answers; only their speed differs, by a factor of about 3 and 100.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence

from diagnose.classes import dataclass
from diagnose.typed import Any, Protocol

NAMES = ("hyperscan", "aho-corasick", "plain")


@dataclass(frozen=True, slots=True)
class Needle:
    """Literals that are reported under one number."""

    values: tuple[bytes, ...]
    nocase: bool = False  # compare without regard to ASCII case
    narrow: str = ""  # an expression that Hyperscan looks for in place of the literals


class Engine(Protocol):
    """Finds needles. Not for use by two threads at once."""

    @property
    def name(self) -> str:
        """One of NAMES."""

    @property
    def misfires(self) -> Counter[bytes]:
        """What was found often in vain, and how often."""

    def find(self, data: bytes) -> dict[int, list[int]]:
        """Find every occurrence of every needle in `data`, which is shorter than 4 GiB.

        Returns the needles that were found, by their number, with the offsets behind their occurrences, ascending. Of
        a quiet needle only one occurrence is told.
        """

    def changed(self, quiet: Collection[int], whole: Collection[bytes]) -> Engine | None:
        """Build this engine with other quiet needles and misfires, more than it has; None where that saves nothing."""

    def state(self) -> Any:
        """What `restore_engine` needs, as values that `marshal` takes; None where building anew costs no more."""


def build_engine(
    needles: Sequence[Needle],
    prefer: str | None = None,
    quiet: Collection[int] = (),
    whole: Collection[bytes] = (),
) -> Engine:
    """Build the fastest engine that this machine has.

    Args:
        needles: what to look for; values of those without regard to case are lower-case.
        prefer: the name of the engine to use, one of NAMES; None chooses.
        quiet: numbers of the needles of which one occurrence in a block is enough; they have no expression.
        whole: misfires of an engine before this one; they are no longer looked for.

    Raises ValueError for an unknown name, ImportError where the preferred engine is not installed.
    """
    from diagnose.scan.native import HyperscanEngine

    makers: dict[str, Callable[[Sequence[Needle], Collection[int], Collection[bytes]], Engine]] = {
        "hyperscan": HyperscanEngine,
        "aho-corasick": AhoCorasickEngine,
        "plain": PlainEngine,
    }
    if prefer is not None:
        if prefer not in makers:
            raise ValueError(f"unknown engine {prefer!r}; known are {', '.join(NAMES)}")
        return makers[prefer](needles, quiet, whole)
    if needles:
        for name in NAMES[:-1]:
            try:
                return makers[name](needles, quiet, whole)
            except ImportError:
                continue
    return PlainEngine(needles, quiet)


def restore_engine(state: Any) -> Engine:
    """Build an engine from its state; raises whatever the native package raises where it cannot be used."""
    from diagnose.scan.native import HyperscanEngine

    return HyperscanEngine.restored(state)


class PlainEngine:
    """Searches for one literal after the other; always there, for small logs. See `Engine` for what it does."""

    name = "plain"

    def __init__(self, needles: Sequence[Needle], quiet: Collection[int] = (), _whole: Collection[bytes] = ()) -> None:
        self.misfires: Counter[bytes] = Counter()
        self._literals = _flatten(needles)
        self._quiet = frozenset(quiet)

    def changed(self, _quiet: Collection[int], _whole: Collection[bytes]) -> None:
        """Building anew costs no more."""

    def state(self) -> None:
        """There is none."""

    def find(self, data: bytes) -> dict[int, list[int]]:
        """Find every needle."""
        found: dict[int, list[int]] = {}
        lower = data.lower() if any(nocase for _, _, nocase in self._literals) else b""
        for number, value, nocase in self._literals:
            text = lower if nocase else data
            ends = first_end(text, value) if number in self._quiet else all_ends(text, value)
            if ends:
                found.setdefault(number, []).extend(ends)
        return _ascending(found)


class AhoCorasickEngine:
    """Searches for all literals at once with an automaton of the package ahocorasick_rs. See `Engine` for what it does.

    Raises ImportError where the package is not installed.
    """

    name = "aho-corasick"

    def __init__(self, needles: Sequence[Needle], quiet: Collection[int] = (), _whole: Collection[bytes] = ()) -> None:
        self.misfires: Counter[bytes] = Counter()
        from ahocorasick_rs import BytesAhoCorasick, Implementation

        literals = _flatten(needles)
        self._quiet = frozenset(quiet)
        self._searches: list[tuple[Any, bool, list[int]]] = []
        for folded in (False, True):
            chosen = [(number, value) for number, value, nocase in literals if nocase is folded]
            if chosen:
                automaton = BytesAhoCorasick([value for _, value in chosen], implementation=Implementation.DFA)
                self._searches.append((automaton, folded, [number for number, _ in chosen]))

    def changed(self, _quiet: Collection[int], _whole: Collection[bytes]) -> None:
        """Building anew costs no more."""

    def state(self) -> None:
        """There is none."""

    def find(self, data: bytes) -> dict[int, list[int]]:
        """Find every needle."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for automaton, folded, numbers in self._searches:
            text = data.lower() if folded else data
            for index, _, end in automaton.find_matches_as_indexes(text, overlapping=True):
                found[numbers[index]].append(end)
        _ascending(found)
        for number in self._quiet & found.keys():
            del found[number][1:]
        return found


def all_ends(data: bytes, literal: bytes) -> list[int]:
    """The offsets behind all occurrences of a literal."""
    ends = []
    size = len(literal)
    at = data.find(literal)
    while at >= 0:
        ends.append(at + size)
        at = data.find(literal, at + 1)
    return ends


def first_end(data: bytes, literal: bytes) -> list[int]:
    """The offset behind the first occurrence of a literal, if there is one."""
    at = data.find(literal)
    return [at + len(literal)] if at >= 0 else []


def _flatten(needles: Sequence[Needle]) -> list[tuple[int, bytes, bool]]:
    return [(number, value, needle.nocase) for number, needle in enumerate(needles) for value in needle.values]


def _ascending(found: dict[int, list[int]]) -> dict[int, list[int]]:
    for ends in found.values():
        ends.sort()
    return found
