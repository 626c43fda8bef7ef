"""The rest of the terminal report: everything that was seen, for `--verbose`."""

from __future__ import annotations

from diagnose.report.layout import columns, shorten, wrap
from diagnose.report.page import Page
from diagnose.report.words import place, plural, roots, ruled_out_fixes, size, speaker
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.result import ConfigValue, Diagnosis, Finding


def everything(page: Page, diagnosis: Diagnosis) -> None:
    """Add all that the first screen leaves out."""
    for finding in (*roots(diagnosis), *diagnosis.risks):
        _finding(page, finding)
    _fallout(page, diagnosis)
    _not_applicable(page, diagnosis)
    _table(page, "Versions", [(name, version) for name, version in sorted(diagnosis.run.versions.items())])
    _table(page, "Configuration seen", _rows(diagnosis.run.config))
    _table(page, "Environment seen", _rows(diagnosis.run.environment))
    _table(page, "Throughput", _numbers(diagnosis.run.throughput))
    _table(page, "Memory", _numbers(diagnosis.run.memory))
    _inputs(page, diagnosis)


def _heading(page: Page, text: str) -> None:
    page.blank()
    page.lines.append(page.style(text, bold=True))


def _finding(page: Page, finding: Finding) -> None:
    _heading(page, f"Evidence for {finding.pattern} ({finding.category}, {finding.role}, {finding.confidence})")
    for evidence in finding.evidence:
        who = speaker(evidence)
        page.lines.append(f"  {page.style(place(evidence), fg='cyan')}" + (f"  {who}" if who else ""))
        page.lines += [f"    {line}" for line in wrap(evidence.text, page.width - 4)]
    for name, value in finding.captures.items():
        page.lines += [f"  {line}" for line in wrap(f"{name} = {value}", page.width - 2)]
    for check in finding.checks:
        for evidence in check.evidence:
            page.lines.append(f"  {shorten(f'{check.id}: {place(evidence)} {evidence.text}', page.width - 2)}")
    ruled_out = [cause for cause in finding.causes if cause.state == "ruled_out"]
    for cause in ruled_out:
        page.lines += [f"  {line}" for line in wrap(f"ruled out: {cause.text} ({cause.why})", page.width - 2)]
    for reference in finding.references:
        page.lines.append(f"  see {reference}")


def _fallout(page: Page, diagnosis: Diagnosis) -> None:
    if not diagnosis.fallout:
        return
    _heading(page, "First lines of the fallout")
    for group in diagnosis.fallout:
        why = f"{group.pattern}, explained by {group.explained_by or 'nothing'}"
        page.lines.append(f"  {page.style(place(group.first), fg='cyan')}  {why}")
        page.lines += [f"    {line}" for line in wrap(group.first.text, page.width - 4)]


def _not_applicable(page: Page, diagnosis: Diagnosis) -> None:
    fixes = ruled_out_fixes(diagnosis)
    if not fixes:
        return
    _heading(page, "Fixes that do not apply")
    for fix in fixes:
        page.lines += [f"  {line}" for line in wrap(f"{fix.text} ({fix.why})" if fix.why else fix.text, page.width - 2)]


def _rows(values: dict[str, ConfigValue]) -> list[tuple[str, ...]]:
    return [(key, " ".join(str(item.value).split()), item.source) for key, item in sorted(values.items())]


def _table(page: Page, heading: str, rows: list[tuple[str, ...]]) -> None:
    if rows:
        _heading(page, heading)
        page.lines += [f"  {line}" for line in columns(rows)]


def _numbers(values: dict[str, float]) -> list[tuple[str, ...]]:
    return [(key, f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}") for key, value in values.items()]


def _inputs(page: Page, diagnosis: Diagnosis) -> None:
    if not diagnosis.inputs:
        return
    _heading(page, "Inputs")
    rows = []
    for item in diagnosis.inputs:
        who = [] if item.rank is None else [f"rank {item.rank}"]
        who += [item.node] if item.node else []
        rows.append((item.path, ", ".join([plural(item.lines, "line"), size(item.bytes), *who])))
    page.lines += [f"  {line}" for line in columns(rows)]
