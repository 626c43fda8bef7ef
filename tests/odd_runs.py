"""Simulated step times of shapes that `tests.runs` does not have, to hold the thresholds against: see `make`."""

from __future__ import annotations

import math
import random

KINDS = (
    *("plain", "strong memory", "pareto", "saves", "cycle", "alternate", "every kth", "slow first epoch", "resumed"),
    *("lengths", "whole ticks", "heavy tails"),
)


def make(chance: random.Random, kind: str, count: int) -> tuple[list[int], list[float]]:
    """Simulate a healthy run of one kind: iteration numbers, and step times in milliseconds."""
    jitter = math.exp(chance.uniform(math.log(0.002), math.log(0.05)))
    memory = 0.9 if kind == "strong memory" else chance.choice([0, 0, 0.2, 0.5, 0.7])
    logs = _noise(chance, count, jitter, memory, heavy=kind == "heavy tails")
    numbers = list(range(1, count + 1))
    if kind == "resumed":
        numbers = _resumed(chance, logs)
    else:
        logs = [value + extra for value, extra in zip(logs, _shape(chance, kind, count), strict=True)]
    for at in range(min(count // 4, chance.choice([1, 3, 8, 20]))):
        logs[at] += math.log1p(chance.choice([0.3, 1, 4]) * math.exp(-at / 3))
    usual = chance.choice([35.0, 180.0, 800.0, 4200.0, 31_000.0])
    times = [usual * math.exp(value) for value in logs]
    tick = usual / chance.choice([50, 100, 300])
    return numbers, [max(tick, round(time / tick) * tick) for time in times] if kind == "whole ticks" else times


def _noise(chance: random.Random, count: int, jitter: float, memory: float, *, heavy: bool) -> list[float]:
    state, found = chance.gauss(0, 1), []
    for _ in range(count):
        shock = chance.gauss(0, 1) / (math.sqrt(max(0.05, chance.gammavariate(2, 0.5))) if heavy else 1.0)
        state = memory * state + math.sqrt(1 - memory**2) * shock
        found.append(jitter * state)
    return found


def _shape(chance: random.Random, kind: str, count: int) -> list[float]:
    """What a kind adds to the logarithm of each step time."""
    size, period = chance.uniform(0.03, 0.4), chance.choice([3, 4, 5, 8, 16, 33, 64])
    if kind == "pareto":
        return [math.log(chance.paretovariate(1.3)) if chance.random() < 0.03 else 0.0 for _ in range(count)]
    if kind == "saves":
        every, long = chance.choice([20, 25, 100, 250]), chance.choice([1, 1, 2, 3])
        return [math.log1p(20 * chance.random()) if at >= every and at % every < long else 0.0 for at in range(count)]
    if kind == "cycle":
        return [size / 3 * math.sin(2 * math.pi * at / period) for at in range(count)]
    if kind == "alternate":
        return [size * (at % 2) for at in range(count)]
    if kind == "every kth":
        return [size * (at % period == 0) for at in range(count)]
    if kind == "slow first epoch":
        return [size * (at < count // 5) for at in range(count)]
    if kind == "lengths":
        return [size * (chance.random() - 0.5) for _ in range(count)]
    return [0.0] * count


def _resumed(chance: random.Random, logs: list[float]) -> list[int]:
    """Number a run that began again from a save at half its length, with a warm-up of its own."""
    half = len(logs) // 2
    for at in range(3):
        logs[half + at] += math.log1p(5 / (at + 1) ** 2)
    again = half - chance.randrange(min(200, half))
    return [*range(1, half + 1), *range(again, again + len(logs) - half)]
