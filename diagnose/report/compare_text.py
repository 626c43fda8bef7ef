"""The comparison for a terminal: verdict, what was changed, what became of it, and what the catalogue knows of that."""

from __future__ import annotations

from diagnose.report.clean import scrub
from diagnose.report.compare_words import change_rows, difference_rows, ending, peak_rows, speed_rows
from diagnose.report.layout import brief, columns, shorten, wrap
from diagnose.report.model import Context
from diagnose.report.page import Page
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.compare.model import Comparison, Noticed

_COLORS = {"better": "green", "worse": "red", "mixed": "yellow", "no_difference": "green", "unknown": "yellow"}
_PEAKS, _SETTINGS, _FIXES = 4, 12, 2  # shown on the first screen


def render(comparison: Comparison, context: Context) -> str:
    """Render the comparison for a terminal of `context.width` columns."""
    clean = scrub(comparison, one_line=True)
    if context.quiet:
        ids = [each.finding.pattern for each in clean.findings]
        return "  ".join([f"{clean.verdict}: {clean.summary}", *ids]) + "\n"
    page = Page(width=max(40, context.width), color=context.color)
    for line in wrap(clean.summary, page.width):
        page.lines.append(page.style(line, bold=True, fg=_COLORS[clean.verdict]))
    names = ["", *(side.name for side in clean.runs)]
    _table(page, "Runs", [names, ["ended", *map(ending, clean.runs)], *speed_rows(clean)])
    most = None if context.verbose else _PEAKS
    _table(page, "Memory", [["peak", *names[1:]], *peak_rows(clean, most)])
    head = ["against " + names[1], "speed", "peak", "outcome", "verdict"]
    _table(page, "Change", [head, *change_rows(clean.changes)])
    _settings(page, clean, names, context.verbose)
    for each in clean.findings:
        _noticed(page, each, context.verbose)
    if clean.missing:
        page.blank()
        page.items("Missing", list(clean.missing))
    return "\n".join(page.lines).rstrip() + "\n"


def _table(page: Page, label: str, rows: list[list[str]]) -> None:
    if len(rows) > 1:
        page.blank()
        page.block(label, [shorten(line, page.room) if len(line) > page.room else line for line in columns(rows)])


def _settings(page: Page, comparison: Comparison, names: list[str], verbose: bool) -> None:
    for label, found in (
        ("Config", comparison.config),
        ("Env", comparison.environment),
        ("Versions", comparison.versions),
    ):
        rows = difference_rows(found)
        shown = rows if verbose else rows[:_SETTINGS]
        if len(rows) > len(shown):
            shown.append([f"… {len(rows) - len(shown)} more (--verbose)", *("" for _ in names[1:])])
        _table(page, label, [names, *shown])


def _noticed(page: Page, each: Noticed, verbose: bool) -> None:
    page.blank()
    finding = each.finding
    text = (finding.summary or finding.title).rstrip(".")
    page.text("Known", f"{text}. [{finding.pattern}; {each.before} to {each.after}]")
    page.text("", finding.why)
    fixes = [fix for fix in finding.fixes if fix.state in ("recommended", "unknown")]
    for number, fix in enumerate(fixes if verbose else fixes[:_FIXES], 1):
        page.text("", f"fix {number}: {fix.text if verbose else brief(fix.text)}")
        page.block("", [f"    {page.style(line, fg='cyan')}" for paste in fix.how for line in paste.splitlines()])
        if fix.cost is not None:
            about = "; ".join(part for part in (fix.cost.workload, fix.cost.source) if part and verbose)
            page.text(
                "", f"cost: {fix.cost.text if verbose else brief(fix.cost.text)}" + (f" ({about})" if about else "")
            )
