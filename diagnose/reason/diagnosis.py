"""From records to the diagnosis: the order of the steps stands here, each step in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from diagnose.catalogue.condition import Seen
from diagnose.catalogue.model import Catalogue, Pattern
from diagnose.classes import replace
from diagnose.facts.model import Event, Observation, SourceRecord
from diagnose.facts.run import Facts
from diagnose.read.model import Evidence, Problem
from diagnose.reason import words
from diagnose.reason.action import action_for
from diagnose.reason.attempts import earlier_attempts, number_attempts, part_jobs
from diagnose.reason.beside import mark_beside
from diagnose.reason.choice import Choice, choose
from diagnose.reason.clocks import Shift, align
from diagnose.reason.fallout import fallout_of
from diagnose.reason.finding import make_finding
from diagnose.reason.identity import identify
from diagnose.reason.incident import Group, Incident, incidents_of
from diagnose.reason.missing import missing_of
from diagnose.reason.phase import phase_of
from diagnose.reason.plan import plan_of
from diagnose.reason.recovery import mark_recovered, says_failed
from diagnose.reason.result import Confidence, Diagnosis, Finding, Input, Run, Verdict
from diagnose.reason.risks import risks_of
from diagnose.reason.run import framework_of, run_of, summary_facts
from diagnose.reason.scope import EventScope
from diagnose.reason.slow import (
    NO_REFERENCE,
    Found,
    Reference,
    findings_of,
    loss_incidents,
    speed_facts,
    unmeasured,
)
from diagnose.typed import Any

_ENDED_BY_SCHEDULER = ("slurm-time-limit", "slurm-job-cancelled", "slurm-step-cancelled", "signal-exception")


class Reasoner:
    """One diagnosis in the making: what every step needs at hand."""

    def __init__(
        self,
        records: Sequence[SourceRecord],
        catalogue: Catalogue,
        given: Sequence[Observation],
        reference: Reference = NO_REFERENCE,
    ) -> None:
        self.records, self.shifts = align(part_jobs(records))
        self.shown: tuple[Evidence, ...] = ()  # lines that show what was inferred
        self.why = ""  # how the root was inferred, where no line says it
        self.catalogue = catalogue
        found = [each for index, record in enumerate(self.records) for each in incidents_of(record, index, catalogue)]
        found += loss_incidents(self.records, catalogue, found)
        last = number_attempts(found, self.records)
        self.records = identify(found, self.records)
        self.attempts = earlier_attempts(found, last)
        self.incidents = [each for each in found if each.attempt == last]
        mark_recovered(self.incidents, self.records)
        mark_beside(self.incidents, self.records)
        self.choice = choose(self.incidents)
        self.framework = framework_of(self.records)
        self.facts = self._facts([*speed_facts(self.records, reference), *given])
        self._infer()
        self.slow = findings_of(self.records, self.facts, reference, self.incidents)
        names = {
            name
            for each in self.incidents
            if each.pattern and not each.recovered
            for name in (each.pattern.id, each.pattern.category)
        }
        told = {each.pattern.id for each in self.incidents if each.pattern and each.role == "advice"}
        self.names = frozenset(names | told | {each.pattern for each in self.slow})

    def _facts(self, given: Sequence[Observation]) -> Facts:
        seen = [each for record in self.records for each in record.observations]
        seen += summary_facts(self.records, self.framework)
        for group in (self.choice.root, *self.choice.rivals):
            if group is not None:
                seen += proven(group.first)
        facts = Facts([*seen, *given])
        if facts.value("run.summary_of_non_defaults"):
            from diagnose.facts.defaults import defaults_for

            facts = Facts([*seen, *given, *defaults_for(facts.lookup("version.core"))])
        return facts

    def _infer(self) -> None:
        """Where no line says what failed, name the rank that the others waited for, or what they waited in."""
        value = self.facts.value("run.world_size")
        world = value if isinstance(value, int) else None
        if self.choice.root is not None:
            self._hung(self.choice.root, world)
            self._absent(self.choice.root, world)
            return
        from diagnose.reason.consequence import consequence, killed

        hit = killed(self.incidents)
        if hit is not None:
            self.choice.root, self.why = hit.group, hit.why
            return
        from diagnose.reason.straggler import find_straggler, inferred_incident

        found = find_straggler(self.incidents, self.records, world, self.shifts)
        incident = inferred_incident(found, self.catalogue) if found is not None else None
        if found is not None and incident is not None:
            self.choice.root = Group([incident])
            self.why, self.shown = found.why, found.evidence[1:]
            return
        hit = consequence(self.incidents, self.catalogue)
        if hit is not None:
            self.choice.root, self.why = hit.group, hit.why

    def _hung(self, root: Group, world: int | None) -> None:
        """Where the scheduler ended a job that was silent for long, the hang is the root, not the scheduler's word."""
        first = root.first
        if first.kind not in _ENDED_BY_SCHEDULER:
            return
        from diagnose.reason.silence import HUNG, silence_before

        silence = silence_before(first, self.records, world, self.shifts)
        pattern = self.catalogue.patterns.get(HUNG)
        if silence is None or pattern is None:
            return
        if not silence.hang:
            self.why = f"{_why(self.choice, self.shifts)} The last progress was {words.span(silence.seconds)} before."
            return
        event = Event(HUNG, 0, silence.captures(), first.evidence, 0, node=first.node)
        self.choice.later.insert(0, root)
        self.choice.root, self.choice.rivals = Group([Incident(-1, 0, first.evidence, pattern, event)]), []
        self.shown = (silence.last.evidence, *(line for _, line in silence.quiet))
        self.why = (
            f"{words.place(first.evidence)} ended the job, which was {silence.tell()}. No line before it says why."
        )

    def _absent(self, root: Group, world: int | None) -> None:
        """Where ranks waited in vain for others to join, name those of which there is no word."""
        if root.first.kind != "rendezvous-timeout":
            return
        from diagnose.reason.heard import never_joined

        absent = never_joined(self.incidents, self.records, world)
        if absent:
            who = words.ranks(absent)
            self.why = f"{_why(self.choice, self.shifts)} No such line, and no other word, comes from {who}."
            if len(absent) == 1:
                root.first.evidence = replace(root.first.evidence, rank=absent[0])

    def scope_of(self, name: str) -> EventScope:
        """Return what the conditions of a pattern that did not match can ask for."""
        return self.scope(None, lambda: self.catalogue.patterns[name])

    def scope(self, incident: Incident | None, pattern: Pattern | Callable[[], Pattern]) -> EventScope:
        """Return what the conditions of a pattern can ask for."""
        extra: Mapping[str, Any] = {}
        if incident is not None and incident.source >= 0:
            record = self.records[incident.source]
            before = [step for step in record.steps if step.start < incident.start]
            phase = phase_of(incident.traceback.frames if incident.traceback else (), before)
            last = next((step.number for step in reversed(before) if step.kind == "iteration"), None)
            known = {"run.phase": phase, "run.last_iteration": last, "run.rank": incident.rank}
            extra = {key: Seen(value) for key, value in known.items() if value is not None}
        return EventScope(self.facts, pattern, incident, self.names, extra, self.catalogue.codes)

    def finding(self, group: Group, confidence: Confidence, why: str, proof: Sequence[Incident] = ()) -> Finding:
        """Write the finding of a group: its first line, those of other ranks, and what proves it."""
        pattern = group.first.pattern
        if pattern is None:
            from diagnose.reason.unknown import unknown_exception

            return unknown_exception(group, self.catalogue.placement)
        evidence = [each.evidence for each in group.incidents[:8]] + [each.evidence for each in proof[:4]]
        evidence += self.shown if group.first.source < 0 else ()
        finding = make_finding(pattern, self.scope(group.first, pattern), evidence, confidence, why, self.framework)
        if (pattern.specificity, pattern.category) != ("generic", "code"):
            return finding
        from diagnose.reason.unknown import place_bare

        return place_bare(finding, group.first, self.catalogue.placement)

    def slow_finding(self, found: Found) -> Finding | None:
        """Write the finding of something slow; None where its pattern is switched off."""
        group = found.group(self.catalogue)
        pattern = group.first.pattern if group else None
        if group is None or pattern is None:
            return None
        scope = self.scope(group.first, pattern)
        return make_finding(pattern, scope, found.evidence, found.confidence, found.why, self.framework)


