"""Reads a YAML document that a program printed into its log: mappings and lists by indentation, nothing else.

A log interleaves and cuts, and such documents carry tags of classes; a strict YAML parser would refuse what still tells
most of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.classes import dataclass, field
from diagnose.facts.model import Value
from diagnose.facts.reader import TextView, following
from diagnose.facts.settings import Setting
from diagnose.facts.values import parse_value
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Line

_PAIR = Lazy(r"( {0,80})([A-Za-z_][\w.-]{0,120}):(?: +(.*?))?\s*$")
_ITEM = Lazy(r"( {0,80})- +(.*?)\s*$")
_TAG = Lazy(r"[!&*]\S+\s*")
_STRANGERS = 20  # lines in a row that are no YAML before the document counts as ended


@dataclass(slots=True)
class _Open:
    """A key whose value stands on the lines below it."""

    indent: int
    path: tuple[str, ...]
    evidence: Evidence
    items: list[Value] = field(default_factory=list)


def yaml_block(text: TextView, head: Line, end: Lazy) -> Iterator[Setting]:
    """Yield the scalars and the lists of scalars of the document below `head`, until a line that matches `end`."""
    stack: list[_Open] = []
    strangers = 0
    begun = False
    for line in following(text, head):
        if begun and end.match(line.body):
            break
        pair = _PAIR.match(line.body)
        item = None if pair else _ITEM.match(line.body)
        if not pair and not item:
            strangers += bool(line.body.strip())
            if strangers > _STRANGERS:
                break
            continue
        strangers, begun = 0, True
        if item:
            if stack and len(item[1]) >= stack[-1].indent:
                stack[-1].items.append(parse_value(item[2]))
            continue
        assert pair is not None
        indent, value = len(pair[1]), _TAG.sub("", pair[3] or "", count=1)
        while stack and stack[-1].indent >= indent:
            yield from _close(stack.pop())
        path = (*(stack[-1].path if stack else ()), pair[2])
        if value:
            yield Setting(path, parse_value(value), text.evidence(line))
        else:
            stack.append(_Open(indent, path, text.evidence(line)))
    while stack:
        yield from _close(stack.pop())


def _close(key: _Open) -> Iterator[Setting]:
    if key.items:
        yield Setting(key.path, key.items, key.evidence)
