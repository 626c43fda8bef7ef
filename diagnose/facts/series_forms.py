"""The formats of iteration lines, as expressions over whole chunks: each begins with a literal, so they search fast.

Sources: as `progress_lines`. Only the fields that speed and health are judged by are read.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from diagnose.classes import dataclass
from diagnose.expressions import EXPRESSIONS

SELDOM = ("skipped", "nan", "batch")  # metrics that seldom change
_N = r"([-+]?[\d.]{1,20}(?:[eE][-+]?\d{1,3})?|[-+]?(?:nan|inf|NaN|NAN|INF)\w{0,6})"


@dataclass(frozen=True, slots=True)
class Form:
    """One format: the literal that announces it, its iteration number, and its fields."""

    name: str
    guard: bytes
    number: bytes | None  # None: the lines have no number and are counted
    fields: tuple[tuple[str, bytes, float], ...]  # metric, expression with one group, factor to the metric's unit


@dataclass(frozen=True, slots=True)
class Columns:
    """The points of one chunk."""

    numbers: Sequence[int]
    values: dict[str, Sequence[float]]


def _fields(*each: tuple[str, str, float]) -> tuple[tuple[str, bytes, float], ...]:
    return tuple((metric, text.replace("%N", _N).encode(), factor) for metric, text, factor in each)


MEGATRON = Form(
    "megatron",
    b"elapsed time per iteration (ms):",
    rb"iteration +(\d{1,15})/ *\d{1,15} *\|",
    _fields(
        ("ms", r"per iteration \(ms\): *([\d.]{1,20})", 1.0),
        ("tflops", r"TFLOP/s/GPU\): *([\d.]{1,20})", 1.0),
        ("loss", r"lm loss: *%N", 1.0),
        ("grad_norm", r"grad norm: *%N", 1.0),
        ("skipped", r"skipped iterations: *(\d{1,9})", 1.0),
        ("nan", r"nan iterations: *(\d{1,9})", 1.0),
        ("batch", r"global batch size: *(\d{1,9})", 1.0),
    ),
)
NEMO = Form(
    "nemo",
    b"train_step_timing in s: ",
    rb"iteration +(\d{1,15})/ *\d{1,15} *\|",
    _fields(
        ("ms", r"train_step_timing in s: *([\d.]{1,20}(?:[eE][-+]?\d{1,3})?)", 1000.0),
        ("tflops", r"TFLOPS_per_GPU: *%N", 1.0),
        ("loss", r"reduced_train_loss: *%N", 1.0),
        ("grad_norm", r"grad_norm: *%N", 1.0),
        ("batch", r"global_batch_size: *(\d{1,9})", 1.0),
    ),
)
STEP_TIME = Form(
    "step-time",
    b"Step Time : ",
    None,
    _fields(
        ("ms", r"Step Time : ([\d.]{1,20})s GPU", 1000.0),
        ("tflops", r"GPU utilization: ([\d.]{1,20}|nan)(?:MODEL_)?TFLOP", 1.0),
    ),
)
DEEPSPEED = Form(
    "deepspeed",
    b" iter time (s): ",
    rb"steps: (\d{1,15}) loss: ",
    _fields(
        ("ms", r"iter time \(s\): *([\d.]{1,20})", 1000.0),
        ("loss", r" loss: *%N", 1.0),
        ("samples_per_second", r"samples/sec: *([\d.]{1,20})", 1.0),
    ),
)
DEEPSPEED_RATE = Form(
    "deepspeed-rate",
    b", RunningAvgSamplesPerSec=",
    rb"/global_step=(\d{1,15}), Running",
    _fields(("samples_per_second", r"CurrSamplesPerSec=([\d.]{1,20})", 1.0)),
)
TORCHTITAN = Form(
    "torchtitan",
    b"  tps: ",
    rb"step: {1,9}(\d{1,15})\b",
    _fields(
        ("tokens_per_second", r"tps: {1,4}([\d,]{1,20})", 1.0),
        ("tflops", r"tflops: {1,4}([\d.,]{1,20})", 1.0),
        ("loss", r"loss: {1,4}%N", 1.0),
        ("grad_norm", r"grad_norm: {1,4}%N", 1.0),
    ),
)
NANOGPT = Form(
    "nanogpt",
    b", time ",
    rb"iter (\d{1,15}): loss ",
    _fields(("ms", r", time ([\d.]{1,20})ms", 1.0), ("loss", r": loss %N", 1.0)),
)
HUGGINGFACE = Form(
    "huggingface",
    b"{'loss': ",
    None,
    _fields(("loss", r"\{'loss': '?%N", 1.0), ("grad_norm", r"'grad_norm': '?%N", 1.0)),
)
FORMS = (MEGATRON, NEMO, DEEPSPEED, DEEPSPEED_RATE, TORCHTITAN, NANOGPT, HUGGINGFACE)


def columns_of(form: Form, data: bytes, *, only_times: bool = False) -> Columns | None:
    """Read all lines of one format in a chunk of whole lines; None where there are none.

    `only_times` reads the step time and the number alone, which is several times faster.
    """
    counted = EXPRESSIONS.standard(form.fields[0][1]).findall(data)
    count = len(counted)
    if not count:
        return None
    numbers = _numbers(form, data, count)
    if numbers is None:
        return _by_lines(form, data)
    values: dict[str, Sequence[float]] = {}
    for metric, expression, factor in form.fields[: 1 if only_times else None]:
        if metric in SELDOM and (same := _constant(expression, data, count)) is not None:
            values[metric] = array("d", [same * factor]) * count
            continue
        found = counted if expression is form.fields[0][1] else EXPRESSIONS.standard(expression).findall(data)
        if len(found) == count:
            values[metric] = floats(found, factor)
        elif found:
            return _by_lines(form, data)
    return Columns(numbers, values)


def _constant(expression: bytes, data: bytes, count: int) -> float | None:
    """Return the value of a field where all lines of a chunk have the same one: counting is faster than reading."""
    first = EXPRESSIONS.standard(expression).search(data)
    if first is None:
        return None
    return number_of(first[1]) if data.count(data[first.start() : first.end() + 1]) == count else None


def _numbers(form: Form, data: bytes, count: int) -> Sequence[int] | None:
    """Return the iteration numbers: reckoned where they are evenly spaced, else read; None where lines lack one."""
    if form.number is None:
        return range(count)
    if count >= 3:
        number = EXPRESSIONS.standard(form.number)
        first = number.search(data)
        second = number.search(data, first.end()) if first else None
        last = number.search(data, _last_line(data, form.guard))
        if first and second and last:
            low, step = int(first[1]), int(second[1]) - int(first[1])
            if step > 0 and int(last[1]) == low + step * (count - 1):
                return range(low, low + step * count, step)
    found = EXPRESSIONS.standard(form.number).findall(data)
    return [int(text) for text in found] if len(found) == count else None


def _last_line(data: bytes, guard: bytes) -> int:
    return data.rfind(b"\n", 0, max(0, data.rfind(guard))) + 1


def _by_lines(form: Form, data: bytes) -> Columns | None:
    """Read a chunk in which some lines lack a field or a number."""
    numbers: list[int] = []
    numbered = EXPRESSIONS.standard(form.number) if form.number else None
    fields = [(metric, EXPRESSIONS.standard(expression), factor) for metric, expression, factor in form.fields]
    values = {metric: array("d") for metric, _, _ in form.fields}
    for line in data.split(b"\n"):
        number = numbered.search(line) if numbered else None
        if form.guard not in line or (numbered and not number):
            continue
        numbers.append(int(number[1]) if number else len(numbers))
        for metric, expression, factor in fields:
            found = expression.search(line)
            values[metric].append(number_of(found[1]) * factor if found else math.nan)
    return Columns(numbers, dict(values)) if numbers else None


def floats(found: Sequence[bytes], factor: float) -> array[float]:
    """Read numbers, and bring them to their unit by a factor; what is none becomes NaN."""
    try:
        values = array("d", list(map(float, found)))  # of a list, not as they come: a quarter faster
    except ValueError:
        values = array("d", map(number_of, found))
    return values if factor == 1.0 else array("d", (value * factor for value in values))


def number_of(text: bytes) -> float:
    """Read a number; what is none becomes NaN."""
    try:
        return float(text.replace(b",", b""))
    except ValueError:
        return math.nan
