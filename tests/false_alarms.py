"""Measures how often a healthy run is called slow and known drops are found: `python -m tests.false_alarms`."""

from __future__ import annotations

import random
import sys

from diagnose.facts.trend.steps import course
from tests.runs import dropping, healthy, step_times

_DROPS, _JITTERS, _EACH = (0.05, 0.1, 0.2, 0.4), (0.01, 0.03), 300


def false_alarms(runs: int, seed: int) -> int:
    """Count the healthy runs, of so many, in which a drop or a drift is seen."""
    chance = random.Random(seed)
    alarms = 0
    for _ in range(runs):
        times = step_times(healthy(chance), chance)
        seen = course(range(1, len(times) + 1), times)
        alarms += seen.drop is not None or seen.rise is not None
    return alarms


def found_drops(runs: int, drop: float, jitter: float, seed: int) -> tuple[int, int]:
    """Count the runs with a drop in which it is found, and found within 5 iterations or 1 % of the run."""
    chance = random.Random(seed)
    found = placed = 0
    for _ in range(runs):
        run = dropping(chance, drop, jitter)
        times = step_times(run, chance)
        seen = course(range(1, len(times) + 1), times).drop
        if seen is not None:
            found += 1
            placed += abs(seen.start + 1 - run.drop_at) <= max(5, 0.01 * run.iterations)
    return found, placed


def main() -> None:
    """Print both tables."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    alarms = false_alarms(runs, 1)
    print(f"healthy runs {runs}, alarms {alarms} ({100 * alarms / runs:.2f} %)")
    for drop in _DROPS:
        for jitter in _JITTERS:
            found, placed = found_drops(_EACH, drop, jitter, 2)
            print(f"drop {drop:.0%}, jitter {jitter:.0%}: found {found}/{_EACH}, in place {placed}/{_EACH}")


if __name__ == "__main__":
    main()
