"""The comparison as Markdown, for an issue or a review."""

from __future__ import annotations

from diagnose.report.clean import scrub
from diagnose.report.compare_words import change_rows, difference_rows, ending, peak_rows, speed_rows
from diagnose.report.markdown import escape, table
from diagnose.report.model import Context
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.compare.model import Comparison, Noticed

_SETTINGS = 40  # rows of one table


def render(comparison: Comparison, context: Context) -> str:
    """Render the comparison as GitHub-flavoured Markdown."""
    clean = scrub(comparison, one_line=True)
    names = [side.name for side in clean.runs]
    parts = [f"## {escape(clean.summary)}", f"Verdict: **{clean.verdict.replace('_', ' ')}**"]
    parts.append(_table(["", *names], [["ended", *map(ending, clean.runs)], *speed_rows(clean)]))
    parts.append(_titled("Peak memory", _table(["", *names], peak_rows(clean, None if context.verbose else 16))))
    head = [f"against {names[0]}", "speed", "peak memory", "outcome", "verdict"]
    parts.append(_titled("Change", _table(head, change_rows(clean.changes))))
    for title, found in (
        ("Configuration", clean.config),
        ("Environment", clean.environment),
        ("Versions", clean.versions),
    ):
        rows = difference_rows(found)
        left = len(rows) - _SETTINGS
        shown = rows if context.verbose or left <= 0 else [*rows[:_SETTINGS], [f"{left} more", *("" for _ in names)]]
        parts.append(_titled(title, _table(["", *names], shown)))
    parts += [_noticed(each) for each in clean.findings]
    if clean.missing:
        parts.append("Missing: " + "; ".join(map(escape, clean.missing)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _titled(title: str, body: str) -> str:
    return f"### {title}\n\n{body}" if body else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    return table([escape(cell) for cell in head], rows) if rows else ""


def _noticed(each: Noticed) -> str:
    finding = each.finding
    lines = [
        f"### {escape((finding.summary or finding.title).rstrip('.'))}",
        "",
        f"`{finding.pattern}`, {escape(each.before)} to {escape(each.after)}. {escape(finding.why)}",
    ]
    for fix in finding.fixes:
        if fix.state in ("recommended", "unknown"):
            cost = f" ({escape(fix.cost.text)})" if fix.cost else ""
            lines.append(f"- {escape(fix.text)}{cost}")
    return "\n".join(lines)
