"""Puts the layers' files together: which pattern is in force, and what is wrong with the files that are not."""

from __future__ import annotations

import hashlib

from diagnose.catalogue import rules
from diagnose.catalogue.build import KEYS, build_pattern
from diagnose.catalogue.code_files import FOLDER, is_code_table, read_codes
from diagnose.catalogue.document import Items, Scalar, Table, Where, read_document
from diagnose.catalogue.form import Form, Report, did_you_mean
from diagnose.catalogue.layers import SHARED, Layers, PatternFile
from diagnose.catalogue.measurements import Workload, read_measurements
from diagnose.catalogue.model import CATEGORIES, ROLES, Catalogue, Pattern, PlacementRule, Wording
from diagnose.catalogue.placement_files import PLACEMENT, read_placement
from diagnose.classes import dataclass, field, replace

MEASUREMENTS = "measurements"  # the stem of the shared file that costs quote
_SHARED_KINDS = {
    "checks": (rules.CHECK_KEYS, "a check"),
    "fixes": (rules.FIX_KEYS, "a fix"),
}


@dataclass(slots=True)
class Assembly:
    """The catalogue in the making."""

    report: Report = field(default_factory=Report)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)  # id -> the tree it was built from
    aliases: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)  # all ids that any file claims, in force or not
    shared: dict[str, dict[str, Table]] = field(default_factory=lambda: {kind: {} for kind in _SHARED_KINDS})
    codes: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)  # table -> code -> field -> text
    measured: dict[str, Workload] = field(default_factory=dict)
    placement: list[PlacementRule] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)  # digests of the files

    def catalogue(self) -> Catalogue:
        """Return what came out."""
        wordings = [
            Wording(pattern.id, index, each.literals, each.nocase, each.exception, not each.regex)
            for pattern in self.patterns.values()
            for index, each in enumerate(pattern.match)
            if not each.inferred
        ]
        return Catalogue(
            patterns=self.patterns,
            troubles=tuple(dict.fromkeys(self.report.troubles)),
            digest=hashlib.sha256(b"".join(self.contents)).hexdigest()[:12],
            aliases=self.aliases,
            wordings=tuple(wordings),
            predictions={each.id: each.predict for each in self.patterns.values() if each.predict},
            later={each.id: each.predict_later for each in self.patterns.values() if each.predict_later},
            comparisons={each.id: each.compare for each in self.patterns.values() if each.compare},
            codes=self.codes,
            placement=tuple(self.placement),
        )


def assemble(found: Layers) -> Assembly:
    """Read all files of all layers, in order; a broken file costs only itself."""
    state = Assembly()
    state.report.troubles += found.troubles
    documents = [(file, table) for file in found.files if (table := _read(state, file)) is not None]
    shared = [(file, node) for file, node in documents if file.family == SHARED]
    # Fixes quote measurements, so those are read before them.
    for file, node in sorted(shared, key=lambda each: each[0].stem != MEASUREMENTS):
        _take_shared(state, file, node)
    for file, node in documents:
        if file.family == SHARED:
            continue
        if isinstance(node, Table):
            _take_pattern(state, file, node)
        else:
            state.report.add(node.where, "a pattern file is a mapping", "begin with `id: …`")
    _check_relations(state)
    return state


def _read(state: Assembly, file: PatternFile) -> Table | Items | Scalar | None:
    try:
        with open(file.path, "rb") as handle:
            data = handle.read(file.size + 1)
    except OSError as error:
        state.report.add(Where(file.path, 1, 1), f"the file cannot be read: {error.strerror}")
        return None
    state.contents.append(hashlib.sha256(file.relative.encode(errors="surrogateescape") + b"\0" + data).digest())
    node, troubles = read_document(file.path, data)
    state.report.troubles += troubles
    if file.family != SHARED:
        state.known.add(file.stem)
    return None if troubles else node


def _take_shared(state: Assembly, file: PatternFile, node: Table | Items | Scalar) -> None:
    if is_code_table(file.relative):
        table = state.codes.setdefault(file.stem, {})
        for code, fields in read_codes(state.report, node).items():
            table[code] = table.get(code, {}) | fields
        return
    if file.stem == MEASUREMENTS:
        state.measured |= read_measurements(state.report, node)
        return
    if file.stem == PLACEMENT:
        state.placement[:0] = read_placement(state.report, node)
        return
    if file.stem not in _SHARED_KINDS:
        names = "checks.yaml, fixes.yaml, measurements.yaml, placement.yaml"
        state.report.add(node.where, f"`{SHARED}` holds {names} and {FOLDER}/ only")
        return
    keys, what = _SHARED_KINDS[file.stem]
    state.shared[file.stem] |= rules.shared_entries(state.report, node, keys, what, state.measured)


