"""Writes the one sentence that a person reads first."""

from __future__ import annotations

from diagnose.reason import words
from diagnose.reason.result import Diagnosis, Finding

_NO_MOMENT = ("config", "performance")  # categories whose failures do not happen after some iteration


def summary_of(diagnosis: Diagnosis) -> str:
    """Write one sentence a person can act on."""
    root = diagnosis.root_cause
    if diagnosis.verdict == "no_failure":
        if diagnosis.inputs and not any(each.bytes for each in diagnosis.inputs):
            return "The log is empty: whether anything failed cannot be told."
        last = diagnosis.run.last_iteration
        # What is cut, damaged or no log at all proves nothing about the rest.
        where = " in what was read" if any(each.problems for each in diagnosis.inputs) else ""
        return f"Nothing failed{where}{f'; the last iteration seen is {last}' if last is not None else ''}."
    if root is None:
        return _rootless(diagnosis)
    if diagnosis.verdict == "unknown":
        return root.summary
    told = _told(root)
    if diagnosis.verdict == "symptom_only":
        return f"{told}. The logs do not say why; look in {_elsewhere(diagnosis)}."
    if diagnosis.verdict == "ambiguous":
        others = ", ".join(each.title for each in diagnosis.alternatives[:3])
        return f"Either of several failures came first: {told}; or {others}."
    when = diagnosis.run.last_iteration
    dated = root.category in _NO_MOMENT or "iteration" in told  # the run may have gone on for long after it
    after = f" after iteration {when}" if when is not None and not dated else ""
    return f"{told}{after}."


def _told(root: Finding) -> str:
    text = root.summary.rstrip(". ")
    by = words.speaker(root.evidence[0]) if root.evidence else ""
    alike = sorted({each.rank for each in root.evidence if each.rank is not None})
    if root.category == "config" and len(alike) > 1:
        by = words.ranks(alike)  # which of them said it first means nothing
    return f"{text}, on {by}" if by and by not in text else text


def _rootless(diagnosis: Diagnosis) -> str:
    if not diagnosis.fallout:
        return "The job failed, and no pattern knows how; the last telling lines are shown."
    first = diagnosis.fallout[0]
    return f"The job failed: {first.title} ({words.place(first.first)}). Nothing in the log says why."


def _elsewhere(diagnosis: Diagnosis) -> str:
    root = diagnosis.root_cause
    if root is not None and root.role == "cascade" and root.category != "collective":
        return "what the same rank and its children printed before, in the other ranks' logs and in the kernel log"
    if root is not None and root.category in ("node", "host-memory", "gpu-hardware"):
        if not any(each.startswith("no kernel log") for each in diagnosis.missing):
            return "the job's own logs"
        node = root.evidence[0].node
        return f"the kernel log of {node}" if node else "the kernel log of its node"
    unheard = next((each for each in diagnosis.missing if each.startswith(("no log of rank", "no word of rank"))), None)
    if unheard is not None:
        return f"the logs of {unheard.partition(' of ')[2].partition(' (')[0]}, which are not here"
    return "the logs of the other ranks or nodes"
