"""How a verdict follows from outcome, speed and memory."""

from __future__ import annotations

import pytest

from diagnose.facts.run import Facts
from diagnose.facts.series import Steady
from diagnose.read.model import Evidence
from diagnose.reason.compare.changes import change_between, highest
from diagnose.reason.compare.model import Peak, Side
from diagnose.reason.compare.side import Measurement
from diagnose.reason.result import Run

LINE = Evidence("a.log", 1, "iteration 1")


def run(
    *, ms: float | None = None, peak: float | None = None, failed: bool = False, spread: float = 0.0
) -> Measurement:
    """Make a run of 100 iterations."""
    peaks = () if peak is None else (Peak(0, peak, peak + 5e9, LINE), Peak(1, peak / 2, None, LINE))
    verdict = "identified" if failed else "no_failure"
    side = Side("run", "run.log", verdict, "", "", "megatron-lm", None, None, peaks)  # type: ignore[arg-type]
    steady = None if ms is None else Steady(ms, None, None, None, None, 3, 100, spread, LINE)
    return Measurement(side, Run(), Facts(()), steady, frozenset(), "megatron-lm")


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (run(ms=100), run(ms=90), "better"),
        (run(ms=100), run(ms=110), "worse"),
        (run(ms=100), run(ms=100.5), "no_difference"),
        (run(ms=100, peak=6e10), run(ms=100, peak=5e10), "better"),
        (run(peak=6e10), run(peak=6.5e10), "worse"),
        (run(ms=100, failed=True), run(ms=100), "better"),
        (run(ms=100, failed=True), run(ms=130), "mixed"),
        (run(ms=100), run(ms=50, failed=True), "worse"),
        (run(ms=100, failed=True), run(ms=90, failed=True), "better"),
        (run(), run(), "unknown"),
        (run(ms=100, spread=0.5), run(ms=108, spread=0.5), "no_difference"),
    ],
)
def test_verdict(before: Measurement, after: Measurement, verdict: str) -> None:
    """A failure weighs most, then speed, then memory; what is within margin or uncertainty is no difference."""
    assert change_between(before, after, 1.0).verdict == verdict


def test_highest_rank() -> None:
    """The rank that holds most is the one that counts; allocated memory before reserved."""
    found = highest(run(peak=6e10).side)
    assert found is not None
    assert (found.rank, found.allocated) == (0, 6e10)
    assert highest(run().side) is None
