"""Tells failures from what a job survived: retried, caught, logged, printed at exit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import isfinite

from diagnose.facts.model import SourceRecord, Step
from diagnose.facts.progress_lines import read_progress
from diagnose.lazy import Lazy
from diagnose.read.model import Traceback
from diagnose.reason import words
from diagnose.reason.incident import Incident

# Progress after these does not take them back: the job runs on, and is broken all the same.
_LASTING = ("numerical", "performance")
_FINISHED = ("iteration", "eval", "saved", "loaded")
# What the reasons below begin with that a launcher's word can overrule, and how near the last such exceptions must be.
_WENT_ON, _TALKED = "the job went on", "the same process went on"
_DOUBTFUL = (_WENT_ON, _TALKED)
_NEAR = 64 * 1024
# PyTorch's excepthook puts the rank before the traceback of an exception that nobody caught.
_UNCAUGHT = Lazy(r"\[rank\d+\]:")
# Slurm's word that it ends a job or step; what stands behind it was still in a buffer.
_ENDED = Lazy(r"^slurmstepd[\w.-]*: error: .*(?:\bbeing killed\b|\bCANCELLED AT \d)", needs=("slurmstepd",))
_REDRAWN = ("epoch", "loss")  # what a bar that is drawn once more shows again
_LINGERS, _NEVER = 60.0, float("inf")  # seconds by which a process that is being ended may still write
_NOTHING_DONE = Lazy(r"\b0%[ |]{1,400}0/\d")  # of a progress bar
# Lines of ordinary talk by the same speaker after which an exception that a logger printed counts as handled.
_TALK = 3
# What a line says that tells of an error and of what was done about it.
_HANDLED = Lazy(
    r"\b(?:fall(?:ing|s)? ?back|ignor(?:ed|ing)|skipped|skipping (?:sample|batch|file|document|record|image|it\b)"
    r"|skip loading|consider installing|retried|continuing without|using (?:the )?(?:cached|un\w{3,20}))\b",
    re.IGNORECASE,
)
# An exception that a logger told of in one line, below the level of an error; a warning so tells of a missing package.
_MILD = Lazy(
    r"^.{0,120}?(?:^|[\s\[|:(-])(?:INFO|DEBUG|WARN(?:ING)?(?=.{0,240}(?:Import|ModuleNotFound)Error: ))[\s\]|:)-]{1,4}"
    r"(?:[\w./]{1,80}[:|\] -]{1,3}){0,3}(?:[\w.]{1,120}\.)?[A-Z]\w{1,60}(?:Error|Exception): ",
    needs=("WARN", "INFO", "DEBUG"),
)
_FINITE = 3  # steps with a finite loss after one without
# What a trainer prints when its loop is over.
_END_OF_RUN = Lazy(
    r"^(?:after training is done$|'train_runtime'|`Trainer\.fit` stopped: |training completed\b)", re.IGNORECASE
)
# PyTorch's C++ part marks warnings so: at the end of a good run the store's clients print that it is gone.
_WARNED = Lazy(r"\[W\d{3,4} \d\d:\d\d:\d\d")


class Progress:
    """Where a source's finished steps lie."""

    def __init__(self, record: SourceRecord) -> None:
        self._steps = sorted((s for s in record.steps if s.kind in _FINISHED), key=lambda step: step.start)
        self._starts = [step.start for step in self._steps]
        self._held = record.held != "no"
        self._ends = [step for step in record.steps if step.kind == "exit"]
        self._reached = [step for step in record.steps if _END_OF_RUN.search(step.text)]

    def before(self, start: int) -> bool:
        """Tell whether a step was finished before a position."""
        return bool(self._starts) and self._starts[0] < start

    def after(self, incident: Incident) -> Sequence[Step]:
        """List the steps that were finished after an incident.

        Steps that were stamped before it only stand behind it, and so do other speakers' in a file that gives the
        words of one speaker after another.
        """
        time = incident.time
        behind = self._steps[bisect_right(self._starts, incident.start) :]
        behind = [step for step in behind if time is None or step.time is None or step.time >= time]
        # A bar that it is glued to, or that stands at nothing done yet, is no progress.
        glued = {incident.evidence.line, incident.traceback.head.line if incident.traceback else 0}
        behind = [step for step in behind if step.evidence.line not in glued and not _undone(step)]
        if self._held and time is None:
            behind = [step for step in behind if step.lane.partition(" ")[0] == incident.label]
        return behind if any(not self._drawn_again(step) for step in behind) else []

    def went_on_for_good(self, incident: Incident) -> bool:
        """Tell whether steps after the scheduler's word are another step's or attempt's, not the rest of a buffer.

        They reach the end that the run set itself, or their stamps are later than the word by more than a buffer holds.
        """
        behind, word = self.after(incident), incident.own_time
        reached = any(step.number is not None and step.number >= step.metrics.get("total", _NEVER) for step in behind)
        return reached or (word is not None and any(step.time and step.time - word > _LINGERS for step in behind))

    def _drawn_again(self, step: Step) -> bool:
        """Tell whether a step repeats the one before it: a progress bar is drawn once more when it is closed."""
        place = bisect_right(self._starts, step.start) - 1
        before = self._steps[place - 1] if place > 0 else None
        if before is None or step.number is None or before.number != step.number:
            return False
        return all(before.metrics.get(name) == step.metrics.get(name) for name in _REDRAWN)

    def between(self, start: int, end: int) -> bool:
        """Tell whether a step was finished between two positions."""
        return bisect_right(self._starts, start) < bisect_right(self._starts, end)

    def last(self) -> Step | None:
        """Return the last iteration."""
        return next((step for step in reversed(self._steps) if step.kind == "iteration"), None)

    def reached(self, start: int) -> Step | None:
        """Return the step before a position with which the run had come to the end that it set itself."""
        steps = [step for step in self._steps if step.start < start and step.kind == "iteration"]
        done = [step for step in steps if step.number is not None and step.number >= step.metrics.get("total", _NEVER)]
        return next(
            (step for step in (*done, *self._ends, *self._reached) if step.start < start and step.number != 1), None
        )

    def end_of_run(self, incident: Incident) -> Step | None:
        """Return the trainer's own line, behind an incident and steps, that the run came to its end.

        A loop prints it only where nothing stopped it.
        """
        behind = (step for step in self._reached if step.start > incident.start and self.before(step.start))
        if self._held and incident.time is None:
            behind = (step for step in behind if step.lane.partition(" ")[0] == incident.label)
        return next((step for step in behind if not (incident.time and step.time) or step.time >= incident.time), None)

    def finite_again(self, incident: Incident) -> Step | None:
        """Return the first step after an incident from which on the loss is finite, to the end of what is there.

        Weights that are not finite never give a finite loss again, so the step with the bad loss did not reach them.
        """
        behind = [step for step in self.after(incident) if step.kind == "iteration" and "loss" in step.metrics]
        bad = max((place for place, step in enumerate(behind) if not _sound(step.metrics)), default=-1)
        good = behind[bad + 1 :]
        return good[0] if len(good) >= _FINITE else None

    def good_end(self, start: int) -> Step | None:
        """Return the line after a position that says the job ended well."""
        return next((step for step in self._ends if step.start > start and step.number == 0), None)


