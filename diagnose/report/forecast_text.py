"""The forecast for a terminal: what would fail, the error it would print, where it is set, and the way out."""

from __future__ import annotations

from diagnose.report.clean import scrub
from diagnose.report.layout import brief, cells, shorten, wrap
from diagnose.report.model import Context
from diagnose.report.page import Page
from diagnose.report.words import place
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.forecast import Forecast, Foretold
    from diagnose.reason.result import Fix

_COLORS = {"would_fail": "red", "would_fail_later": "red", "at_risk": "yellow", "no_conflict": "green"}
_FRAMEWORKS = {
    "megatron-core": "Megatron Core",
    "megatron-lm": "Megatron-LM",
    "megatron-bridge": "Megatron Bridge",
    "nemo": "NeMo",
}
_COMMAND = "command-line"  # the whole of it stands behind every finding; the finding names the settings
_FIXES = 3  # shown of each finding on the first screen


def render(forecast: Forecast, context: Context) -> str:
    """Render the forecast for a terminal of `context.width` columns."""
    clean = scrub(forecast, one_line=True)
    if context.quiet:
        ids = [each.finding.pattern for each in (*clean.fails, *clean.later, *clean.risks)]
        return "  ".join([f"{clean.verdict}: {clean.summary}", *ids]) + "\n"
    page = Page(width=max(40, context.width), color=context.color)
    for line in wrap(clean.summary, page.width):
        page.lines.append(page.style(line, bold=True, fg=_COLORS[clean.verdict]))
    page.lines += [f"  {line}" for line in wrap(_judged(clean), page.width - 2)]
    for label, found in (("Fails", clean.fails), ("Later", clean.later), ("Depends", clean.depends)):
        for number, each in enumerate(found, 1):
            _one(page, f"{label} {number}" if len(found) > 1 else label, each, context)
    for number, each in enumerate(clean.risks, 1):
        _one(page, f"Risk {number}" if len(clean.risks) > 1 else "Risk", each, context)
    return "\n".join(page.lines).rstrip() + "\n"


def _judged(forecast: Forecast) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in forecast.versions.items())
    against = f"tried against {forecast.tried}; --framework-version narrows it" if forecast.tried else versions
    return f"as {_FRAMEWORKS[forecast.framework]} would construct it, {against}"


def _one(page: Page, label: str, each: Foretold, context: Context) -> None:
    page.blank()
    finding = each.finding
    title = finding.summary or finding.title
    page.text(label, f"{title.rstrip('.')}{f' ({each.releases})' if each.releases else ''}. [{finding.pattern}]")
    for evidence in [each for each in finding.evidence if each.path != _COMMAND][: None if context.verbose else 2]:
        where = place(evidence)
        text = shorten(evidence.text, max(20, page.room - cells(where) - 2))
        page.block("", [f"{page.style(where, fg='cyan')}  {text}"])
    page.text("", finding.why)
    for printed in each.printed:
        where = f"{printed.releases}: " if printed.releases and len(each.printed) > 1 else ""
        error = f"{printed.exception}: {printed.message}" if printed.exception else printed.message
        if error:
            page.text("", f"prints  {where}{error}")
    shown = [fix for fix in finding.fixes if fix.state in ("recommended", "unknown")]
    for number, fix in enumerate(shown if context.verbose else shown[:_FIXES], 1):
        _fix(page, number, fix, context.verbose)
    if len(shown) > _FIXES and not context.verbose:
        left = len(shown) - _FIXES
        page.block("", [f"… {left} more {'fix' if left == 1 else 'fixes'} (--verbose)"])


def _fix(page: Page, number: int, fix: Fix, verbose: bool) -> None:
    tell = (lambda text: text) if verbose else brief
    first, *rest = wrap(f"fix {number}: {tell(fix.text)}", page.room)
    page.block("", [first, *(f"  {line}" for line in rest)])
    page.block("", [f"    {page.style(line, fg='cyan')}" for paste in fix.how for line in paste.splitlines()])
    if fix.cost is not None:
        about = f" ({'; '.join(part for part in (fix.cost.workload, fix.cost.source) if part)})" if verbose else ""
        page.text("", f"cost: {tell(fix.cost.text)}{about}")
    if fix.warning:
        page.text("", f"mind: {tell(fix.warning)}")
