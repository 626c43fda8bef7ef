"""Tries a pattern's expressions on its own samples and on hostile texts. Too slow for every start."""

from __future__ import annotations

import re
from itertools import islice

from diagnose.catalogue.compile import Matcher, compile_alternative
from diagnose.catalogue.document import Table, Where, place_of
from diagnose.catalogue.examine import runaway
from diagnose.catalogue.form import Report
from diagnose.catalogue.model import Alternative, Pattern, Sample

_PREFIX_END = re.compile(r"[\]:)>|] ?")


def try_samples(report: Report, pattern: Pattern, table: Table) -> None:
    """Note expressions that run away, literals that are not required, and samples that no expression (or one) matches.

    What stands around a line (frames, neighbours, tracebacks) is not judged here.
    """
    texts = [sample.text for sample in pattern.samples_match]
    matchers = [compile_alternative(alternative) for alternative in pattern.match]
    for index, alternative in enumerate(pattern.match):
        _try_hostile(report, alternative, place_of(table, "match", index), texts)
        _try_literals(report, matchers[index], place_of(table, "match", index), texts)
    for index, sample in enumerate(pattern.samples_match):
        bodies = [body for line in sample.text.split("\n") for body in _bodies(line)]
        if not any(_meets(matcher, body, lenient=True) for body in bodies for matcher in matchers):
            where = place_of(table, "samples", "match", index, "text")
            report.add(where, "no alternative matches a line of this sample")
    for index, sample in enumerate(pattern.samples_no_match):
        if (number := _mistaken(matchers, sample)) is not None:
            where = place_of(table, "samples", "no_match", index, "text")
            report.add(where, f"alternative {number + 1} matches this look-alike", "tighten it, or use `not` or `near`")


def _try_hostile(report: Report, alternative: Alternative, where: Where, texts: list[str]) -> None:
    samples = [line for text in texts for line in text.split("\n") if line][:8]
    nears = [near.regex for near in alternative.near]
    for expression in (alternative.regex, alternative.frame, *alternative.unless, *nears):
        if expression and (start := runaway(expression, samples)) is not None:
            hint = f"a long line that begins with {start!r} takes too long; bound the repeats, as in {1, 60}"
            report.add(where, "an expression runs away", hint)


def _try_literals(report: Report, matcher: Matcher, where: Where, texts: list[str]) -> None:
    wanted = matcher.alternative
    if not wanted.regex:
        return
    for line in (line for text in texts for line in text.split("\n")):
        if matcher.find(wanted.regex, line) is None:
            continue
        folded = line.lower() if wanted.nocase else line
        if not any((text.lower() if wanted.nocase else text) in folded for text in wanted.literals):
            report.add(where, "a line that the expression matches has none of its literals", f"the line: {line[:80]}")


def _bodies(line: str) -> list[str]:
    """Return what may be the line's body: all of it, or what stands behind one of the first marks that end a prefix."""
    return [line, *(line[mark.end() :] for mark in islice(_PREFIX_END.finditer(line, 0, 200), 8))]


def _meets(matcher: Matcher, line: str, *, lenient: bool) -> bool:
    wanted = matcher.alternative
    names: list[str | None] = [None]
    if not wanted.regex:
        return any(name in line for name in wanted.exception)
    if lenient:
        # Only the first line of a message bears its type.
        names += wanted.exception or (["Exception"] if wanted.context == "exception" else [])
    return any(matcher.search(line, name) is not None for name in names)


def _mistaken(matchers: list[Matcher], sample: Sample) -> int | None:
    lines = sample.text.split("\n")
    if any(line.lstrip().startswith('File "') for line in lines):
        return None
    for number, matcher in enumerate(matchers):
        wanted = matcher.alternative
        alone = not wanted.near and not wanted.frame and wanted.context in ("any", "line")
        if alone and any(_meets(matcher, line, lenient=False) for line in lines):
            return number
    return None
