"""Looks over pattern files as a reviewer would: errors that make a file wrong, and warnings that make it weak."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from diagnose.author import shape
from diagnose.author.healthy import COMMON, alarms, rarities_of
from diagnose.author.usage import matcher, unused
from diagnose.catalogue.document import Table, Where, place_of
from diagnose.catalogue.loader import Checked, examine_files
from diagnose.catalogue.model import Pattern, Trouble
from diagnose.classes import dataclass


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to say about a pattern file."""

    check: str  # name of the check that says it
    grave: bool  # True: an error; False: a warning
    trouble: Trouble


_Told = Iterator[tuple[bool, Where, str, str]]  # grave, place, message, hint


def review(paths: Sequence[Path], *, skip: Collection[str] = (), layers: bool = True) -> list[Remark]:
    """Check pattern files with every check but those in `skip` (see CHECKS).

    Arguments: files or folders; what belongs to no layer is checked as if it were laid over them. What `load` refuses
    is always an error ("format"). Returns remarks by path and line.
    """
    checked = examine_files(paths, layers=layers, samples="expressions" not in skip)
    remarks = [Remark("format", True, trouble) for trouble in checked.troubles]
    for name, check in CHECKS.items():
        if name not in skip and check is not None:
            remarks += [
                Remark(name, grave, Trouble(*where, message, hint)) for grave, where, message, hint in check(checked)
            ]
    return sorted(remarks, key=lambda each: (each.trouble.path, each.trouble.line, each.trouble.column, each.check))


def _patterns(checked: Checked) -> list[tuple[Pattern, Table]]:
    return [(checked.catalogue.patterns[id], table) for id, table in checked.tables.items()]


def _blanks(checked: Checked) -> _Told:
    for _, table in _patterns(checked):
        for where in shape.blanks(table):
            yield True, where, f"this still waits for you: it begins with {shape.BLANK}", ""


def _references(checked: Checked) -> _Told:
    for pattern, table in _patterns(checked):
        if shape.unsupported(pattern):
            hint = "name the source file and symbol, or the documentation page"
            yield False, place_of(table, "references"), "a stable pattern names no source", hint


def _order(checked: Checked) -> _Told:
    for _, table in _patterns(checked):
        if (found := shape.disorder(table, checked.shared_fixes)) is not None:
            where, name, later = found
            yield False, where, f"the shared fixes put `{name}` before `{later}`", "keep their order, cheapest first"


def _alternatives(checked: Checked) -> _Told:
    match = matcher(checked.catalogue)
    for pattern, table in _patterns(checked):
        for number in unused(pattern, match):
            message = f"no sample is recognised by alternative {number + 1}"
            yield False, place_of(table, "match", number), message, "add the line that it is for to samples.match"


def _literals(checked: Checked) -> _Told:
    wordings = [each for each in checked.catalogue.wordings if each.pattern in checked.tables]
    for (id, number), rarity in rarities_of(wordings).items():
        if rarity.common:
            texts = checked.catalogue.patterns[id].match[number].literals
            message = (
                f"the literals of alternative {number + 1} are common in healthy logs: {rarity.lines} lines "
                f"in {rarity.logs} of {rarity.total_logs}, {rarity.rate:.0f} in a megabyte ({COMMON:.0f} are fine): "
                f"{', '.join(map(repr, texts[:4]))}"
            )
            yield False, place_of(checked.tables[id], "match", number), message, "name a rarer one with `literal`"


def _healthy(checked: Checked) -> _Told:
    patterns = [pattern for pattern, _ in _patterns(checked)]
    for alarm in alarms(checked.catalogue, patterns):
        evidence, event = alarm.event.evidence, alarm.event
        where = place_of(checked.tables[event.pattern], "match", event.alternative)
        line = f"{Path(evidence.path).name}:{evidence.line}: {evidence.text[:100]}"
        if alarm.decided:
            yield (
                True,
                where,
                f"`{event.pattern}` calls a healthy log failed: {line}",
                "tighten it, or use `not` or `near`",
            )
        else:
            yield False, where, f"`{event.pattern}` matches a line of a healthy log, which recovered: {line}", ""


# None: done by `examine_files`, while the files are read.
CHECKS: Mapping[str, Callable[[Checked], _Told] | None] = MappingProxyType(
    {
        "expressions": None,
        "blanks": _blanks,
        "references": _references,
        "order": _order,
        "alternatives": _alternatives,
        "literals": _literals,
        "healthy": _healthy,
    }
)
