"""Numbers that went wrong: a loss that left the log, jumps of the loss and the gradient norm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from diagnose.catalogue.model import Catalogue
from diagnose.facts.model import Event, SourceRecord
from diagnose.facts.series import Spike
from diagnose.reason.incident import Incident
from diagnose.reason.slow.found import Found

LEFT_OUT = "loss-left-out"
_TOLD = "loss-nan"  # a NaN that a line shows says it better
_PATTERNS = {"loss": "loss-spike", "grad_norm": "grad-norm-jump"}


def loss_incidents(
    records: Sequence[SourceRecord], catalogue: Catalogue, known: Sequence[Incident]
) -> Iterator[Incident]:
    """Yield an incident for each log whose iteration lines stopped to show a loss: how Megatron prints NaN.

    Arguments: the records; the catalogue; the incidents that lines tell, among which a NaN loss says it better.
    """
    pattern = catalogue.patterns.get(LEFT_OUT)
    if pattern is None or any(each.pattern and each.pattern.id == _TOLD for each in known):
        return
    for index, record in enumerate(records):
        for survey in record.surveys:
            gone = survey.missing
            if gone is None or (gone.count < 2 and not math.isnan(gone.grad_norm)):
                continue
            captures = {"iteration": str(gone.number), "count": str(gone.count), "grad_norm": f"{gone.grad_norm:g}"}
            event = Event(pattern.id, 0, captures, gone.evidence, gone.start, rank=gone.evidence.rank)
            yield Incident(index, gone.start, gone.evidence, pattern, event)


def spikes(records: Sequence[SourceRecord]) -> Iterator[Found]:
    """Yield the jumps of loss and gradient norm; one that did not come back degrades the run."""
    for record in records:
        for survey in record.surveys:
            for metric, pattern in _PATTERNS.items():
                jumps = [each for each in survey.spikes if each.metric == metric]
                if jumps:
                    yield _jump(jumps, pattern)


def _jump(jumps: Sequence[Spike], pattern: str) -> Found:
    worst = next((each for each in jumps if not each.back), jumps[0])
    name = "loss" if worst.metric == "loss" else "gradient norm"
    captures = {
        "iteration": str(worst.number),
        "value": f"{worst.value:.4g}",
        "usual": f"{worst.usual:.4g}",
        "times": f"{worst.value / worst.usual:.1f}",
        "back": "yes" if worst.back else "no",
        "jumps": str(len(jumps)),
    }
    after = "It came down again within 20 iterations." if worst.back else "It did not come down again."
    why = (
        f"The {name} is {worst.value:.4g} at iteration {worst.number}; the median of the 30 iterations before is "
        f"{worst.usual:.4g}. {after}"
    )
    evidence = tuple(each.evidence for each in (worst, *(each for each in jumps if each is not worst)))
    return Found(pattern, evidence, why, captures, "medium", root=worst.metric == "loss" and not worst.back)
