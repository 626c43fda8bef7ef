"""Tries an expression on logs: what it finds, what it nearly finds, and what it costs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from diagnose.author.healthy import Rarity, rarity_of
from diagnose.catalogue.compile import Matcher
from diagnose.catalogue.examine import Fault, compile_expression, examine
from diagnose.catalogue.literals import required_literals
from diagnose.catalogue.model import Alternative, Catalogue
from diagnose.classes import dataclass, field
from diagnose.expressions import search_within
from diagnose.facts.collect import collect, prepare
from diagnose.read import Evidence, Line, LineIndex, Source, Text, find_sources, open_stream, split
from diagnose.scan import Anchor, Database, scan
from diagnose.typed import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import regex

_KEEP = 100  # first and last lines of each log that are looked at
_NEAR = 20  # lines that nearly match
_MOST_LINES = 200_000  # of each log, where the expression has no literal to look for
_ROUNDS = 3
_BEGINNINGS = 400  # of an expression that are tried, to say where it fails


class UnreadableLogError(ValueError):
    """None of the logs can be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """A line that the expression matches."""

    evidence: Evidence
    captures: dict[str, str]
    others: tuple[str, ...]  # ids of patterns that match the line, too


@dataclass(frozen=True, slots=True)
class Missed:
    """A line that holds the literal and does not match."""

    evidence: Evidence
    fits: str  # the longest beginning of the expression that is found in the line
    fails: str  # the rest of it


@dataclass(slots=True)
class Trial:
    """What came out."""

    faults: list[Fault]  # what is wrong with the expression
    literals: tuple[str, ...]  # one of them is on every line that can match; () without one
    matched: int = 0  # lines
    candidates: int = 0  # lines that hold a literal
    size: int = 0  # bytes of all logs
    lines: int = 0
    cut: bool = False  # True: only the first lines of a log were looked at
    found: list[Found] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    also: dict[str, int] = field(default_factory=dict)  # pattern id -> lines that it matches as well
    microseconds: float = 0.0  # for one candidate, the expression alone
    rarity: Rarity | None = None  # of the literals in logs of healthy runs
    problems: list[str] = field(default_factory=list)


def try_expression(
    expression: str, paths: Sequence[str], catalogue: Catalogue, *, stdin: BinaryIO | None = None
) -> Trial:
    """Try an expression on logs.

    Arguments: the expression, as it would stand in `match`; files, folders or globs; the patterns in force. An
    expression that does not compile is not tried: see the faults. Raises UnreadableLogError.
    """
    _, faults = examine(expression)
    literals = required_literals(expression) if not faults or all(fault.column == 0 for fault in faults) else None
    alternative = Alternative(
        regex=expression,
        literals=literals.values if literals else (),
        nocase=literals.nocase if literals else False,
    )
    trial = Trial(faults, alternative.literals)
    if any("cannot be compiled" in fault.message or "is wrong" in fault.message for fault in faults):
        return trial
    sources, problems = find_sources(list(paths))
    if not sources:
        raise UnreadableLogError(problems[0].what if problems else "there is nothing to read")
    trial.problems = [f"{each.path}: {each.what}" for each in problems]
    matcher = Matcher(alternative)
    candidates: list[Line] = []
    missed: list[tuple[Line, Evidence]] = []
    for source in sources:
        _try_source(trial, source, matcher, candidates, missed, stdin)
    trial.missed = [*_explained(expression, missed)]
    trial.microseconds = _cost(matcher, candidates)
    if alternative.literals:
        trial.rarity = rarity_of(alternative.literals, nocase=alternative.nocase)
    _compare(trial, sources, catalogue)
    return trial


