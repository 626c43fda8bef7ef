"""Builds the parts of a pattern that hold conditions: named values, checks, causes, fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from diagnose.catalogue import condition as conditions
from diagnose.catalogue import template as templates
from diagnose.catalogue.document import Items, Node, Scalar, Table, Where
from diagnose.catalogue.examine import examine
from diagnose.catalogue.form import Form, Report, did_you_mean, text_of
from diagnose.catalogue.measurements import COST_KEYS, Workload, quoted
from diagnose.catalogue.model import CauseRule, CheckRule, CostRule, FixRule, Lines
from diagnose.classes import dataclass, field

ID = r"[a-z0-9]+(-[a-z0-9]+)*"
TARGETS = (
    *("bridge", "megatron-lm", "nemo", "env", "shell", "python", "slurm", "kubernetes", "deepspeed", "accelerate"),
    "yaml",
)
# Facts that the program reads off an out-of-memory message by itself (facts/oom.py).
ADDED_CAPTURES = frozenset(
    (
        *("requested", "total", "free", "allocated", "reserved", "unallocated", "pools"),
        *("this_process", "other_processes", "allowed"),
    )
)
CHECK_KEYS = ("id", "use", "question", "when", "observed", "look")
CAUSE_KEYS = ("id", "text", "when")
FIX_KEYS = (
    *("id", "use", "text", "when", "unless", "avoid", "avoid_why", "warning", "warn_when", "how", "cost"),
    "references",
)
Shared = Mapping[str, Table]


@dataclass(slots=True)
class Names:
    """What conditions and templates of one file may ask for."""

    captures: set[str] = field(default_factory=set)
    lets: set[str] = field(default_factory=set)
    checks: set[str] = field(default_factory=set)  # ids, as written
    open: bool = False  # True in a shared file: it is decided where it is used
    measured: Mapping[str, Workload] = field(default_factory=dict)  # what costs may quote


def check_id(report: Report, where: Where, word: str) -> None:
    """Note an id that is not lower-case words joined by hyphens."""
    import re

    if word and not re.fullmatch(ID, word):
        report.add(where, f"{word!r} is no id", "lower-case words joined by hyphens: heads-not-divisible")


def condition(form: Form, key: str, names: Names) -> str:
    """Read a condition and note what is wrong with it or with the names in it."""
    node = form.node(key)
    if node is None:
        return ""
    text = text_of(form.report, node, f"`{key}`").strip()
    if text and isinstance(node, Scalar):
        _check_condition(form.report, node, text, names, _asker(form, node))
    return text


def _asker(form: Form, node: Node) -> Where:
    """Return who is to blame for an unknown name: the value, or the `use` that took it out of a shared file."""
    use = form.where("use")
    return use if form.has("use") and use.path != node.where.path else node.where


def _check_condition(report: Report, node: Scalar, text: str, names: Names, asker: Where) -> None:
    try:
        parsed = conditions.parse(text)
    except conditions.ConditionError as error:
        hint = "in `check.ID` write the hyphens of the id as underscores" if "check." in text and "-" in text else ""
        report.add(node.at(error.column), f"the condition is wrong: {error.message}", hint)
        return
    for name in parsed.names:
        if problem := _unknown(name, names):
            report.add(asker, *problem)
    for function, texts in parsed.calls:
        if function == "found":
            report.mentions += [(node.where, each) for each in texts]
        elif function == "code":
            report.tables += [(node.where, each) for each in texts[:1]]
        elif function in ("frame", "matches", "sum_sizes"):
            for fault in examine(texts[-1])[1] if texts else ():
                if "without a name" not in fault.message:
                    report.add(node.where, f"in {function}(): {fault.message}", fault.hint)


def _unknown(name: str, names: Names) -> tuple[str, str] | None:
    space, _, rest = name.partition(".")
    known: dict[str, set[str]] = {
        "capture": names.captures | ADDED_CAPTURES,
        "let": names.lets,
        "check": {each.replace("-", "_") for each in names.checks},
    }
    if names.open or space not in known or rest in known[space]:
        return None
    what = {"capture": "no expression captures", "let": "`let` names no", "check": "there is no earlier check"}[space]
    return f"{what} `{rest}`", did_you_mean(rest, sorted(known[space]))


def template(form: Form, key: str, names: Names) -> str:
    """Read a template and note what is wrong with its placeholders."""
    text = form.text(key)
    node = form.node(key)
    for name, form_text in templates.placeholders(text):
        if node is not None and (problem := _unknown(name, names)):
            form.report.add(_asker(form, node), *problem)
        if not templates.valid_format(form_text):
            form.complain(key, f"`{form_text}` is no format", "size, .1f, d, ,d or e")
    rest = templates.PLACEHOLDER.sub("", text)
    if "{" in rest or "}" in rest:
        form.complain(key, "a brace belongs to no placeholder", "write {capture.x}, {config.key} or {let.x:size}")
    return text


def let(form: Form, names: Names) -> dict[str, str]:
    """Read the named values, in order: each may use the ones before it."""
    node = form.node("let")
    if not isinstance(node, Table):
        if node is not None:
            form.complain("let", "`let` must be a mapping of names to expressions")
        return {}
    inner = Form(form.report, node, "`let`", tuple(node.pairs))
    found = {}
    for name, (where, _) in node.pairs.items():
        if not name.isidentifier():
            form.report.add(where, f"{name!r} is no name", "letters, digits and underscores")
        found[name] = condition(inner, name, names)
        names.lets.add(name)
    return found


def entries(form: Form, key: str, keys: Sequence[str], what: str, shared: Shared) -> Iterator[Form]:
    """Yield a cursor for each entry of a list of rules, with `use: ID` resolved; ids must be unique."""
    seen: set[str] = set()
    for written in form.tables(key):
        table = _resolve(form.report, written, shared) if "use" in written.pairs else written
        if table is None:
            continue
        entry = Form(form.report, table, what, keys)
        entry.require("id")
        name = entry.text("id")
        check_id(form.report, entry.where("id"), name)
        if name in seen:
            where = written.where if "use" in written.pairs else entry.where("id")
            form.report.add(where, f"the id `{name}` is given twice in `{key}`")
        seen.add(name)
        yield entry


def _resolve(report: Report, table: Table, shared: Shared) -> Table | None:
    node = table.pairs["use"][1]
    name = text_of(report, node, "`use`")
    source = shared.get(name)
    if source is None:
        if name:
            report.add(node.where, f"no shared entry is called `{name}`", did_you_mean(name, sorted(shared)))
        return None
    return Table(table.where, {**source.pairs, **table.pairs})


def checks(form: Form, names: Names, shared: Shared) -> tuple[CheckRule, ...]:
    """Read the checks; a condition may ask for the checks before it."""
    found = []
    for entry in entries(form, "checks", CHECK_KEYS, "a check", shared):
        entry.require("question")
        if not entry.has("when") and not entry.has("look"):
            entry.complain("", "nothing answers this check", "give `when`, or `look` for what a person does")
        rule = CheckRule(
            id=entry.text("id"),
            question=entry.text("question"),
            when=condition(entry, "when", names),
            observed=template(entry, "observed", names),
            look=entry.text("look"),
        )
        names.checks.add(entry.raw("id"))
        found.append(rule)
    return tuple(found)


def causes(form: Form, names: Names) -> tuple[CauseRule, ...]:
    """Read the causes."""
    found = []
    for entry in entries(form, "causes", CAUSE_KEYS, "a cause", {}):
        entry.require("text")
        found.append(CauseRule(entry.text("id"), entry.text("text"), condition(entry, "when", names)))
    return tuple(found)


def fixes(form: Form, names: Names, shared: Shared) -> tuple[FixRule, ...]:
    """Read the fixes."""
    return tuple(_fix(entry, names) for entry in entries(form, "fixes", FIX_KEYS, "a fix", shared))


def _fix(form: Form, names: Names) -> FixRule:
    form.require("text")
    for key, needs, why in (
        ("avoid", "avoid_why", "say why, and give the way out"),
        ("warn_when", "warning", "say what to mind"),
    ):
        if form.has(key) and not form.has(needs):
            form.complain(key, f"`{key}` needs `{needs}`", why)
    return FixRule(
        id=form.text("id"),
        text=form.text("text"),
        when=condition(form, "when", names),
        unless=condition(form, "unless", names),
        avoid=condition(form, "avoid", names),
        avoid_why=form.text("avoid_why"),
        warning=form.text("warning"),
        warn_when=condition(form, "warn_when", names),
        how=tuple(_how(form, names)),
        cost=_cost(form, names),
        references=form.texts("references"),
    )


def _how(form: Form, names: Names) -> Iterator[Lines]:
    for table in form.tables("how"):
        entry = Form(form.report, table, "an entry of `how`", (*TARGETS, "when", "holds"))
        when, holds = condition(entry, "when", names), entry.text("holds")
        places = [target for target in TARGETS if entry.has(target)]
        if not places:
            entry.complain("", "the lines have no place", f"begin with one of {', '.join(TARGETS)}")
        for target in places:
            lines = tuple(line for text in entry.texts(target, one=True) for line in text.split("\n"))
            if not any(lines):
                entry.complain(target, f"`{target}` has no line to paste")
            yield Lines(target, lines, when, holds)


def _cost(form: Form, names: Names) -> CostRule | None:
    cost = form.form("cost", COST_KEYS, "`cost`")
    if cost is None:
        return None
    if cost.has("measured"):
        told = quoted(cost, names.measured)
        return None if told is None else CostRule(*told)
    cost.require("text")
    return CostRule(cost.text("text"), cost.text("workload"), cost.text("source"))


def shared_entries(
    report: Report, node: Node, keys: Sequence[str], what: str, measured: Mapping[str, Workload]
) -> dict[str, Table]:
    """Read a file of shared checks or fixes: id to body. A broken entry is noted and left out."""
    if not isinstance(node, Items):
        report.add(node.where, "a file of shared entries is a list", "begin each entry with `- id: …`")
        return {}
    build: Callable[[Form, Names, Shared], object] = checks if what == "a check" else fixes
    key = "checks" if what == "a check" else "fixes"
    found: dict[str, Table] = {}
    for item in node.items:
        if not isinstance(item, Table):
            report.add(item.where, f"{what} must be a mapping, `key: value`")
            continue
        holder = Table(item.where)
        holder.pairs[key] = (item.where, Items(item.where, [item]))
        before = len(report.troubles)
        build(Form(report, holder, what, (key,)), Names(open=True, measured=measured), {})
        name = item.pairs["id"][1] if "id" in item.pairs else None
        if len(report.troubles) == before and isinstance(name, Scalar):
            if name.text in found:
                report.add(name.where, f"the id `{name.text}` is given twice")
            found[name.text] = item
    return found
