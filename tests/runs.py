"""Simulated runs: step times with jitter, tails, saves, evaluations and warm-up, and the lines that print them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

START = 1_800_000_000.0  # seconds since the epoch
GOLDEN = 709.93  # TFLOP/s/GPU, the published figure of Llama3 70B SFT on 32 H100


@dataclass(frozen=True, slots=True)
class Run:
    """What a simulated run is like."""

    iterations: int = 500
    ms: float = 700.0
    jitter: float = 0.02  # standard deviation of the logarithm
    memory: float = 0.0  # autocorrelation from one step to the next
    tail: float = 0.02  # part of the steps that take longer by an exponential amount of 15 % on average
    save: int = 0  # iterations from one save to the next, which takes up to eight more steps' time
    evaluate: int = 0  # the same for evaluations, up to three
    warm_up: int = 5
    drop_at: int = 0  # iteration at which throughput falls
    drop: float = 0.0  # part of the throughput that is lost then


def step_times(run: Run, chance: random.Random) -> list[float]:
    """Simulate the step times of a run, in milliseconds."""
    times: list[float] = []
    state = 0.0
    for number in range(1, run.iterations + 1):
        state = run.memory * state + math.sqrt(1 - run.memory**2) * chance.gauss(0, 1)
        time = run.ms * math.exp(run.jitter * state)
        if chance.random() < run.tail:
            time *= 1 + chance.expovariate(1 / 0.15)
        if run.save and number % run.save == 0:
            time *= 1 + 8 * chance.random()
        if run.evaluate and number % run.evaluate == 0:
            time *= 1 + 3 * chance.random()
        if number <= run.warm_up:
            time *= 1 + 3 / number**2 + (8 if number == 1 else 0)
        if run.drop and number >= run.drop_at:
            time /= 1 - run.drop
        times.append(time)
    return times


def healthy(chance: random.Random) -> Run:
    """Draw a healthy run: 20 to 3000 iterations, jitter of 0.3 to 5 %, autocorrelation up to 0.8, with stalls."""
    return Run(
        iterations=int(math.exp(chance.uniform(math.log(20), math.log(3000)))),
        jitter=chance.choice([0.003, 0.01, 0.02, 0.03, 0.05]),
        memory=chance.choice([0, 0, 0.3, 0.6, 0.8]),
        tail=chance.choice([0, 0.01, 0.05]),
        save=chance.choice([0, 50, 200]),
        evaluate=chance.choice([0, 100]),
        warm_up=chance.choice([1, 5, 20]),
    )


def dropping(chance: random.Random, drop: float, jitter: float) -> Run:
    """Draw a run whose throughput falls for good somewhere between 30 and 80 % of its length."""
    iterations = chance.choice([100, 200, 500, 2000])
    run = Run(iterations=iterations, jitter=jitter, memory=chance.choice([0, 0.3]), save=50)
    return replace(run, drop=drop, drop_at=int(iterations * chance.uniform(0.3, 0.8)))


def megatron_lines(
    times: Sequence[float],
    *,
    tflops: float = 700.0,
    losses: Mapping[int, float | None] | None = None,
    total: int | None = None,
    between: Mapping[int, Sequence[str]] | None = None,
) -> str:
    """Print a run as Megatron-LM 0.16 does.

    Arguments: the step times in milliseconds; the TFLOP/s/GPU of the median step; losses that differ, by iteration,
    None for one that is left out; the number of iterations that the run was to have; lines that stand before an
    iteration.
    """
    usual = sorted(times)[len(times) // 2]
    now, work = START, tflops * usual
    lines: list[str] = []
    for number, time in enumerate(times, 1):
        now += time / 1000
        lines += (between or {}).get(number, ())
        loss = (losses or {}).get(number, 6.0)
        told = "" if loss is None else f" lm loss: {loss:.6E} |"
        stamp = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S.%f}"
        lines.append(
            f" [{stamp}] iteration {number:8d}/{total or len(times):8d} | consumed samples: {number * 8:12d} |"
            f" elapsed time per iteration (ms): {time:.1f} | throughput per GPU (TFLOP/s/GPU): {work / time:.1f}"
            f" | learning rate: 1.500000E-04 | global batch size:     8 |{told} loss scale: 1.0 | grad norm: 0.420 |"
            " number of skipped iterations:   0 | number of nan iterations:   0 |"
        )
    return "\n".join(lines) + "\n"
