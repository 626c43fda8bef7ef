"""Reads `_shared/placement.yaml`: where exceptions that no pattern knows are filed."""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.catalogue.document import Node, Table
from diagnose.catalogue.examined import EXAMINED
from diagnose.catalogue.form import Form, Report
from diagnose.catalogue.model import CATEGORIES, PlacementRule

PLACEMENT = "placement"  # the file's stem
_DEPTH = 3
_OUTCOMES = ("category", "places", "rules")
_ASKED = ("type", "package", "errno", "message", "unless", "frame", "code", "library", "importing")
_KEYS = (*_OUTCOMES, "no_place", *_ASKED)


def read_placement(report: Report, node: Node) -> list[PlacementRule]:
    """Read the rules of one file, in order. A broken rule is noted and left out."""
    if not isinstance(node, Table):
        report.add(node.where, "the rules of placement are a mapping", "begin with `rules:`")
        return []
    form = Form(report, node, "the file", ("rules",))
    form.require("rules")
    return list(_rules(form, 1))


def _rules(form: Form, depth: int) -> Iterator[PlacementRule]:
    for table in form.tables("rules"):
        inner = Form(Report(), table, "a rule", _KEYS)
        rule = _rule(inner, depth)
        form.report.troubles += inner.report.troubles
        if not inner.report.troubles:
            yield rule


def _rule(form: Form, depth: int) -> PlacementRule:
    if sum(map(form.has, _OUTCOMES)) != 1:
        form.report.add(form.where(), "a rule has one of `category`, `places` and `rules`")
    if form.has("rules") and depth == _DEPTH:
        form.complain("rules", f"rules stand in rules at most {_DEPTH} deep")
    return PlacementRule(
        category=form.choice("category", CATEGORIES),
        places=tuple(_places(form)),
        no_place=_joined(form, "no_place"),
        rules=tuple(_rules(form, depth + 1)) if depth < _DEPTH else (),
        type=form.texts("type"),
        package=form.texts("package"),
        errno=form.texts("errno"),
        message=_joined(form, "message", "(?is)"),
        unless=_joined(form, "unless", "(?is)"),
        frame=_joined(form, "frame"),
        code=_joined(form, "code"),
        library=form.flag("library", False),
        importing=form.flag("importing", False),
    )


def _places(form: Form) -> Iterator[tuple[str, str]]:
    inner = form.form("places", CATEGORIES, "`places`")
    for category in inner.table.pairs if inner else ():
        yield category, _joined(inner, category) if inner else ""


def _joined(form: Form, key: str, flags: str = "") -> str:
    """Return the expressions of a key as one."""
    found = form.texts(key)
    for where, text in zip(form.places(key), found, strict=True):
        for fault in EXAMINED.examine(text)[1] if text else ():
            form.report.add(where, fault.message, fault.hint)
    return f"{flags}(?:{'|'.join(found)})" if found else ""
