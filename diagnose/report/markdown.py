"""The report as Markdown, for an issue, a pull request or a chat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from diagnose.report import words
from diagnose.report.clean import relative, scrub
from diagnose.report.model import Context
from diagnose.report.words import place, ranks, speaker
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.read.model import Evidence
    from diagnose.reason.result import Check, ConfigValue, Diagnosis, Fallout, Finding, Fix

_LIMIT = 60_000  # bytes; issue trackers refuse bodies a little above 64 KB
_LINE = 2_000  # characters of one quoted line
_CELL = 300  # characters of one table cell
_ROWS = 200  # rows of one table
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_MENTION = re.compile(r"(?<![\w.])@(?=\w)")
_ANSWERS = {"yes": "yes", "no": "no", "unknown": "?"}


def render(diagnosis: Diagnosis, context: Context) -> str:
    """Render the diagnosis as Markdown of at most 60 KB; what does not fit is named."""
    clean = relative(scrub(diagnosis, one_line=True))
    if context.quiet:
        return f"**{clean.verdict}**: {escape(clean.summary)}\n"
    parts = [*_first(clean), *_details(clean), _footer(clean, context)]
    return _within(parts, _LIMIT)


def escape(text: str) -> str:
    """Give `text` on one line with nothing left that Markdown, HTML or an issue tracker would act on."""
    return _MENTION.sub("@\u200b", _SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("\\<", "&lt;"))


def fence(lines: Iterable[str], language: str = "text") -> str:
    """Quote lines in a fence that is longer than any run of backticks in them."""
    body = "\n".join(line[:_LINE] + (" …" if len(line) > _LINE else "") for line in lines)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    bar = "`" * max(3, longest + 1)
    return f"{bar}{language}\n{body}\n{bar}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Make a table of escaped cells."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(escape(cell[:_CELL]) for cell in row)} |" for row in rows[:_ROWS]]
    if len(rows) > _ROWS:
        lines.append(f"| … {len(rows) - _ROWS} more |" + " |" * (len(head) - 1))
    return "\n".join(lines)


def _within(parts: Iterable[str], limit: int) -> str:
    """Join the parts that fit; the order is the order of importance."""
    note = "_Some parts were left out for length._"
    left = limit - len(note) - 2
    kept: list[str] = []
    dropped = False
    for part in filter(None, parts):
        cost = len(part.encode()) + 2
        if cost > left:
            dropped = True
            continue
        left -= cost
        kept.append(part)
    return "\n\n".join(kept + [note] * dropped) + "\n"


def _first(diagnosis: Diagnosis) -> list[str]:
    found = words.roots(diagnosis)
    parts = [f"### {escape(diagnosis.summary[:_LINE])}"]
    for number, finding in enumerate(found, 1):
        if len(found) > 1:
            parts.append(f"**{number} of {len(found)}: {escape(finding.summary or finding.title)}**")
        parts += _finding(finding)
    if not found and diagnosis.fallout:
        parts.append(_quote([diagnosis.fallout[0].first]))
    if diagnosis.notes:
        parts += ["**Last words**", _quote(diagnosis.notes[-10:])]
    return [*parts, _fixes(words.fixes(diagnosis)), _fallout(diagnosis.fallout), _action(diagnosis), _risks(diagnosis)]


def _finding(finding: Finding) -> list[str]:
    parts = [_quote(finding.evidence[:1])] if finding.evidence else []
    if finding.why:
        parts.append(f"**Why:** {escape(finding.why[:_LINE])}")
    causes = [cause for cause in finding.causes if cause.state != "ruled_out"]
    if causes:
        parts.append("\n".join(f"- {cause.state}: {escape(_because(cause.text, cause.why))}" for cause in causes))
    if finding.checks:
        rows = [[_ANSWERS[check.answer], check.question, *_seen(check)] for check in finding.checks]
        parts.append(table(("", "Check", "Seen", "Where"), rows))
    return parts


def _seen(check: Check) -> tuple[str, str]:
    return check.observed, place(check.evidence[0]) if check.evidence else ""


def _because(text: str, why: str) -> str:
    return f"{text} ({why})" if why else text


def _quote(evidence: Sequence[Evidence]) -> str:
    return fence(f"{place(item)}  {item.text}" for item in evidence)


def _fixes(fixes: Sequence[Fix]) -> str:
    return "\n\n".join(["**Fix**", *(_fix(number, fix) for number, fix in enumerate(fixes, 1))]) if fixes else ""


def _fix(number: int, fix: Fix) -> str:
    if fix.state == "already_applied":
        return f"{number}. {escape(_because(fix.text, f'already so: {fix.why}' if fix.why else 'already so'))}"
    blocks = [escape(fix.text)]
    if fix.how:
        blocks.append(fence([line for paste in fix.how for line in paste.splitlines()], ""))
    if fix.state == "unknown" and fix.why:
        blocks.append(f"If: {escape(fix.why)}")
    if fix.cost is not None:
        about = "; ".join(part for part in (fix.cost.workload, fix.cost.source) if part)
        blocks.append(f"Cost: {escape(_because(fix.cost.text, about))}")
    if fix.warning:
        blocks.append(f"Mind: {escape(fix.warning)}")
    head = f"{number}. "
    return head + re.sub(r"\n(?!\n)", "\n" + " " * len(head), "\n\n".join(blocks))


def _fallout(groups: Sequence[Fallout]) -> str:
    rows = [[str(group.count), group.title, ranks(group.ranks), group.why, place(group.first)] for group in groups]
    return f"**Fallout**\n\n{table(('Lines', 'What', 'Ranks', 'Why', 'First'), rows)}" if rows else ""


def _action(diagnosis: Diagnosis) -> str:
    lines = []
    if diagnosis.action.restart != "unknown" or diagnosis.action.why:
        lines.append(f"**Restart** {escape(words.restart(diagnosis.action, words.fixes(diagnosis)))}")
    if diagnosis.missing:
        lines += ["**Missing**", "\n".join(f"- {escape(item)}" for item in diagnosis.missing[:_ROWS])]
    return "\n\n".join(lines)


def _risks(diagnosis: Diagnosis) -> str:
    rows = [f"- {escape(_because(risk.summary or risk.title, risk.pattern))}" for risk in diagnosis.risks]
    return "\n\n".join(["**Risks**", "\n".join(rows)]) if rows else ""


def _details(diagnosis: Diagnosis) -> list[str]:
    found = words.roots(diagnosis)
    evidence = [f"{place(e)}  {speaker(e)}  {e.text}" for finding in found for e in finding.evidence[:50]]
    captures = [(name, value) for finding in found for name, value in finding.captures.items()]
    ruled_out = [(c.text, c.why) for finding in found for c in finding.causes if c.state == "ruled_out"]
    not_for_this = [(fix.text, fix.why) for fix in words.ruled_out_fixes(diagnosis)]
    inputs = [(i.path, str(i.lines), words.size(i.bytes), " ".join(i.problems)) for i in diagnosis.inputs]
    references = sorted({reference for finding in found for reference in finding.references})
    return [
        _folded("All evidence", fence(evidence) if evidence else ""),
        _folded("Captured values", table(("Name", "Value"), captures) if captures else ""),
        _folded("Causes ruled out", table(("Cause", "Why"), ruled_out) if ruled_out else ""),
        _folded("Fixes that do not apply", table(("Fix", "Why"), not_for_this) if not_for_this else ""),
        _folded("References", "\n".join(f"- {escape(reference)}" for reference in references)),
        _folded("Configuration seen", _values(diagnosis.run.config)),
        _folded("Environment seen", _values(diagnosis.run.environment)),
        _folded("Inputs", table(("Path", "Lines", "Size", "Problems"), inputs) if inputs else ""),
    ]


def _values(values: dict[str, ConfigValue]) -> str:
    rows = [(key, str(item.value), item.source) for key, item in sorted(values.items())]
    return table(("Key", "Value", "Seen at"), rows) if rows else ""


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""


def _footer(diagnosis: Diagnosis, context: Context) -> str:
    found = words.roots(diagnosis)
    named = [f"confidence {found[0].confidence} · pattern {escape(found[0].pattern)}"] if found else []
    run = words.run_line(diagnosis.run)
    parts = [f"verdict {diagnosis.verdict}", *named, *([escape(run)] if run else []), f"diagnose {context.version}"]
    return f"<sub>{' · '.join(parts)}</sub>"