def proven(incident: Incident) -> list[Observation]:
    """Return the facts that a failure's own wording proves."""
    event = incident.event
    if incident.pattern is None or event is None or event.alternative >= len(incident.pattern.match):
        return []
    wording = incident.pattern.match[event.alternative]
    found: list[Observation] = []
    for key, value in wording.implies.items():
        text = event.captures.get(value[1:-1]) if isinstance(value, str) and value.startswith("{") else value
        if text is not None or value is None:
            found.append(Observation(key, text, incident.evidence, "proven"))
    for part in filter(None, (each.strip() for each in wording.versions.split(";"))):
        name = part[: len(part) - len(part.lstrip("abcdefghijklmnopqrstuvwxyz_"))]
        found.append(Observation(f"version.{name}", part[len(name) :], incident.evidence, "wording"))
    return found


def reason(
    records: Sequence[SourceRecord],
    catalogue: Catalogue,
    *,
    given: Sequence[Observation] = (),
    problems: Sequence[Problem] = (),
    reference: Reference = NO_REFERENCE,
) -> Diagnosis:
    """Diagnose a job from the records of its sources.

    Arguments: the records; the catalogue that made them; `given` facts (configuration and environment handed in by the
    user); `problems` with inputs that could not be read; `reference`, what the run's speed is measured against.
    """
    work = Reasoner(records, catalogue, given, reference)
    verdict, root, alternatives = _verdict(work)
    group = work.choice.root if root else None
    slow = [each for each in work.slow if root is None or each.pattern != root.pattern]
    if verdict == "no_failure" and slow and slow[0].root:
        root, group = work.slow_finding(slow[0]), slow[0].group(catalogue)
        verdict, slow = ("degraded", slow[1:]) if root else (verdict, slow)
    run = run_of(work.records, work.facts, work.framework, group.first if group else None)
    told = root or (_said_by(work) if verdict == "unknown" else None)
    diagnosis = Diagnosis(
        verdict=verdict,
        summary="",
        root_cause=root,
        alternatives=tuple(alternatives),
        fallout=fallout_of(work.incidents, work.choice),
        risks=(*filter(None, map(work.slow_finding, slow)), *_foreseen(work, run, root, slow)),
        plan=plan_of(told, alternatives if verdict == "ambiguous" else ()),
        action=action_for(verdict, root, group, work.catalogue, work.attempts),
        run=run,
        inputs=_inputs(work.records, problems),
        missing=(*missing_of(work.records, verdict, root), *unmeasured(work.records, reference)),
        attempts=work.attempts if verdict != "no_failure" else (),
        notes=_last_words(work.records) if verdict == "unknown" and not root else (),
    )
    from diagnose.reason.summary import summary_of

    return replace(diagnosis, summary=summary_of(diagnosis))


