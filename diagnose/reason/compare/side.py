"""Measures one run for a comparison: its outcome, its usual speed, its peaks, and all facts for the conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from diagnose.catalogue.condition import Seen, Unknown, size
from diagnose.catalogue.model import Catalogue
from diagnose.classes import dataclass
from diagnose.facts.model import Observation, SourceRecord
from diagnose.facts.run import Facts
from diagnose.facts.series import Steady
from diagnose.read.model import Evidence
from diagnose.reason.compare.model import Peak, Side, Speed
from diagnose.reason.diagnosis import Reasoner, reason
from diagnose.reason.result import Run
from diagnose.reason.slow.numbers import steady_of
from diagnose.reason.slow.reference import standard_error

OUT_OF_MEMORY = "cuda-oom"
_RANK = re.compile(r"\[Rank (\d{1,7})\]")
_NORMAL = 1.96  # standard errors in half of a 95 % interval


@dataclass(frozen=True, slots=True)
class Measurement:
    """A run as it is compared: what the report shows, and what only the conditions ask for."""

    side: Side
    run: Run
    facts: Facts
    steady: Steady | None
    failures: frozenset[str]  # ids and categories of the patterns that matched
    framework: str

    def known(self) -> Mapping[str, Seen]:
        """Return all facts, with `failures`."""
        found = {"failures": Seen(sorted(self.failures))}
        for space in ("config", "env", "run", "memory"):
            for key in self.facts.observations(space):
                seen = self.facts.lookup(f"{space}.{key}")
                if seen is not None:
                    found[f"{space}.{key}"] = seen
        for name in self.facts.versions():
            seen = self.facts.lookup(f"version.{name}")
            if seen is not None:
                found[f"version.{name}"] = seen
        return found


def measure(
    name: str, path: str, records: Sequence[SourceRecord], catalogue: Catalogue, given: Sequence[Observation]
) -> Measurement:
    """Measure one run.

    Arguments: a short name and the path of the run; its records; the catalogue that made them; facts that the user
    gives.
    """
    diagnosis = reason(records, catalogue, given=given)
    work = Reasoner(records, catalogue, given)
    root = diagnosis.root_cause
    failed = diagnosis.verdict not in ("no_failure", "degraded")
    side = Side(
        name=name,
        path=path,
        verdict=diagnosis.verdict,
        summary=diagnosis.summary,
        pattern=root.pattern if root else "",
        framework=work.framework,
        last_iteration=diagnosis.run.last_iteration,
        speed=_speed(steady_of(records), diagnosis.run),
        peaks=_peaks(records),
    )
    names = work.names if failed else frozenset()
    return Measurement(side, diagnosis.run, work.facts, steady_of(records), names, work.framework)


def _speed(steady: Steady | None, run: Run) -> Speed | None:
    if steady is None:
        return None
    return Speed(
        iteration_ms=steady.ms,
        tflops_per_gpu=steady.tflops,
        samples_per_second=run.throughput.get("samples_per_second"),
        tokens_per_second=run.throughput.get("tokens_per_second"),
        iterations=steady.count,
        error_percent=round(_NORMAL * standard_error(steady), 3),
        evidence=steady.evidence,
    )


def _peaks(records: Sequence[SourceRecord]) -> tuple[Peak, ...]:
    """Return the highest peaks of each rank, from memory lines and from what an out-of-memory error says."""
    found: dict[int | None, Peak] = {}
    for rank, allocated, reserved, evidence in _memory(records):
        before = found.get(rank)
        if before is None:
            found[rank] = Peak(rank, allocated, reserved, evidence)
            continue
        more = allocated is not None and (before.allocated is None or allocated > before.allocated)
        found[rank] = Peak(
            rank,
            allocated if more else before.allocated,
            max((each for each in (before.reserved, reserved) if each is not None), default=None),
            evidence if more else before.evidence,
        )
    return tuple(sorted(found.values(), key=lambda peak: (peak.rank is None, peak.rank or 0)))


def _memory(records: Sequence[SourceRecord]) -> Iterator[tuple[int | None, float | None, float | None, Evidence]]:
    for record in records:
        for seen in record.observations:
            kind = seen.key.removeprefix("memory.")
            if kind not in ("peak_allocated", "peak_reserved") or seen.evidence is None:
                continue
            if isinstance(seen.value, int | float):
                value = float(seen.value)
                pair = (value, None) if kind == "peak_allocated" else (None, value)
                yield (_rank(seen.evidence, record), *pair, seen.evidence)
        for event in record.events:
            held = size(event.captures.get("allocated", "")) if event.pattern == OUT_OF_MEMORY else None
            if held is not None and not isinstance(held, Unknown) and held > 0:
                rank = event.rank if event.rank is not None else _rank(event.evidence, record)
                yield rank, held, None, event.evidence


def _rank(evidence: Evidence, record: SourceRecord) -> int | None:
    found = _RANK.search(evidence.text[:200])
    if found:
        return int(found[1])
    return evidence.rank if evidence.rank is not None else record.rank
