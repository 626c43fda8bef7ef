"""Puts a diagnosis into the few words that a chat, a pager or a mail can hold."""

from __future__ import annotations

from diagnose.report import words
from diagnose.report.clean import flat, relative, safe, scrub
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.model import Event
    from diagnose.reason.result import Diagnosis

_TITLE = 200  # characters
_QUOTE = 400
_FIXES = 3
_PATHS = 4


def title(diagnosis: Diagnosis, event: Event) -> str:
    """Name the job and what happened to it, on one line."""
    who = " ".join(part for part in (f"[{event.cluster}]" if event.cluster else "", _job(event)) if part)
    return cut(flat(f"{who}: {diagnosis.summary}" if who else diagnosis.summary), _TITLE)


def body(diagnosis: Diagnosis, event: Event, before: int = 0) -> str:
    """Say in plain text what failed, why, and what to do.

    `before` is how often the failure came since the last message, without this time.
    """
    clean = relative(scrub(diagnosis, one_line=True))
    parts = [clean.summary]
    found = words.roots(clean)
    if found and found[0].evidence:
        first = found[0].evidence[0]
        parts.append(f"{words.place(first)}\n  {cut(first.text, _QUOTE)}")
    if found and found[0].why:
        parts.append(f"Why: {cut(found[0].why, _QUOTE)}")
    if clean.verdict == "ambiguous":
        parts.append("Or: " + "; ".join(cut(each.summary or each.title, 160) for each in found[1:3]))
    fixes = [fix for fix in words.fixes(clean) if fix.state in ("recommended", "unknown")]
    for number, fix in enumerate(fixes[:_FIXES], 1):
        parts.append("\n".join([f"{number}. {cut(fix.text, _QUOTE)}", *(f"    {line}" for line in fix.how[:6])]))
    if clean.action.restart != "unknown" or clean.action.why:
        parts.append(f"Restart: {words.restart(clean.action, words.fixes(clean))}")
    parts.append(_about(event))
    if before:
        parts.append(f"Seen {words.plural(before, 'time')} more since the last message.")
    return "\n\n".join(part for part in parts if part)


def cut(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, and say so."""
    return text if len(text) <= limit else text[: max(0, limit - 2)].rstrip() + " …"


def _job(event: Event) -> str:
    number = f"job {event.job_id}" if event.job_id else "job" if event.name else ""
    return " ".join(part for part in (number, event.name, f"({event.state})" if event.state else "") if part)


def _about(event: Event) -> str:
    named = [("Job", _job(event)), ("User", event.user), ("Cluster", event.cluster), ("Ended", event.time)]
    lines = [f"{label}: {flat(value)}" for label, value in named if value]
    lines += [f"Log: {safe(path)}" for path in event.paths[:_PATHS]]
    if len(event.paths) > _PATHS:
        lines.append(f"and {len(event.paths) - _PATHS} more logs")
    return "\n".join(lines)