def _last_words(records: Sequence[SourceRecord]) -> tuple[Evidence, ...]:
    from diagnose.reason.unknown import last_words

    return last_words(records)


def _cut_exception(record: SourceRecord, catalogue: Catalogue) -> Finding:
    from diagnose.reason.unknown import cut_exception

    return cut_exception(record, catalogue.placement)


def _verdict(work: Reasoner) -> tuple[Verdict, Finding | None, list[Finding]]:
    choice = work.choice
    if choice.root is None:
        return *_without_root(work), []
    first = choice.root.first
    rivals = [work.finding(group, "low", _came(group.first)) for group in choice.rivals[:4]]
    if first.pattern is None:
        later = [work.finding(group, "low", _came(group.first)) for group in choice.later[:4] if group.first.pattern]
        return "unknown", work.finding(choice.root, "low", ""), [*rivals, *later]
    proof = choice.confirmations
    conclusive = first.pattern.conclusive or bool(proof)
    sure = conclusive and not rivals and first.weight > 1 and not choice.untold
    blind = choice.untold and choice.later[0].first.source != first.source
    confidence: Confidence = "high" if sure else "medium" if conclusive and not blind else "low"
    finding = work.finding(choice.root, confidence, work.why or _why(choice, work.shifts), proof)
    if choice.untold and not rivals:
        others = [work.finding(group, "low", _came(group.first)) for group in choice.later[:2] if group.first.pattern]
        return ("identified" if conclusive else "symptom_only"), finding, others
    if not conclusive:
        return "symptom_only", finding, rivals
    return ("ambiguous" if rivals else "identified"), finding, rivals


