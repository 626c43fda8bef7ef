"""The manual pages of all patterns as Markdown: one page a family, and an index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from diagnose.catalogue.model import CATEGORIES, Alternative, FixRule, Pattern, Sample
from diagnose.report.clean import safe, scrub

INDEX = "index.md"
_NOTE = "<!-- Written by `diagnose patterns docs` from the pattern files. Change those, not this page. -->"
_SPECIAL = re.compile(r"[\\`*<\[\]]|(?<![^\W_])_|_(?![^\W_])|^#|~(?=~)", re.MULTILINE)
_TICKS = re.compile(r"`+")


def pages(patterns: Sequence[Pattern]) -> dict[str, str]:
    """Render the pages of patterns, by file name: an index, and a page for each family (the folder of the files)."""
    ordered = sorted((scrub(each) for each in patterns), key=lambda each: each.id)
    families: dict[str, list[Pattern]] = {}
    for each in ordered:
        families.setdefault(each.family or "other", []).append(each)
    homes = {each.id: f"{family}.md" for family, members in families.items() for each in members}
    found = {f"{family}.md": _family(family, members, homes) for family, members in sorted(families.items())}
    return {INDEX: _index(ordered, families, homes), **found}


def _index(ordered: Sequence[Pattern], families: Mapping[str, Sequence[Pattern]], homes: Mapping[str, str]) -> str:
    lines = [_NOTE, "", "# The failures that are known", "", f"{len(ordered)} patterns. By family:", ""]
    lines += [f"- [{family}]({family}.md) ({len(members)})" for family, members in sorted(families.items())]
    for category in CATEGORIES:
        rows = [each for each in ordered if each.category == category]
        if rows:
            lines += ["", f"## {category}", ""]
            lines += [f"- [{each.id}]({homes[each.id]}#{each.id}) {_text(each.title)}{_role(each)}" for each in rows]
    return "\n".join(lines) + "\n"


def _role(pattern: Pattern) -> str:
    return "" if pattern.role == "root" else f" ({pattern.role})"


def _family(family: str, members: Sequence[Pattern], homes: Mapping[str, str]) -> str:
    lines = [_NOTE, "", f"# {family}", ""]
    lines += [f"- [{each.id}](#{each.id}) {_text(each.title)}{_role(each)}" for each in members]
    for each in members:
        lines += ["", *_pattern(each, homes)]
    return "\n".join(lines) + "\n"


def _pattern(pattern: Pattern, homes: Mapping[str, str]) -> Iterator[str]:
    yield f"## {pattern.id}"
    yield ""
    yield f"**{_text(pattern.title)}**"
    yield ""
    yield " · ".join([pattern.category, pattern.role, pattern.status])
    if pattern.aliases:
        yield f"· also known as {', '.join(pattern.aliases)}"
    if pattern.about.strip():
        yield ""
        yield from (_text(line) for line in pattern.about.strip().splitlines())
    yield from _wordings(pattern.match)
    yield from _samples(pattern.samples_match, pattern.samples_no_match)
    yield from _list("Checks", [_and(each.question, each.look) for each in pattern.checks])
    yield from _list("Causes", [_text(each.text) for each in pattern.causes])
    if pattern.fixes:
        yield from _heading("Fixes, in the order to try them")
        for number, fix in enumerate(pattern.fixes, 1):
            yield from _fix(number, fix)
    yield from _relations(pattern, homes)
    yield from _list("References", [_link(each) for each in pattern.references])


def _heading(text: str) -> Iterator[str]:
    yield ""
    yield f"### {text}"
    yield ""


def _list(heading: str, entries: Sequence[str]) -> Iterator[str]:
    if entries:
        yield from _heading(heading)
        yield from (f"- {each}" for each in entries)


def _text(text: str) -> str:
    """Give a text that Markdown shows as it is: no tags, no emphasis, no headings."""
    return _SPECIAL.sub(r"\\\g<0>", safe(text))


def _flat(text: str) -> str:
    return _text(" ".join(text.split()))


def _and(text: str, more: str) -> str:
    return f"{_flat(text)} {_flat(more)}".rstrip()


def _code(text: str) -> str:
    ticks = "`" * (1 + max((len(found[0]) for found in _TICKS.finditer(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _fenced(text: str, indent: str = "") -> Iterator[str]:
    fence = "`" * max(3, 1 + max((len(found[0]) for found in _TICKS.finditer(text)), default=0))
    yield f"{indent}{fence}text"
    yield from (f"{indent}{line}".rstrip() for line in text.expandtabs(4).splitlines())
    yield f"{indent}{fence}"


def _link(text: str) -> str:
    return f"<{text}>" if re.fullmatch(r"https?://[^\s<>]+", text) else _flat(text)


def _wordings(alternatives: Sequence[Alternative]) -> Iterator[str]:
    yield from _heading("What it looks like")
    for each in alternatives:
        if each.inferred:
            yield f"- no line says it: {_flat(each.inferred)}"
            continue
        kind = f"{' or '.join(each.exception)}: " if each.exception else ""
        notes = [each.title and _flat(each.title), each.versions and f"printed by {_flat(each.versions)}"]
        notes += [f"unless the line says {_code(text)}" for text in each.unless]
        notes += [
            f"{'not ' if near.absent else ''}within {near.within} lines ({near.where}): {_code(near.regex)}"
            for near in each.near
        ]
        said = "; ".join(note for note in notes if note)
        yield f"- {_code(' '.join((kind + (each.regex or each.frame)).split()))}{f' ({said})' if said else ''}"


def _samples(match: Sequence[Sample], no_match: Sequence[Sample]) -> Iterator[str]:
    if match:
        yield ""
        yield "For example:"
        yield ""
        yield from _fenced(match[0].text)
    if no_match:
        yield ""
        yield "Looks alike, and is not:"
        for sample in no_match:
            yield ""
            yield from _fenced(sample.text)
            yield ""
            yield _flat(sample.why)


def _fix(number: int, fix: FixRule) -> Iterator[str]:
    head = f"{number}. "
    indent = " " * len(head)
    yield head + _flat(fix.text)
    for how in fix.how:
        yield ""
        yield f"{indent}{how.target}{f' ({_flat(how.holds)})' if how.holds else ''}:"
        yield ""
        yield from _fenced("\n".join(how.lines), indent)
    notes = [f"{label}: {_code(' '.join(text.split()))}" for label, text in _conditions(fix) if text]
    notes += [_flat(fix.avoid_why)] if fix.avoid_why else []
    notes += [f"mind: {_flat(fix.warning)}"] if fix.warning else []
    if fix.cost is not None:
        about = "; ".join(part for part in (fix.cost.workload, fix.cost.source) if part)
        notes.append(f"cost: {_flat(fix.cost.text)}{f' ({_flat(about)})' if about else ''}")
    notes += [f"see {_link(each)}" for each in fix.references]
    if notes:
        yield ""
        yield from (f"{indent}- {note}" for note in notes)
    yield ""


def _conditions(fix: FixRule) -> Iterator[tuple[str, str]]:
    yield "when", fix.when
    yield "already so when", fix.unless
    yield "not when", fix.avoid


def _relations(pattern: Pattern, homes: Mapping[str, str]) -> Iterator[str]:
    def named(ids: Sequence[str]) -> str:
        return ", ".join(f"[{id}]({homes[id]}#{id})" if id in homes else id for id in ids)

    relations = (
        ("can cause", pattern.explains),
        ("proves", pattern.confirms),
        ("is taken back by", pattern.cancelled_by),
    )
    yield from _list("Relations", [f"{word} {named(ids)}" for word, ids in relations if ids])
