"""The report for a terminal: what an engineer on call reads in ten seconds."""

from __future__ import annotations

from diagnose.report import words
from diagnose.report.clean import relative, scrub
from diagnose.report.layout import cells, shorten, wrap
from diagnose.report.model import Context
from diagnose.report.page import Page
from diagnose.report.sections import also, attempts, causes, checks, fallout, fixes, inputs, limited, risks
from diagnose.report.words import place, plural, restart, roots, run_line, size, tone
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.read.model import Evidence
    from diagnose.reason.result import Diagnosis, Finding

_COLORS = {"failure": "red", "degraded": "yellow", "fine": "green"}
_LIMIT = 600  # characters of one explanation on the first screen


def render(diagnosis: Diagnosis, context: Context) -> str:
    """Render the diagnosis for a terminal of `context.width` columns."""
    clean = relative(scrub(diagnosis, one_line=True))
    if context.quiet:
        return _one_line(clean)
    page = Page(width=max(40, context.width), color=context.color)
    _headline(page, clean)
    if clean.verdict == "no_failure":
        _healthy(page, clean, context)
    else:
        _failure(page, clean, context)
    if context.verbose:
        from diagnose.report.verbose import everything

        everything(page, clean)
    return "\n".join(page.lines).rstrip() + "\n"


def _one_line(diagnosis: Diagnosis) -> str:
    found = roots(diagnosis)
    parts = [f"{diagnosis.verdict}: {' '.join(diagnosis.summary.split())}"]
    if found and found[0].evidence:
        parts.append(place(found[0].evidence[0]))
    parts += [finding.pattern for finding in found]
    return "  ".join(parts) + "\n"


def _headline(page: Page, diagnosis: Diagnosis) -> None:
    for line in wrap(diagnosis.summary, page.width):
        page.lines.append(page.style(line, bold=True, fg=_COLORS[tone(diagnosis)]))


def _healthy(page: Page, diagnosis: Diagnosis, context: Context) -> None:
    read = [item for item in diagnosis.inputs if item.bytes or not item.problems]
    lines, count = sum(item.lines for item in read), sum(item.bytes for item in read)
    amount = f"{plural(len(read), 'input')}, {plural(lines, 'line')}, {size(count)}"
    told = " · ".join(part for part in (amount, run_line(diagnosis.run)) if part)
    page.lines.append(f"  {shorten(told, page.width - 2)}")
    risks(page, diagnosis, context.verbose)
    inputs(page, diagnosis, context.verbose)


def _failure(page: Page, diagnosis: Diagnosis, context: Context) -> None:
    found = roots(diagnosis)
    if diagnosis.verdict == "ambiguous" and len(found) > 1:
        _candidates(page, found, context)
    elif found:
        _root(page, diagnosis, found[0], context)
    elif diagnosis.fallout:
        _quote(page, diagnosis.fallout[0].first)
    _last_words(page, diagnosis, {(e.path, e.line) for finding in found for e in finding.evidence[:4]})
    page.blank()
    fixes(page, diagnosis, context.verbose)
    fallout(page, diagnosis, context.verbose)
    attempts(page, diagnosis, context.verbose)
    risks(page, diagnosis, context.verbose)
    if diagnosis.action.restart != "unknown" or diagnosis.action.why or diagnosis.action.exclude_nodes:
        page.text("Restart", restart(diagnosis.action, words.fixes(diagnosis)))
    page.items("Missing", limited(list(diagnosis.missing), 4, context.verbose))
    inputs(page, diagnosis, context.verbose)
    run = run_line(diagnosis.run)
    if run:
        page.text("Run", run)
    page.blank()
    page.lines.append(page.style(_footer(diagnosis, found, context), dim=True))


def _root(page: Page, diagnosis: Diagnosis, root: Finding, context: Context) -> None:
    shown = root.evidence if diagnosis.verdict == "unknown" else root.evidence[:1]
    for number, evidence in enumerate(shown[:4]):
        _quote(page, evidence, lines=2 if number == 0 else 1)
    page.blank()
    if root.why:
        page.text("Why", root.why if context.verbose else shorten(root.why, _LIMIT))
    also(page, diagnosis, context.verbose)
    causes(page, root, context.verbose)
    checks(page, root, context.verbose)


def _candidates(page: Page, found: tuple[Finding, ...], context: Context) -> None:
    shown = found if context.verbose else found[:4]
    for number, finding in enumerate(shown, 1):
        page.blank()
        title = f"{number} of {len(found)}: {finding.summary or finding.title}"
        page.lines += [page.style(line, bold=True) for line in wrap(title, page.width)]
        if finding.evidence:
            _quote(page, finding.evidence[0], lines=2)
        if finding.why:
            page.text("Why", finding.why if context.verbose else shorten(finding.why, _LIMIT))
        page.text("Pattern", f"{finding.pattern} · confidence {finding.confidence}")


def _quote(page: Page, evidence: Evidence, lines: int = 1) -> None:
    where = place(evidence)
    room = page.width - cells(where) - 4
    if cells(evidence.text) <= room or room >= page.width * 3 // 4:
        first, *rest = _few(evidence.text, room, lines)
        page.lines.append(f"  {page.style(where, fg='cyan')}  {first}")
        page.lines += [" " * (page.width - room) + line for line in rest]
    else:
        page.lines.append(f"  {page.style(where, fg='cyan')}")
        page.lines += [f"    {line}" for line in _few(evidence.text, page.width - 4, lines)]


def _few(text: str, width: int, lines: int) -> list[str]:
    # Wrapping loses up to a word a line, so a text for several lines is cut a little shorter.
    spare = 0 if lines == 1 else 12 * lines
    return wrap(shorten(text, width * lines - spare if cells(text) > width else width), width)[: lines + 1]


def _last_words(page: Page, diagnosis: Diagnosis, shown: set[tuple[str, int]]) -> None:
    # The last words of a job matter from the end: what stands last is nearest to its death.
    words_left = [note for note in diagnosis.notes if (note.path, note.line) not in shown][-6:]
    if words_left:
        page.blank()
        page.lines.append(page.style("Last words", bold=True))
    for evidence in words_left:
        _quote(page, evidence)


def _footer(diagnosis: Diagnosis, found: tuple[Finding, ...], context: Context) -> str:
    known = [finding for finding in found if finding.pattern in context.titles]
    if known and len(found) > 1 and diagnosis.verdict == "ambiguous":
        return f"verdict {diagnosis.verdict} · diagnose explain {known[0].pattern}"
    if known:
        root = known[0]
        return f"confidence {root.confidence} · pattern {root.pattern} · diagnose explain {root.pattern}"
    if diagnosis.verdict == "unknown":
        return "verdict unknown · no pattern knows it; --verbose shows all that was seen"
    if found:
        return f"confidence {found[0].confidence} · pattern {found[0].pattern}"
    return f"verdict {diagnosis.verdict}"
