"""Builds a typed pattern from the tree of its file, and collects what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from diagnose.catalogue import rules
from diagnose.catalogue.document import Items, Node, Scalar, Table, plain
from diagnose.catalogue.examined import EXAMINED
from diagnose.catalogue.form import Form, Report, did_you_mean
from diagnose.catalogue.measurements import Workload
from diagnose.catalogue.model import (
    CATEGORIES,
    CONTEXTS,
    ROLES,
    SPECIFICITIES,
    STATUSES,
    ActionRule,
    Alternative,
    Near,
    Pattern,
    Sample,
)
from diagnose.catalogue.rules import Names, Shared
from diagnose.typed import Any

REQUIRED = (
    *("id", "title", "category", "role", "status", "match", "causes", "checks", "fixes", "references", "samples"),
)
KEYS = (
    *REQUIRED,
    *("aliases", "about", "summary", "specificity", "conclusive", "explains", "confirms", "cancelled_by", "predict"),
    *("let", "action", "override", "disabled", "lasting", "marks", "victim", "predict_later", "compare"),
)
ALTERNATIVE_KEYS = (
    *("regex", "exception", "context", "frame", "not", "near", "versions", "title", "implies", "literal", "note"),
    *("inferred", "captures"),
)
MARKS = ("restart", "end")
VICTIMS = ("waiting", "peer-gone")
RESTARTS = ("as_is", "after_fix", "no", "unknown")
SCOPES = ("config", "code", "data", "infrastructure", "scheduler", "unknown")
VERSION_NAMES = (
    *("core", "bridge", "lm", "te", "torch", "nccl", "cuda", "driver", "deepspeed", "transformers", "lightning"),
    "slurm",
)
MIN_LITERAL = 4  # bytes; shorter ones stand on too many lines to drive the scan
_RANGE = r"\s*(?:>=|<=|==|<|>)\s*\d+(?:\.\d+)*[a-z0-9.]*\s*"
_VERSIONS = re.compile(rf"\s*([a-z]+)({_RANGE}(?:,{_RANGE})*)")
_FACT = re.compile(r"(?:config|env|run|memory|version)(?:\.\w+)+")


def build_pattern(
    report: Report,
    table: Table,
    *,
    family: str,
    shared: Mapping[str, Shared],
    measured: Mapping[str, Workload] = MappingProxyType({}),
) -> Pattern:
    """Build a pattern; it may be used only where `report` gathered no trouble.

    Arguments: the file's tree, the folder that it lies in, the shared "checks" and "fixes" by id, and the measured
    workloads by id.
    """
    form = Form(report, table, "a pattern", KEYS)
    form.require(*REQUIRED)
    rules.check_id(report, form.where("id"), form.text("id"))
    names = Names(measured=measured)
    match = _match(form, names)
    let = rules.let(form, names)
    predict, later = rules.condition(form, "predict", names), rules.condition(form, "predict_later", names)
    compare = rules.condition(form, "compare", names)
    checks = rules.checks(form, names, shared["checks"])
    matching, look_alikes = _samples(form, names, inferred=any(each.inferred for each in match))
    pattern = Pattern(
        id=form.text("id"),
        title=form.text("title"),
        category=form.choice("category", CATEGORIES),
        role=form.choice("role", ROLES),
        status=form.choice("status", STATUSES),
        match=match,
        family=family,
        aliases=form.texts("aliases"),
        about=form.text("about"),
        summary=rules.template(form, "summary", names),
        specificity=form.choice("specificity", SPECIFICITIES, "normal"),
        conclusive=form.flag("conclusive", True),
        lasting=form.flag("lasting", False),
        marks=form.choice("marks", MARKS, ""),
        victim=form.choice("victim", VICTIMS, ""),
        explains=_mentioned(form, "explains"),
        confirms=_mentioned(form, "confirms"),
        cancelled_by=_mentioned(form, "cancelled_by"),
        predict=predict,
        predict_later=later,
        compare=compare,
        let=let,
        checks=checks,
        causes=rules.causes(form, names),
        fixes=rules.fixes(form, names, shared["fixes"]),
        action=_action(form),
        references=form.texts("references"),
        samples_match=matching,
        samples_no_match=look_alikes,
        origin=table.where.path,
    )
    for where, alias in zip(form.places("aliases"), pattern.aliases, strict=False):
        rules.check_id(report, where, alias)
    if pattern.role == "root":
        _demand(form, pattern)
    return pattern


def _demand(form: Form, pattern: Pattern) -> None:
    for key, entries, hint in (
        ("causes", pattern.causes, "say why it happens, also where it is only possible"),
        ("fixes", pattern.fixes, "say what to try first"),
        ("references", pattern.references, "name the source file and symbol, or the documentation page"),
    ):
        if form.has(key) and not entries:
            form.complain(key, f"a root needs at least one entry in `{key}`", hint)


def _mentioned(form: Form, key: str) -> tuple[str, ...]:
    names = form.texts(key)
    form.report.mentions += zip(form.places(key), names, strict=False)
    return names


def _action(form: Form) -> ActionRule:
    action = form.form("action", ("restart", "scope", "exclude_node", "why"), "`action`")
    if action is None:
        return ActionRule()
    return ActionRule(
        restart=action.choice("restart", RESTARTS, "unknown"),
        scope=action.choice("scope", SCOPES, "unknown"),
        exclude_node=action.flag("exclude_node", False),
        why=action.text("why"),
    )


def _match(form: Form, names: Names) -> tuple[Alternative, ...]:
    tables = form.tables("match")
    if form.has("match") and not tables:
        form.complain("match", "a pattern needs at least one alternative in `match`")
    return tuple(_alternative(Form(form.report, table, "an alternative", ALTERNATIVE_KEYS), names) for table in tables)


def _alternative(form: Form, names: Names) -> Alternative:
    regex, frame = expression(form, "regex"), expression(form, "frame")
    captures = regex | frame
    nears = [
        Form(form.report, table, "`near`", ("regex", "within", "where", "absent")) for table in form.tables("near")
    ]
    near = tuple(_near(each, captures) for each in nears)
    unless = form.texts("not", one=True)
    for where, text in zip(form.places("not"), unless, strict=False):
        for fault in EXAMINED.examine(text)[1] if text else ():
            if "without a name" not in fault.message:
                form.report.add(where, fault.message, fault.hint)
    exceptions = form.texts("exception", one=True)
    for where, name in zip(form.places("exception"), exceptions, strict=False):
        if name and not name.isidentifier():
            form.report.add(where, f"{name!r} is no exception's name", "the last component: OutOfMemoryError")
    text, framed, inferred = form.text("regex"), form.text("frame"), form.text("inferred")
    literals, nocase = _literals(form, text, exceptions)
    if not text and not (framed and exceptions) and not inferred:
        form.complain("", "an alternative needs `regex`", "or `frame` together with `exception`, for one without text")
    context = form.choice("context", CONTEXTS, "any")
    if context == "frame" and not framed:
        form.complain("context", "context `frame` needs the key `frame`")
    names.captures |= captures | set(form.texts("captures") if inferred else ())
    return Alternative(
        regex=text,
        context=context,
        exception=exceptions,
        frame=framed,
        unless=unless,
        near=near,
        versions=_versions(form),
        title=form.text("title"),
        implies=_implies(form, captures),
        literals=literals,
        nocase=nocase,
        note=form.text("note"),
        inferred=inferred,
    )


def _near(form: Form, captures: set[str]) -> Near:
    form.require("regex")
    captures |= expression(form, "regex")
    return Near(
        regex=form.text("regex"),
        within=form.whole("within", 20, 2000),
        where=form.choice("where", ("before", "after", "around"), "around"),
        absent=form.flag("absent", False),
    )


def expression(form: Form, key: str) -> set[str]:
    """Check the expression under a key and return its named groups."""
    node = form.node(key)
    if not isinstance(node, Scalar) or node.kind != "text" or not node.text:
        return set()
    groups, faults = EXAMINED.examine(node.text.rstrip("\n"))
    for fault in faults:
        where = f" (character {fault.column} of it)" if fault.column and node.shift is None else ""
        form.report.add(node.at(fault.column or 1), fault.message + where, fault.hint)
    return set(groups)


def _literals(form: Form, text: str, exceptions: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    given = form.texts("literal", one=True)
    for where, literal in zip(form.places("literal"), given, strict=False):
        if len(literal.encode()) < MIN_LITERAL or "\n" in literal:
            form.report.add(where, f"the literal {literal!r} is shorter than {MIN_LITERAL} bytes or has a line end")
    if given or not text:
        return given or tuple(exceptions), "(?i" in text
    if EXAMINED.examine(text)[1]:
        return (), False
    found = EXAMINED.literals(text)
    if found is None:
        hint = "write a fixed word into it, or give `literal`"
        form.complain("regex", f"no literal of {MIN_LITERAL} bytes or more stands on every line it matches", hint)
        return (), False
    return found.values, found.nocase


def _versions(form: Form) -> str:
    text = form.text("versions")
    for part in text.split(";") if text else ():
        found = _VERSIONS.fullmatch(part)
        if not found:
            form.complain("versions", f"{part.strip()!r} is no range of releases", "core>=0.16,<0.18; bridge>=0.3")
        elif found.group(1) not in VERSION_NAMES:
            hint = did_you_mean(found.group(1), VERSION_NAMES)
            form.complain("versions", f"no program is called `{found.group(1)}`", hint)
    return text


def _implies(form: Form, captures: set[str]) -> dict[str, Any]:
    node = form.node("implies")
    if node is None:
        return {}
    if not isinstance(node, Table):
        form.complain("implies", "`implies` must be a mapping", "implies: {config.recompute_granularity: full}")
        return {}
    for key, (where, value) in node.pairs.items():
        if not _FACT.fullmatch(key):
            form.report.add(where, f"`{key}` is no fact", "config.KEY, env.NAME, run.KEY, memory.KEY or version.NAME")
        _implied(form, value, captures)
    found = plain(node)
    return found if isinstance(found, dict) else {}


def _implied(form: Form, node: Node, captures: set[str]) -> None:
    if isinstance(node, Table):
        form.report.add(node.where, "a fact is a value or a list of values", "quote a capture: '{name}'")
    elif isinstance(node, Items):
        for item in node.items:
            _implied(form, item, captures)
    elif node.kind == "switch":
        form.report.add(node.where, f"YAML reads {node.text} as a truth value", f"write true, false or '{node.text}'")
    else:
        for name in re.findall(r"\{([^{}]*)\}", node.text):
            if name.removeprefix("capture.") not in captures:
                hint = did_you_mean(name, sorted(captures))
                form.report.add(node.where, f"no expression of this alternative captures `{name}`", hint)


def _samples(form: Form, names: Names, *, inferred: bool = False) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    holder = form.form("samples", ("match", "no_match"), "`samples`")
    if holder is None:
        return (), ()
    found = []
    for key, what in (("match", "that must match"), ("no_match", "that looks alike and is something else")):
        tables = holder.tables(key)
        if not tables and not inferred:
            holder.complain(key, f"`samples` needs a text under `{key}`: one {what}")
        forms = [Form(form.report, table, "a sample", ("text", "expect", "line", "why")) for table in tables]
        found.append(tuple(_sample(each, key, names) for each in forms))
    return found[0], found[1]


def _sample(form: Form, kind: str, names: Names) -> Sample:
    form.require("text", *(["why"] if kind == "no_match" else []))
    text, line = form.text("text"), form.text("line")
    if line and line not in text:
        form.complain("line", "`line` does not stand in the sample's text")
    expect: dict[str, str] = {}
    node = form.node("expect")
    if node is not None and not isinstance(node, Table):
        form.complain("expect", "`expect` must be a mapping of captures to texts")
    elif node is not None:
        known = names.captures | rules.ADDED_CAPTURES
        for name, (where, value) in node.pairs.items():
            if name not in known:
                form.report.add(where, f"no expression captures `{name}`", did_you_mean(name, sorted(known)))
            if isinstance(value, Scalar):
                expect[name] = value.text
            else:
                form.report.add(value.where, f"the capture `{name}` is a text")
    return Sample(text=text, expect=expect, line=line, why=form.text("why"))
