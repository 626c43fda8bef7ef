"""The numbers of a run's iterations as compact arrays, and what was measured on them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import repeat
from operator import add, mul

from diagnose.classes import dataclass, field
from diagnose.read.model import Evidence

MOST = 200_000  # points of one series; beyond, neighbours are merged
RATES = ("samples_per_second", "tokens_per_second", "tflops")
METRICS = ("ms", "tflops", "tokens_per_second", "samples_per_second", "loss", "grad_norm", "skipped", "nan", "batch")
_SUMMED = ("skipped", "nan")
_LARGEST = ("loss", "grad_norm")  # a spike survives the merging, and so does NaN


@dataclass(slots=True)
class Series:
    """What one speaker's iteration lines say, a point a line; NaN where a line does not say it, or was not read."""

    form: str  # the format of the lines: megatron, nemo, deepspeed, huggingface, bar, …
    lane: str = ""  # the speaker, where several print
    rank: int | None = None
    numbers: array[int] = field(default_factory=lambda: array("q"))  # iteration numbers
    values: dict[str, array[float]] = field(default_factory=dict)  # metric -> a value a point; "ms" in milliseconds
    every: int = 1  # iteration lines that one point stands for
    derived: bool = False  # "ms" was computed from clock times, not printed
    closed: tuple[int, frozenset[str]] | None = None  # once the numbers were let go: how many, and which metrics

    def __len__(self) -> int:
        return len(self.numbers) if self.closed is None else self.closed[0]

    def close(self) -> None:
        """Let the numbers go: a job of thousands of ranks has as many series, and what was measured on them stays."""
        self.closed = len(self), frozenset(filter(self.has, self.values))
        self.numbers = array("q")
        self.values = {}

    def has(self, metric: str) -> bool:
        """Tell whether any point has this metric."""
        if self.closed is not None:
            return metric in self.closed[1]
        column = self.values.get(metric)
        return column is not None and any(not math.isnan(value) for value in column)

    @property
    def rate(self) -> str:
        """The metric that stands in for step times; "" where those are printed, or nothing does."""
        return "" if self.has("ms") else next(filter(self.has, RATES), "")

    def append(self, numbers: Sequence[int], columns: dict[str, Sequence[float]]) -> None:
        """Add points; columns that are missing count as NaN."""
        before, more = len(self.numbers), len(numbers)
        self.numbers.extend(numbers)
        for name, column in columns.items():
            if name not in self.values:
                self.values[name] = array("d", [math.nan]) * before
            self.values[name].extend(column)
        for column in self.values.values():
            if len(column) < before + more:
                column.extend(array("d", [math.nan]) * more)

    def halve(self) -> None:
        """Merge neighbouring points: means, but the larger loss and gradient norm, and the sum of what is counted.

        Where one of the two was not read, neither is the mean.
        """
        self.numbers = self.numbers[::2]
        for name, column in self.values.items():
            if len(column) % 2:
                column.append(column[-1])
            first, second = column[::2].tolist(), column[1::2].tolist()
            if name in _LARGEST:  # an infinite value, and one that is not a number, must stay visible
                merged = [a if a >= b or a != a else b for a, b in zip(first, second, strict=True)]
            elif first == second and name not in _SUMMED:
                merged = first
            else:
                merged = list(map(add, first, second))
                if name not in _SUMMED:
                    merged = list(map(mul, merged, repeat(0.5)))
            self.values[name] = array("d", merged)
        self.every *= 2


@dataclass(frozen=True, slots=True)
class Shift:
    """A step time that changed at an iteration and stayed so."""

    number: int  # the first slow iteration
    before: float  # median step time before, milliseconds (or the inverse of the rate that is printed)
    after: float  # median step time from there on
    until: int | None  # the last slow iteration, where it recovered; None: it stayed
    certainty: float  # standard deviations of the rank statistic
    evidence: Evidence
    around: tuple[Evidence, ...] = ()  # telling lines near the onset: warnings, saves, errors

    @property
    def change(self) -> float:
        """Throughput against before, in percent; negative is slower."""
        return (self.before / self.after - 1) * 100


@dataclass(frozen=True, slots=True)
class Drift:
    """A step time that grew slowly."""

    first: int  # iteration numbers between which it grew
    last: int
    before: float  # milliseconds
    after: float
    evidence: Evidence

    @property
    def change(self) -> float:
        """Throughput at the end against the beginning, in percent; negative is slower."""
        return (self.before / self.after - 1) * 100


@dataclass(frozen=True, slots=True)
class Stalls:
    """Single iterations that took much longer than their neighbours."""

    count: int
    period: int | None  # iterations from one to the next, where it is regular
    extra: float  # median of the time lost in one of them, milliseconds
    usual: float  # step time beside them, milliseconds
    share: float  # part of the run's time that they cost, 0 to 1
    numbers: tuple[int, ...]  # the first of them
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Spike:
    """A loss or gradient norm that jumped."""

    metric: str  # loss | grad_norm
    number: int
    value: float
    usual: float  # median of the iterations before
    back: bool  # it came down again
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class LossMissing:
    """Iteration lines that stopped to show a loss although nothing was skipped: how Megatron prints NaN."""

    number: int
    count: int
    grad_norm: float  # on the first such line
    evidence: Evidence
    start: int = 0  # offset of the line


@dataclass(frozen=True, slots=True)
class Steady:
    """The usual speed, after warm-up and without stalls."""

    ms: float | None  # medians
    tflops: float | None  # TFLOP/s/GPU
    tokens_per_second: float | None
    samples_per_second: float | None
    batch: float | None  # global batch size
    number: int  # the first steady iteration
    count: int
    spread: float  # robust standard deviation of the step time, as a part of the median
    evidence: Evidence  # the first steady iteration line


@dataclass(frozen=True, slots=True)
class Survey:
    """All that was measured on one series."""

    series: Series
    steady: Steady | None = None
    shift: Shift | None = None
    drift: Drift | None = None
    stalls: Stalls | None = None
    spikes: tuple[Spike, ...] = ()
    missing: LossMissing | None = None