def _foreseen(work: Reasoner, run: Run, root: Finding | None, slow: Sequence[Found]) -> list[Finding]:
    told = {each.pattern for each in slow}
    risks = risks_of(work.catalogue, work.scope_of, work.framework, run, root)
    return [each for each in risks if each.pattern not in told]


def _without_root(work: Reasoner) -> tuple[Verdict, Finding | None]:
    cut = next(filter(_cut_short, work.records), None)
    if cut is not None:
        return "unknown", _cut_exception(cut, work.catalogue)
    # What C++ prints when nobody caught an exception ends the process, whoever cleans up behind it.
    failed = any(
        says_failed(each) or "terminate called after" in each.evidence.text
        for each in work.incidents
        if not each.recovered
    )
    from diagnose.reason.told import told_failure

    known = {(each.evidence.path, each.evidence.line) for each in work.incidents}
    found = told_failure(work.records, known, work.catalogue.placement, failed=failed)
    return ("unknown" if failed or found else "no_failure"), found


def _said_by(work: Reasoner) -> Finding | None:
    """Write the finding of the launcher's own words where they are all there is: its fixes say where to look."""
    said = next((each for each in work.incidents if not each.recovered and says_failed(each)), None)
    return work.finding(Group([said]), "low", "") if said else None


def _cut_short(record: SourceRecord) -> bool:
    """Tell whether a log ends inside a traceback: the exception's own line is lost."""
    unit = record.tracebacks[-1] if record.tracebacks else None
    if unit is None or unit.type or not unit.frames or unit.talk_after or unit.ignored:
        return False
    return not any(step.start > unit.start for step in record.steps)


def _came(incident: Incident) -> str:
    by = words.speaker(incident.evidence)
    return (
        f"{by or 'One process'} reported it at {words.place(incident.evidence)}; the logs do not tell which came first."
    )


def _why(choice: Choice, shifts: Mapping[int, Shift]) -> str:
    assert choice.root is not None
    group, first = choice.root, choice.root.first
    by = words.speaker(first.evidence)
    when = f" {'after' if first.assumed else 'at'} {words.clock(first.time)}" if first.time is not None else ""
    told = f"{by[:1].upper() + by[1:] if by else 'The log'} reports it{when} ({words.place(first.evidence)})."
    parts = [told]
    if len(group.ranks) > 1:
        parts.append(f"The same failure stands in the words of {words.ranks(group.ranks)}.")
    if choice.confirmations:
        parts.append(f"{words.place(choice.confirmations[0].evidence)} confirms it.")
    elif choice.untold:
        other = words.place(choice.later[0].first.evidence)
        parts.append(f"The logs do not tell whether {other} came before or after it.")
    elif choice.later:
        following = choice.later[0].first
        place = words.place(following.evidence)
        above = following.source == first.source and following.start < first.start
        rest = (
            f"what {place} tells, above it in the log, follows from it"
            if above
            else f"the next failure follows at {place}"
        )
        parts.append(f"Nothing that failed was earlier; {rest}.")
    else:
        parts.append("Nothing else failed before it.")
    compared = dict.fromkeys(each.first.source for each in (group, *choice.rivals, *choice.later))
    parts += [f"{shifts[source].why}; times are compared without it." for source in compared if source in shifts]
    return " ".join(parts)


def _inputs(records: Sequence[SourceRecord], problems: Sequence[Problem]) -> tuple[Input, ...]:
    sized = {record.path for record in records if record.bytes}  # of an empty file its size says enough
    told: dict[str, list[str]] = {}
    for each in problems:
        if each.path in sized:
            told.setdefault(each.path, []).append(each.what)
    read = [Input(r.path, r.bytes, r.lines, r.rank, r.node, (*told.get(r.path, ()), *r.problems)) for r in records]
    known = {record.path for record in records}
    unread = [Input(each.path, 0, 0, problems=(each.what,)) for each in problems if each.path not in known]
    return (*read, *unread)
