"""Level changes, drift, stalls and jumps in simulated runs."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.trend.changes import level_of
from diagnose.facts.trend.losses import jumps, vanished
from diagnose.facts.trend.middle import all_positive, stride_of
from diagnose.facts.trend.steps import attempts, course, near, period_of, warm_up
from tests.false_alarms import false_alarms, found_drops
from tests.odd_runs import KINDS, make
from tests.runs import Run, step_times


def seen(run: Run, seed: int = 1):  # type: ignore[no-untyped-def]
    """Simulate a run and read its course."""
    times = step_times(run, random.Random(seed))
    return course(range(1, len(times) + 1), times)


def test_false_alarms_are_rare() -> None:
    """Of 500 healthy runs at most 2 are called slow; docs/slow-runs.md has the rate over many more."""
    assert false_alarms(500, 3) <= 2


@pytest.mark.parametrize("kind", KINDS)
def test_odd_shapes_are_healthy(kind: str) -> None:
    """Cycles, alternation, saves, slow first epochs, restarts and heavy tails: at most 1 run of 40 is called slow."""
    chance = random.Random(kind)
    alarms = 0
    for _ in range(40):
        found = course(*make(chance, kind, int(math.exp(chance.uniform(math.log(20), math.log(1500))))))
        alarms += found.drop is not None or found.rise is not None
    assert alarms <= 1


def test_strong_autocorrelation() -> None:
    """Step times that wander (autocorrelation 0.9) are no drop: at most 2 runs of 150 are called slow."""
    chance = random.Random(902)
    alarms = 0
    for _ in range(150):
        count = int(math.exp(chance.uniform(math.log(200), math.log(1000))))
        found = seen(Run(iterations=count, jitter=0.05, memory=0.9), chance.randrange(10**9))
        alarms += found.drop is not None or found.rise is not None
    assert alarms <= 2


@pytest.mark.parametrize(
    ("drop", "jitter", "least"), [(0.05, 0.01, 39), (0.05, 0.03, 34), (0.1, 0.03, 38), (0.4, 0.03, 40)]
)
def test_known_drops(drop: float, jitter: float, least: int) -> None:
    """Known drops are found within 5 iterations or 1 % of the run."""
    _, placed = found_drops(40, drop, jitter, 4)
    assert placed >= least


def test_short_run() -> None:
    """A drop of 40 % in the middle of 24 iterations is found although few points tell of it."""
    found = seen(Run(iterations=24, jitter=0.01, tail=0, warm_up=1, drop_at=13, drop=0.4))
    assert found.drop is not None
    assert found.drop.start == 12


def test_recovered_slowness() -> None:
    """A hard slow stretch that ends is told with its end."""
    times = step_times(Run(iterations=600), random.Random(5))
    times[200:400] = [time * 1.4 for time in times[200:400]]
    drop = course(range(1, 601), times).drop
    assert drop is not None
    assert abs(drop.start - 200) <= 2
    assert drop.end is not None
    assert abs(drop.end - 400) <= 2


def test_faster_is_no_drop() -> None:
    """A run that becomes faster is healthy."""
    times = step_times(Run(iterations=400), random.Random(5))
    times[:200] = [time * 1.3 for time in times[:200]]
    assert course(range(1, 401), times).drop is None


def test_drift_is_no_drop() -> None:
    """A step time that grows by a fifth from beginning to end is a drift."""
    times = step_times(Run(iterations=800), random.Random(6))
    found = course(range(1, 801), [time * (1 + 0.2 * at / 800) for at, time in enumerate(times)])
    assert found.drop is None
    assert found.rise is not None
    assert found.rise.after / found.rise.before == pytest.approx(1.18, abs=0.03)


def test_stalls_and_their_period() -> None:
    """Iterations that take ten times as long every 40 iterations are stalls with that period, and no drop."""
    times = step_times(Run(iterations=800, tail=0), random.Random(7))
    times[39::40] = [time * 10 for time in times[39::40]]
    found = course(range(1, 801), times)
    assert found.drop is None
    assert found.slow is not None
    assert found.slow.period == 40
    assert len(found.slow.places) == 20
    assert found.slow.share == pytest.approx(0.18, abs=0.02)


def test_warm_up_and_restart() -> None:
    """The first iterations of every attempt are left out, and a restart is no drop."""
    one = step_times(Run(iterations=200, warm_up=12), random.Random(8))
    two = step_times(Run(iterations=200, warm_up=12), random.Random(9))
    numbers = [*range(1, 201), *range(101, 301)]
    assert attempts(numbers) == [0, 200]
    assert 1 <= warm_up(one) <= 12
    found = course(numbers, one + two)
    assert found.drop is None
    assert 0 not in found.steady
    assert 200 not in found.steady


def test_drop_at_a_restart() -> None:
    """A second attempt that is slower is a drop at its beginning."""
    run = Run(iterations=200)
    slow = step_times(replace(run, ms=800.0), random.Random(9))
    drop = course([*range(1, 201), *range(201, 401)], step_times(run, random.Random(8)) + slow).drop
    assert drop is not None
    assert 200 <= drop.start <= 215


def test_periods() -> None:
    """The period is the distance that most neighbours share, also where one stall is missing."""
    assert period_of([100, 200, 400, 500, 600]) == 100
    assert period_of([3, 17, 92, 101]) is None
    assert near([101, 201, 350], [100, 200, 300]) == 2


def test_loss_jumps() -> None:
    """A loss that doubles for good, a spike that comes back, and nothing in ordinary noise."""
    chance = random.Random(10)
    loss = [3 + 0.05 * chance.gauss(0, 1) for _ in range(400)]
    assert jumps(loss, "loss") == []
    spiked = [*loss]
    spiked[250] = 9.0
    assert [(each.place, each.back) for each in jumps(spiked, "loss")] == [(250, True)]
    diverged = loss[:300] + [value * 2 for value in loss[300:]]
    assert [(each.place, each.back) for each in jumps(diverged, "loss")[:1]] == [(300, False)]


def test_falling_loss_is_no_jump() -> None:
    """A loss that falls from 11 to 2, with noise, has no jump."""
    chance = random.Random(11)
    assert jumps([2 + 9 * math.exp(-at / 60) + 0.3 * chance.random() for at in range(500)], "loss") == []


def test_jumps_of_any_size() -> None:
    """Values at the ends of what can be written, and values that are none, break nothing."""
    wild = [1e308, 5e-324, math.inf, math.nan, -1.0, 0.0] * 40
    assert len(jumps(wild, "loss")) <= 3
    assert len(jumps([1e-300] * 100 + [1e300] * 100, "grad_norm")) == 1


def test_thinning_sees_both_of_two_levels() -> None:
    """Of very many points a part is taken with a prime step, so that alternating steps are both seen."""
    assert [stride_of(count, 10) for count in (5, 10, 11, 25, 35, 100)] == [1, 1, 3, 3, 5, 11]
    assert level_of([1.0, 3.0] * 10_001) == 2.0


def test_all_positive() -> None:
    """One zero, NaN or infinite value is enough."""
    assert all_positive([1.0, 2.0])
    assert not any(all_positive([1.0, bad]) for bad in (0.0, -1.0, math.nan, math.inf))
    assert not all_positive([])


def test_vanished_loss() -> None:
    """The first line without a loss counts, unless a loss comes back or the iteration was skipped."""
    nan = math.nan
    assert vanished([3.0, 3.0, nan, nan], [0, 0, 0, 0]) == 2
    assert vanished([3.0, nan, 3.0], [0, 0, 0]) is None
    assert vanished([3.0, nan, nan], [0, 1, 1]) is None
    assert vanished([nan, nan], [0, 0]) is None


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.floats(1e-6, 1e9), max_size=60))
def test_any_times(times: list[float]) -> None:
    """Any step times above zero give a course, whose points exist."""
    found = course(range(len(times)), times)
    assert all(0 <= at < len(times) for at in found.steady)
