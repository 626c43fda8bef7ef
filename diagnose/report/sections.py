"""The blocks of the terminal report, each under its label."""

from __future__ import annotations

from diagnose.report import words
from diagnose.report.layout import brief, shorten, wrap
from diagnose.report.page import Page, beside, widest
from diagnose.report.words import place, ranks
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.result import Check, Diagnosis, Fallout, Finding, Fix

_ANSWERS = {"yes": "yes", "no": "no", "unknown": "?"}
_ANSWER_COLORS = {"yes": "green", "no": "yellow", "unknown": "blue"}
_ANSWER = 5  # columns
_LIMIT = 400  # characters of one explanation


def limited(texts: list[str], limit: int, verbose: bool) -> list[str]:
    """Give the first texts and a word on how many are left out."""
    if verbose or len(texts) <= limit:
        return texts
    return [*texts[:limit], f"… {len(texts) - limit} more (--verbose)"]


def causes(page: Page, finding: Finding, verbose: bool) -> None:
    """Show the causes that the checks confirmed or left possible."""
    confirmed = [cause for cause in finding.causes if cause.state == "confirmed"]
    possible = [cause for cause in finding.causes if cause.state == "possible"]
    named = [f"{cause.text}{_because(cause.why)}" for cause in confirmed]
    named += [f"perhaps: {cause.text}{_because(cause.why)}" for cause in possible]
    page.items("Cause" if len(named) == 1 else "Causes", limited(named, max(3, len(confirmed)), verbose))


def _because(why: str) -> str:
    return f" ({shorten(why, _LIMIT)})" if why else ""


def checks(page: Page, finding: Finding, verbose: bool) -> None:
    """Show the questions that were asked, their answers, and where each was seen."""
    known = sorted(finding.checks, key=_weight)
    shown = known if verbose else known[:5]
    room = page.room - _ANSWER
    # A path is not broken where the questions can make room for it.
    longest = max((len(word) for check in shown for word in _seen(check).split()), default=0)
    left = widest([check.question for check in shown], max(room * 2 // 5, min(room * 11 // 20, room - longest - 2)))
    lines: list[str] = []
    for check in shown:
        first, *rest = beside(check.question, _seen(check), room, left)
        answer = page.style(_ANSWERS[check.answer].ljust(_ANSWER), fg=_ANSWER_COLORS[check.answer])
        lines += [answer + first, *(" " * _ANSWER + line for line in rest)]
    if len(known) > len(shown):
        lines.append(f"{'':{_ANSWER}}… {len(known) - len(shown)} more (--verbose)")
    page.block("Checks", lines)


def _weight(check: Check) -> int:
    # What is so, and what was seen, tells more than what is not so.
    return {"yes": 0, "no": 1 if check.evidence else 2, "unknown": 3}[check.answer]


def _seen(check: Check) -> str:
    where = place(check.evidence[0]) if check.evidence else ""
    observed = shorten(check.observed, _LIMIT)
    if check.answer == "unknown" and observed and not observed.lower().startswith("look"):
        observed = f"look: {observed}"
    if where and where in observed:
        return observed
    return f"{observed} ({where})" if observed and where else observed or where


def fixes(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Show the fixes in the order to try them, then those in force already, and those that other settings forbid."""
    every = words.fixes(diagnosis)
    todo = [fix for fix in every if fix.state != "already_applied"]
    done = [fix for fix in every if fix.state == "already_applied"]
    shown = every if verbose else todo[:4] + done[:2]
    lines: list[str] = []
    for number, fix in enumerate(shown, 1):
        lines += _fix(page, number, fix, verbose)
    if len(every) > len(shown):
        lines.append(f"… {len(every) - len(shown)} more (--verbose)")
    if not verbose:
        lines += [line for fix in words.forbidden_fixes(diagnosis)[:2] for line in _forbidden(page, fix)]
    page.block("Fix", lines)


def _forbidden(page: Page, fix: Fix) -> list[str]:
    first, *rest = wrap(f"not: {brief(fix.text)}", page.room)
    why = wrap(shorten(fix.why, 2 * _LIMIT), page.room - _ANSWER)
    return [first, *(f"{'':{_ANSWER}}{line}" for line in [*(line.strip() for line in rest), *why])]


def _fix(page: Page, number: int, fix: Fix, verbose: bool) -> list[str]:
    head = f"{number}. "
    indent = " " * len(head)
    room = page.room - len(head)
    first, *rest = wrap(fix.text if verbose else brief(fix.text), room)
    lines = [head + first, *(indent + line for line in rest)]
    if fix.state == "already_applied":
        return lines + [indent + line for line in wrap(f"already so{_because(fix.why)}", room)]
    for paste in fix.how:
        # Never wrapped: a broken line cannot be pasted.
        lines += [f"{indent}    {page.style(line, fg='cyan')}" for line in paste.expandtabs(4).splitlines()]
    return lines + [indent + line for text in _remarks(fix, verbose) for line in wrap(text, room)]


def _remarks(fix: Fix, verbose: bool) -> list[str]:
    tell = (lambda text: text) if verbose else brief
    remarks = []
    if fix.state == "unknown" and fix.why:
        remarks.append(f"if: {shorten(fix.why, _LIMIT)}")
    if fix.cost is not None:
        about = "; ".join(part for part in (fix.cost.workload, fix.cost.source) if part and verbose)
        remarks.append(f"cost: {tell(fix.cost.text)}" + (f" ({about})" if about else ""))
    if fix.warning:
        remarks.append(f"mind: {tell(fix.warning)}")
    return remarks


def fallout(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Show what the root caused elsewhere, a group a line."""
    page.items("Fallout", limited([_group(group) for group in diagnosis.fallout], 4, verbose))


def _group(group: Fallout) -> str:
    who = ranks(group.ranks)
    times = "" if group.count <= max(1, len(group.ranks)) else f"{group.count:,} × "
    what = f"{times}{group.title}" + (f" on {who}" if who else "")
    why = f": {shorten(group.why, _LIMIT)}" if group.why else ""
    where = place(group.first)
    return f"{what}{why}" if where in why else f"{what}{why} ({where})"


def risks(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Show conflicts in the configuration that did not fail."""
    named = []
    for risk in diagnosis.risks:
        where = f", {place(risk.evidence[0])}" if risk.evidence else ""
        named.append(f"{risk.summary or risk.title} ({risk.pattern}{where})")
    page.items("Risks", limited(named, 3, verbose))


def also(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Show the other roots that the evidence allows, a line each."""
    named = []
    for finding in diagnosis.alternatives:
        where = f", {place(finding.evidence[0])}" if finding.evidence else ""
        named.append(f"{finding.summary or finding.title} ({finding.pattern}, confidence {finding.confidence}{where})")
    page.items("Or", limited(named, 3, verbose))


def attempts(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Name what ended the earlier attempts, and say where the same node failed again."""
    root = diagnosis.root_cause
    node = root.evidence[0].node if root is not None and root.evidence else None
    named = []
    for each in diagnosis.attempts:
        where = f" ({place(each.evidence)})" if each.evidence else ""
        again = f", on {node} too" if node and each.evidence and each.evidence.node == node else ""
        named.append(f"attempt {each.number}: {each.title}{again}{where}")
    page.items("Before", limited(named, 3, verbose))


def inputs(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Show what was wrong with the inputs."""
    named = [f"{item.path}: {problem}" for item in diagnosis.inputs for problem in item.problems]
    page.items("Inputs", limited(named, 3, verbose))
