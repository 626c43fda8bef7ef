"""What came of trying an expression on logs, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.author.trial import Found, Missed, Trial
from diagnose.read.model import Evidence
from diagnose.report.clean import flat
from diagnose.report.layout import shorten
from diagnose.report.words import plural


def render(trial: Trial, *, width: int, limit: int) -> str:
    """Render a trial in `width` columns, with at most `limit` lines of each kind."""
    lines = [*_faults(trial), *_found(trial, width, limit), *_missed(trial, width, limit), *_cost(trial)]
    lines += [flat(each) for each in trial.problems]
    return "".join(f"{line}\n" for line in lines)


def _faults(trial: Trial) -> Iterator[str]:
    for fault in trial.faults:
        where = f" (character {fault.column})" if fault.column else ""
        hint = f"; {fault.hint}" if fault.hint else ""
        yield flat(f"fault     {fault.message}{where}{hint}")


def _line(evidence: Evidence, width: int) -> str:
    return shorten(flat(f"  {evidence.path}:{evidence.line}: {evidence.text}"), width - 2)


def _rest(whole: int, shown: Sequence[Found | Missed], limit: int) -> Iterator[str]:
    if whole > min(limit, len(shown)):
        yield f"  … {whole - min(limit, len(shown)):,} more"


def _found(trial: Trial, width: int, limit: int) -> Iterator[str]:
    if not trial.lines:
        return
    yield f"matched   {plural(trial.matched, 'line')} of {trial.lines:,}"
    for each in trial.found[:limit]:
        yield f"  {_line(each.evidence, width)}"
        if each.captures:
            yield "      " + flat(", ".join(f"{name}={value}" for name, value in each.captures.items()))
    yield from _rest(trial.matched, trial.found, limit)
    for id, count in trial.also.items():
        yield f"also      {flat(id)} matches {count:,} of these lines"


def _missed(trial: Trial, width: int, limit: int) -> Iterator[str]:
    number = trial.candidates - trial.matched if trial.literals else 0
    if not number:
        return
    yield f"missed    {plural(number, 'line')} with the literal, and no match"
    for each in trial.missed[:limit]:
        yield f"  {_line(each.evidence, width)}"
        yield flat(f"      fits up to {each.fits or 'nothing'}")
        yield flat(f"      fails at   {each.fails}")
    yield from _rest(number, trial.missed, limit)


def _cost(trial: Trial) -> Iterator[str]:
    if not trial.lines:
        return
    if not trial.literals:
        yield "literal   none of 4 bytes: the scan cannot look for it; fix more of the text, or name a `literal`"
        if trial.cut:
            yield "          only the first lines of each log were looked at"
        return
    rate = trial.candidates * 1e6 / trial.size if trial.size else 0.0
    yield flat(f"literal   {' | '.join(trial.literals)}")
    if trial.rarity is not None:
        each = trial.rarity
        judged = "too common: name a rarer `literal`" if each.common else "rare enough"
        yield f"          on {plural(each.lines, 'line')} of {each.total_logs} healthy logs, {judged}"
    if trial.candidates:
        yield f"cost      {trial.microseconds:.1f} µs a line that holds it, {rate:,.1f} such lines in a megabyte here"
