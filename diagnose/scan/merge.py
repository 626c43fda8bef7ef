"""Puts the parts of a scanned source together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter

from diagnose.scan.database import Database
from diagnose.scan.model import Anchor, Found, Hit, ScanResult, Stretch
from diagnose.typed import Protocol

_NAMED = 5


class Index(Protocol):
    """The part of a line index that a scan fills."""

    def add(self, offset: int, newlines_before: int, /) -> None: ...


def merged(stretches: Sequence[Stretch], index: Index, database: Database) -> ScanResult:
    """Make one result of the parts of a source, in their order.

    Args:
        stretches: the parts; the outcome is the same whoever scanned them.
        index: is told how many newlines stand before each chunk.
        database: the one they were scanned with.
    """
    result = ScanResult(engine=database.engine)
    found: dict[int, list[Found]] = {}
    problems: list[str] = []
    for stretch in stretches:
        for offset, newlines in stretch.marks:
            index.add(offset, result.lines + newlines)
        for number, each in stretch.found.items():
            found.setdefault(number, []).append(_moved(each, result.lines))
        problems += [problem for problem in stretch.problems if problem not in problems]
        result.lines += stretch.newlines
        result.size, result.cut = max(result.size, stretch.end), stretch.cut
    result.lines += result.cut
    parts = {database.anchors[number]: found[number] for number in sorted(found)}
    hits = {hit for anchor, each in parts.items() for hit in _kept(anchor, each)}
    result.hits = sorted(hits, key=attrgetter("start", "end", "number", "key", "at"))
    counts = {anchor.key: sum(part.count for part in each) for anchor, each in parts.items()}
    result.counts = {key: count for key, count in counts.items() if count}
    result.problems = [*problems, *_told({anchor.key: each for anchor, each in parts.items()})]
    return result


def _moved(found: Found, lines: int) -> Found:
    """Count line numbers from the source's beginning."""
    if not lines:
        return found
    first, last = ([_down(hit, lines) for hit in hits] for hits in (found.first, found.last))
    speakers = {label: _down(hit, lines) for label, hit in found.speakers.items()}
    return Found(first, last, speakers, found.count, found.guessed, found.impatient)


def _down(hit: Hit, lines: int) -> Hit:
    return Hit(hit.start, hit.end, hit.number + lines, hit.key, hit.at)


def _kept(anchor: Anchor, parts: Sequence[Found]) -> list[Hit]:
    hits = list(chain.from_iterable((*part.first, *part.last) for part in parts))
    if len(parts) > 1:
        hits = [*hits[: anchor.keep], *hits[max(anchor.keep, len(hits) - anchor.keep) :]]
    speakers: dict[bytes, Hit] = {}
    for part in parts:
        speakers = {**part.speakers, **speakers}
    return [*hits, *list(speakers.values())[: anchor.speakers]]


def _told(found: Mapping[str, Sequence[Found]]) -> list[str]:
    missed = [key for key, parts in found.items() if any(part.impatient for part in parts)]
    guessed = [key for key, parts in found.items() if key not in missed and any(part.guessed for part in parts)]
    problems = []
    if missed:
        problems.append(f"very many lines look like {_names(missed)}; only a sample of them was looked at closely")
    if guessed:
        problems.append(
            f"very many lines match {_names(guessed)}; the first and last are kept, the count is an estimate"
        )
    return problems


def _names(keys: Sequence[str]) -> str:
    shown = ", ".join(keys[:_NAMED])
    return f"{shown} and {len(keys) - _NAMED} more" if len(keys) > _NAMED else shown
