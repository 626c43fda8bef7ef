"""Tells what a kernel recorded beside a run that went on from what ended it."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import SourceRecord
from diagnose.read.model import Kind
from diagnose.reason import words
from diagnose.reason.incident import Incident
from diagnose.reason.recovery import says_failed

_LATER = 60.0  # seconds after a record: the steps that were under way then are done
_FINISHED = ("iteration", "eval", "saved")


def mark_beside(incidents: Sequence[Incident], records: Sequence[SourceRecord]) -> None:
    """Write into each incident of a kernel log why it is no failure, where the job's own logs show that it is none.

    It is shown by steps that were finished a minute after the record or later, or by the job's good end. Where the job
    failed, only what confirms a failure is taken off so: clocks may differ, and a root may be the one.
    """
    kernel = [each for each in incidents if records[each.source].kind is Kind.KERNEL and not each.recovered]
    if not kernel:
        return
    jobs = [record for record in records if record.kind is Kind.LOG]
    failed = any(_failure(each) and records[each.source].kind is not Kind.KERNEL for each in incidents)
    ended = next((step for job in jobs for step in job.steps if step.kind == "exit" and step.number == 0), None)
    steps = [step for job in jobs for step in job.steps if step.kind in _FINISHED and step.time is not None]
    for each in kernel:
        if failed and each.role != "confirmation":
            continue
        later = [step for step in steps if each.time is not None and (step.time or 0.0) > each.time + _LATER]
        if len({step.number for step in later}) >= 2:
            each.recovered = f"the job went on at {words.place(later[0].evidence)}"
        elif ended is not None and not failed:
            each.recovered = f"the job ended well at {words.place(ended.evidence)}"


def _failure(each: Incident) -> bool:
    if each.recovered:
        return False
    return each.role in ("root", "cascade") or says_failed(each)