def _try_source(
    trial: Trial,
    source: Source,
    matcher: Matcher,
    candidates: list[Line],
    missed: list[tuple[Line, Evidence]],
    stdin: BinaryIO | None,
) -> None:
    wanted = matcher.alternative
    with open_stream(source, stdin=stdin) as stream:
        index = LineIndex()
        literals = tuple(text.encode() for text in wanted.literals)
        verify = _Verify(matcher)
        anchors = [
            Anchor("candidate", literals, nocase=wanted.nocase, keep=_KEEP),
            Anchor("match", literals, nocase=wanted.nocase, keep=_KEEP, verify=verify),
        ]
        result = scan(stream, index, Database(anchors if literals else []))
        text = Text(stream, index, source)
        trial.size += result.size
        trial.lines += result.lines
        trial.problems += [f"{source.path}: {each}" for each in result.problems]
        if literals:
            lines = [text.line_at(hit.start, at=hit.at) for hit in result.hits if hit.key == "candidate"]
            trial.candidates += result.counts.get("candidate", 0)
            trial.matched += result.counts.get("match", 0)
        else:
            lines = list(_all(text)) if result.size else []
            trial.cut |= result.lines > _MOST_LINES
            trial.candidates += len(lines)
        for line in lines:
            captures = matcher.find(wanted.regex, line.body)
            if captures is not None:
                trial.matched += not literals
                trial.found.append(Found(text.evidence(line), captures, ()))
            elif literals and len(missed) < _NEAR:
                missed.append((line, text.evidence(line)))
        candidates += lines[:_KEEP]


class _Verify:
    """Asked by the scan, with a cleaned line."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def __call__(self, text: str) -> bool:
        find, expression = self._matcher.find, self._matcher.alternative.regex
        return any(find(expression, split(part).body) is not None for part in text.split("\r"))


def _all(text: Text) -> Iterator[Line]:
    first = text.line_at(0)
    yield first
    yield from text.after(first, _MOST_LINES - 1)


def _explained(expression: str, missed: list[tuple[Line, Evidence]]) -> Iterator[Missed]:
    beginnings = _beginnings(expression) if missed else []
    for line, evidence in missed:
        low, high = 0, len(beginnings)  # what a longer beginning finds, a shorter one finds as well
        while low < high:
            middle = (low + high) // 2
            if _finds(beginnings[middle][1], line.body):
                low = middle + 1
            else:
                high = middle
        end = beginnings[low - 1][0] if low else 0
        yield Missed(evidence, expression[:end], expression[end:])


def _beginnings(expression: str) -> list[tuple[int, regex.Pattern[str]]]:
    """Beginnings of an expression that are expressions themselves, the shortest first."""
    import regex

    found = []
    for end in range(1, len(expression), 1 + len(expression) // _BEGINNINGS):
        try:
            found.append((end, compile_expression(expression[:end])))
        except regex.error:
            continue
    return found


def _finds(compiled: regex.Pattern[str], body: str) -> bool:
    try:
        return search_within(compiled, body, 0.05) is not None
    except TimeoutError:
        return False


def _cost(matcher: Matcher, lines: list[Line]) -> float:
    if not lines:
        return 0.0
    bodies = [line.body for line in lines]
    best = float("inf")
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        for body in bodies:
            matcher.find(matcher.alternative.regex, body)
        best = min(best, time.perf_counter() - start)
    return best / len(bodies) * 1e6


def _compare(trial: Trial, sources: Sequence[Source], catalogue: Catalogue) -> None:
    """Name the patterns in force that match the same lines."""
    known: dict[tuple[str, int], list[str]] = {}
    if trial.found:
        probe = prepare(catalogue)
        for source in sources:
            if source.path == "-":
                continue
            for event in collect(source, probe, metrics="off").events:
                known.setdefault((event.evidence.path, event.evidence.line), []).append(event.pattern)
    trial.found = [
        Found(each.evidence, each.captures, tuple(known.get((each.evidence.path, each.evidence.line), ())))
        for each in trial.found
    ]
    trial.also = dict(Counter(id for each in trial.found for id in each.others).most_common())