def _take_pattern(state: Assembly, file: PatternFile, table: Table) -> None:
    report = Report()
    form = Form(Report(), table, "a pattern", KEYS)
    name = form.text("id")
    if name and name != file.stem:
        hint = f"call the file {name}.yaml, or write id: {file.stem}"
        report.add(form.where("id"), f"the id is `{name}`, the file's name is `{file.stem}`", hint)
    earlier = state.aliases.get(name, name)
    if form.has("override") or form.has("disabled"):
        _overlay(state, report, file, table, earlier)
    elif earlier in state.patterns:
        report.add(
            form.where("id"),
            f"the id `{name}` is already given in {state.patterns[earlier].origin}",
            "choose another id, or say `override: replace`, `override: append` or `disabled: true`",
        )
    else:
        pattern = build_pattern(report, table, family=file.family, shared=state.shared, measured=state.measured)
        _admit(state, report, table, pattern)
    state.report.troubles += report.troubles
    state.report.mentions += report.mentions
    state.report.tables += report.tables


def _overlay(state: Assembly, report: Report, file: PatternFile, table: Table, earlier: str) -> None:
    form = Form(report, table, "a pattern", KEYS)
    form.require("id")
    how = form.choice("override", ("replace", "append"))
    disabled = form.flag("disabled", False)
    if earlier not in state.patterns:
        if form.has("id") and earlier not in state.known - {file.stem}:
            hint = did_you_mean(earlier, sorted(state.patterns)) if len(state.patterns) > 24 else ""
            report.add(form.where("id"), f"no earlier layer has a pattern `{earlier}`", hint)
        return
    if disabled:
        if not report.troubles:
            del state.patterns[earlier], state.tables[earlier]
        return
    if not how:
        if not report.troubles:
            report.add(
                form.where("id"), f"the id `{earlier}` is already given", "say how: `override: replace` or append"
            )
        return
    base = state.patterns[earlier]
    merged = table if how == "replace" else merge(state.tables[earlier], table)
    pattern = build_pattern(report, merged, family=base.family, shared=state.shared, measured=state.measured)
    if earlier != pattern.id:
        pattern = replace(pattern, id=earlier, aliases=(*pattern.aliases, pattern.id))
    _admit(state, report, merged, replace(pattern, origin=file.path))


def merge(base: Table, over: Table) -> Table:
    """Return a mapping with another one laid over it: lists are added, mappings merged, single values replaced."""
    merged = Table(over.where, dict(base.pairs))
    for key, (where, node) in over.pairs.items():
        earlier = base.pairs[key][1] if key in base.pairs else None
        if isinstance(node, Items) and isinstance(earlier, Items):
            merged.pairs[key] = (where, Items(node.where, [*earlier.items, *node.items]))
        elif isinstance(node, Table) and isinstance(earlier, Table):
            merged.pairs[key] = (where, merge(earlier, node))
        else:
            merged.pairs[key] = (where, node)
    return merged


def _admit(state: Assembly, report: Report, table: Table, pattern: Pattern) -> None:
    for alias in pattern.aliases:
        if alias in state.patterns or state.aliases.get(alias, pattern.id) != pattern.id:
            where = table.pairs["aliases"][1].where if "aliases" in table.pairs else table.where
            report.add(where, f"the alias `{alias}` is another pattern's name")
    if report.troubles:
        return
    state.patterns[pattern.id] = pattern
    state.tables[pattern.id] = table
    state.known |= {pattern.id, *pattern.aliases}
    state.aliases |= dict.fromkeys(pattern.aliases, pattern.id)


def _check_relations(state: Assembly) -> None:
    names = state.known | set(CATEGORIES) | set(ROLES)
    for where, name in state.report.mentions:
        if name and name not in names:
            state.report.add(
                where, f"no pattern, category or role is called `{name}`", did_you_mean(name, sorted(names))
            )
    for where, name in state.report.tables:
        if name not in state.codes:
            state.report.add(where, f"no table of codes is called `{name}`", did_you_mean(name, sorted(state.codes)))
