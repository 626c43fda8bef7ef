"""The manual page of one pattern, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.catalogue.model import Alternative, FixRule, Pattern, Sample
from diagnose.report.clean import scrub
from diagnose.report.layout import wrap
from diagnose.report.model import Context
from diagnose.report.page import Page

_INDENT = "  "


def render(pattern: Pattern, context: Context) -> str:
    """Render all that the pattern file says, for a terminal of `context.width` columns."""
    clean = scrub(pattern, one_line=True)
    page = Page(width=max(40, context.width), color=context.color)
    page.lines.append(page.style(clean.title, bold=True))
    page.lines.append(f"{clean.id} · {clean.category} · {clean.role} · {clean.status}")
    if clean.aliases:
        page.lines.append(f"also known as {', '.join(clean.aliases)}")
    if clean.about:
        page.blank()
        _paragraphs(page, clean.about)
    _wordings(page, clean.match)
    _sections(page, clean)
    _relations(page, clean, context)
    _list(page, "References", clean.references)
    _samples(page, clean.samples_match, clean.samples_no_match)
    if clean.origin:
        page.blank()
        page.lines.append(page.style(f"file: {clean.origin}", dim=True))
    return "\n".join(page.lines).rstrip() + "\n"


def _heading(page: Page, text: str) -> None:
    page.blank()
    page.lines.append(page.style(text, bold=True))


def _add(page: Page, text: str, first: str = _INDENT) -> None:
    head, *rest = wrap(text, page.width - len(first))
    page.lines += [first + head, *(" " * len(first) + line for line in rest)]


def _list(page: Page, heading: str, texts: Sequence[str]) -> None:
    if texts:
        _heading(page, heading)
        for text in texts:
            _add(page, text)


def _paragraphs(page: Page, text: str) -> None:
    for paragraph in text.strip().split("\n\n"):
        page.blank()
        page.lines += wrap(paragraph, page.width)


def _wordings(page: Page, alternatives: Sequence[Alternative]) -> None:
    _heading(page, "What it looks like")
    for alternative in alternatives:
        kind = f"{' or '.join(alternative.exception)}: " if alternative.exception else ""
        page.lines.append(f"{_INDENT}{kind}{alternative.regex or alternative.frame}")
        notes = [f"printed by {alternative.versions}"] if alternative.versions else []
        notes += [f"unless the line says {text}" for text in alternative.unless]
        notes += [
            f"{'not ' if near.absent else ''}within {near.within} lines ({near.where}): {near.regex}"
            for near in alternative.near
        ]
        notes += [alternative.note] if alternative.note else []
        for note in notes:
            _add(page, note, _INDENT * 3)


def _sections(page: Page, pattern: Pattern) -> None:
    if pattern.checks:
        _heading(page, "Checks")
        for check in pattern.checks:
            _add(page, check.question)
            _add(page, check.look, _INDENT * 3) if check.look else None
    _list(page, "Causes", [cause.text for cause in pattern.causes])
    if pattern.fixes:
        _heading(page, "Fixes, in the order to try them")
        for number, fix in enumerate(pattern.fixes, 1):
            _fix(page, number, fix)


def _fix(page: Page, number: int, fix: FixRule) -> None:
    head = f"{_INDENT}{number}. "
    _add(page, fix.text, head)
    indent = " " * len(head)
    for how in fix.how:
        _add(page, f"{how.target}{f' ({how.holds})' if how.holds else ''}:", indent)
        lines = [line for paste in how.lines for line in paste.expandtabs(4).splitlines()]
        page.lines += [f"{indent}    {page.style(line, fg='cyan')}" for line in lines]
    for label, text in (("when", fix.when), ("already so when", fix.unless), ("not when", fix.avoid)):
        if text:
            _add(page, f"{label}: {text}", indent)
    if fix.avoid_why:
        _add(page, fix.avoid_why, indent)
    if fix.warning:
        _add(page, f"mind: {fix.warning}", indent)
    if fix.cost is not None:
        about = "; ".join(part for part in (fix.cost.workload, fix.cost.source) if part)
        _add(page, f"cost: {fix.cost.text}{f' ({about})' if about else ''}", indent)
    for reference in fix.references:
        _add(page, f"see {reference}", indent)


def _relations(page: Page, pattern: Pattern, context: Context) -> None:
    def named(ids: Sequence[str]) -> str:
        return ", ".join(f"{id} ({context.titles[id]})" if id in context.titles else id for id in ids)

    relations = (
        ("can cause", pattern.explains),
        ("proves", pattern.confirms),
        ("is taken back by", pattern.cancelled_by),
    )
    _list(page, "Relations", [f"{word}: {named(ids)}" for word, ids in relations if ids])


def _samples(page: Page, match: Sequence[Sample], no_match: Sequence[Sample]) -> None:
    if match:
        _heading(page, "Sample")
        page.lines += [_INDENT + line for line in match[0].text.expandtabs(4).splitlines()]
    if no_match:
        _heading(page, "Looks alike, and is not")
        for sample in no_match:
            page.lines += [_INDENT + line for line in sample.text.expandtabs(4).splitlines()]
            _add(page, sample.why, _INDENT * 3)