def mark_recovered(incidents: Sequence[Incident], records: Sequence[SourceRecord]) -> None:
    """Write into each incident why it is no failure, where it is none.

    When a launcher says that a worker failed and nothing is left that could be why, the last exceptions before its word
    are failures after all: text of a buffered stdout stands behind the traceback that ended the process.
    """
    progress = [Progress(record) for record in records]
    for each in incidents:
        each.recovered = _recovered(each, incidents, records[each.source], progress[each.source])
    _revive_the_dead(incidents, progress)
    _forgive_the_restarted(incidents)
    if any(each.role == "root" and not each.recovered for each in incidents):
        return
    ends = [each for each in incidents if says_failed(each) and not each.recovered]
    revived = [each for each in incidents if each.role == "root" and each.recovered.startswith(_DOUBTFUL)]
    last = max((each.start for each in revived if any(end.source == each.source for end in ends)), default=None)
    for each in revived:
        if ends and (last is None or each.start >= last - _NEAR):
            each.recovered = ""


def _revive_the_dead(incidents: Sequence[Incident], progress: Sequence[Progress]) -> None:
    """Take back "the job went on" where the launcher says that this very rank failed, and no step lies in between."""
    bad_ends = {each.source for each in incidents if says_failed(each) and not each.recovered}
    ends = [each for each in incidents if says_failed(each) and each.rank is not None and each.source in bad_ends]
    for each in incidents:
        if each.role != "root" or not each.recovered.startswith(_DOUBTFUL):
            continue
        told = [end for end in ends if end.source == each.source and end.rank == each.rank and end.start >= each.start]
        if told and not progress[each.source].between(each.start, told[0].start):
            each.recovered = ""


def _forgive_the_restarted(incidents: Sequence[Incident]) -> None:
    """Take back what ended an attempt after which the launcher started the job again, and it went on to the end."""
    bad_ends = {each.source for each in incidents if says_failed(each) and not each.recovered}
    ends: dict[int, Incident] = {}
    for each in incidents:
        if says_failed(each) and each.recovered and each.source not in bad_ends:
            ends[each.source] = each
    for each in incidents:
        end = ends.get(each.source)
        if _ENDED.search(each.evidence.text):
            continue  # whether the scheduler's word is taken back was decided before
        if end is not None and each.start < end.start and not each.recovered and each.category not in _LASTING:
            each.recovered = f"the launcher started the job again after {words.place(end.evidence)}, and it went on"


def says_failed(each: Incident) -> bool:
    """Tell whether a launcher's word says that the job failed; a teardown line alone does not."""
    if each.role != "wrapper" or each.event is None:
        return False
    return each.event.captures.get("exitcode", "1") not in ("0", "-15", "143")


def _recovered(each: Incident, incidents: Sequence[Incident], record: SourceRecord, progress: Progress) -> str:
    unit = each.traceback
    if unit is not None and unit.ignored:
        return "Python printed and ignored it"
    if unit is not None and (why := _aside(unit, each, progress)):
        return why
    if each.role in ("advice", "progress"):
        return "it is no failure"
    if each.pattern and each.pattern.cancelled_by:
        later = _cancelled(each, incidents)
        if later:
            return f"taken back by {words.place(later.evidence)}"
    if each.role == "cascade" and _WARNED.search(each.evidence.text) and (done := progress.reached(each.start)):
        return f"it is a warning after the run's end at {words.place(done.evidence)}"
    if _not_finite(each) and _alone(record) and (step := progress.finite_again(each)):
        return f"the loss was finite again at {words.place(step.evidence)}"
    if each.category in _LASTING or (each.pattern and each.pattern.lasting):
        return ""
    if _ENDED.search(each.evidence.text) and not progress.went_on_for_good(each):
        return ""
    if unit is not None and (_UNCAUGHT.search(unit.lane) or _ended_early(unit, progress)):
        return ""
    following = progress.after(each)
    enough = 1 if _alone(record) else 2
    numbers = {step.number for step in following}
    if len(numbers) >= enough:
        step = following[0]
        number = f" (iteration {step.number})" if step.number is not None else ""
        return f"{_WENT_ON} at {words.place(step.evidence)}{number}"
    if unit is not None and unit.talk_after >= _TALK and not _left_main(unit) and (unit.logged or each.weight < 3):
        return f"{_TALKED} talking after {words.place(each.evidence)}"
    if unit is None and each.role == "root" and _HANDLED.search(each.evidence.text):
        return f"{_WENT_ON}, as {words.place(each.evidence)} says itself"
    if unit is None and each.role == "root" and _MILD.search(each.evidence.text):
        return f"{_WENT_ON}, as the level at {words.place(each.evidence)} says"
    end = progress.end_of_run(each)
    if end is not None and _alone(record) and (unit is None or not _left_main(unit)):
        return f"{_WENT_ON} to its end at {words.place(end.evidence)}"
    end = progress.good_end(each.start)
    if end is not None and (unit is None or unit.logged or unit.talk_after):
        return f"the job ended well at {words.place(end.evidence)}"
    return ""


def _aside(unit: Traceback, each: Incident, progress: Progress) -> str:
    """Tell why an exception that Python prints beside the program itself ended nothing; empty where it may have."""
    outermost = unit.frames[0].function if unit.frames else ""
    if outermost == "_run_finalizers":
        return "multiprocessing printed it while it tidied up"
    if outermost in ("_bootstrap", "_bootstrap_inner") and (done := progress.reached(each.start)):
        return f"a thread raised it after the run's end at {words.place(done.evidence)}"
    return ""


def _not_finite(each: Incident) -> bool:
    """Tell whether an incident is a progress line whose loss or gradient norm is not finite."""
    step = read_progress(each.evidence.text) if each.category == "numerical" and each.traceback is None else None
    return step is not None and not _sound(step.metrics)


def _sound(metrics: Mapping[str, float]) -> bool:
    return all(isfinite(metrics.get(name, 0.0)) for name in ("loss", "grad_norm"))


def _undone(step: Step) -> bool:
    return step.number == 0 and _NOTHING_DONE.search(step.evidence.text) is not None


def _left_main(unit: Traceback) -> bool:
    """Tell whether an exception left the main module: nobody caught it, whatever its process still said."""
    return not unit.logged and bool(unit.frames) and unit.frames[0].function in ("<module>", "_run_module_as_main")


def _ended_early(unit: Traceback, progress: Progress) -> bool:
    """Tell whether an exception left the main module and the run ended before the iteration it was to reach.

    Its process wrote its progress to a buffered stdout, all of which stands behind the traceback.
    """
    if not _left_main(unit) or progress.before(unit.start):
        return False
    last = progress.last()
    return last is not None and last.number is not None and last.number < last.metrics.get("total", 0)


def _alone(record: SourceRecord) -> bool:
    """Tell whether one process wrote the source, so that any later step is its own."""
    return len(record.ranks) <= 1 and len([lane for lane in record.lanes if lane]) <= 1


def _cancelled(each: Incident, incidents: Sequence[Incident]) -> Incident | None:
    assert each.pattern is not None
    for later in incidents:
        if (
            later.pattern
            and later.pattern.id in each.pattern.cancelled_by
            and later.source == each.source
            and later.start > each.start
            and later.lane == each.lane
        ):
            return later
    return None
