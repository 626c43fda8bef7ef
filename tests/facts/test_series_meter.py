"""Reading the numbers of iteration lines off whole chunks."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.series import Series
from diagnose.facts.series_forms import Columns
from diagnose.facts.series_meter import SeriesMeter, _means
from tests.runs import Run, megatron_lines, step_times


def read(text: str, size: int = 50_000) -> list[Series]:
    """Feed a text in chunks of whole lines."""
    meter, data, offset, line = SeriesMeter(), text.encode(), 0, 1
    while offset < len(data):
        end = data.rfind(b"\n", offset, offset + size) + 1 or len(data)
        meter.feed(data[offset:end], offset, line)
        line += data.count(b"\n", offset, end)
        offset = end
    return meter.series()


def test_megatron_lines() -> None:
    """Every field of every Megatron-LM line is read, over chunk borders."""
    times = step_times(Run(iterations=700), random.Random(1))
    (series,) = read(megatron_lines(times, losses={300: None, 301: math.nan}))
    assert list(series.numbers) == list(range(1, 701))
    assert series.values["ms"].tolist() == [float(f"{time:.1f}") for time in times]
    assert series.values["batch"].tolist() == [8.0] * 700
    assert set(series.values["skipped"]) == {0.0}
    assert math.isnan(series.values["loss"][299])
    assert math.isnan(series.values["loss"][300])
    assert series.values["loss"][301] == 6.0


@pytest.mark.parametrize(
    ("form", "lines", "expected"),
    [
        (
            "megatron",
            " iteration {n:8d}/  500000 | consumed samples: 25600 | elapsed time per iteration (ms): 563{n}.1 |"
            " learning rate: 4.000E-07 | global batch size:   256 | lm loss: 1.021530E+01 | grad norm: 6.895 |"
            " number of skipped iterations:   0 | number of nan iterations:   0 |\n",
            {"ms": 5631.1, "loss": 10.2153, "grad_norm": 6.895, "batch": 256.0},
        ),
        (
            "megatron",
            "Step Time : 3.05s GPU utilization: 70{n}.2MODEL_TFLOP/s/GPU\n"
            " [2026-05-06 11:20:05] iteration {n:8d}/      50 | consumed samples: 320 |"
            " elapsed time per iteration (ms): 3050.4 |"
            " learning rate: 5.000000E-06 | global batch size:    32 | lm loss: 1.483921E+00 |\n",
            {"ms": 3050.4, "tflops": 701.2},
        ),
        ("step-time", "Step Time : 3.{n}5s GPU utilization: 704.2TFLOP/s/GPU\n", {"ms": 3150.0, "tflops": 704.2}),
        (
            "nemo",
            "Training epoch 0, iteration {n}/99 | lr: 1.35e-06 | global_batch_size: 32 | global_step: {n} |"
            " reduced_train_loss: 10.31 | train_step_timing in s: 3.051 | consumed_samples: 320\n",
            {"ms": 3051.0, "loss": 10.31, "batch": 32.0},
        ),
        (
            "deepspeed",
            "steps: {n} loss: 2.5{n}00 iter time (s): 0.510 samples/sec: 62.701\n",
            {"ms": 510.0, "loss": 2.51, "samples_per_second": 62.701},
        ),
        (
            "deepspeed-rate",
            "[2025-01-01 10:00:00,123] [INFO] [timer.py:264:stop] epoch=0/micro_step={n}/global_step={n},"
            " RunningAvgSamplesPerSec=61.0, CurrSamplesPerSec=62.5, MemAllocated=1.0GB, MaxMemAllocated=2.0GB\n",
            {"samples_per_second": 62.5},
        ),
        (
            "torchtitan",
            "[titan] 2025-01-01 10:00:00 - root - INFO - step: {n:2d}  loss:  8.1{n}00  grad_norm:  1.2000  memory: "
            "40.0GiB(50.0%)  tps: 5,012  tflops: 200.31  mfu: 20.1%\n",
            {"tokens_per_second": 5012.0, "tflops": 200.31, "loss": 8.11, "grad_norm": 1.2},
        ),
        ("nanogpt", "iter {n}: loss 3.2{n}00, time 120.50ms, mfu 30.1%\n", {"ms": 120.5, "loss": 3.21}),
        (
            "huggingface",
            "{{'loss': 2.{n}, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': 0.01}}\n",
            {"loss": 2.1, "grad_norm": 1.5},
        ),
    ],
)
def test_formats(form: str, lines: str, expected: dict[str, float]) -> None:
    """The first line of each format gives its numbers in milliseconds, TFLOP/s/GPU and samples."""
    series = read("".join(lines.format(n=number) for number in range(1, 10)))[0]
    assert series.form == form
    assert list(series.numbers) == list(range(1, 10))
    assert {name: pytest.approx(series.values[name][0]) for name in expected} == expected


def test_bars_by_the_clock() -> None:
    """A progress bar has no step time but an elapsed time; a point is made where enough of it has passed."""
    bars = "".join(
        f"\rEpoch 0: {step // 5:3d}%|#    | {step}/500 [{step * 2 // 60:02d}:{step * 2 % 60:02d}<10:00,  2.00s/it]"
        for step in range(1, 400)
    )
    series = read(bars + "\n")[0]
    assert series.form == "bar"
    assert series.derived
    assert set(series.values["ms"]) == {2000.0}
    assert len(series) > 20


def test_a_loading_bar_is_no_training() -> None:
    """Bars of downloads, maps and validation are left out."""
    bars = "".join(f"\rMap: {n}%|#  | {n}/100 [00:{n:02d}<01:00, 1.00it/s]" for n in range(1, 59))
    assert read(bars + "\n") == []


def test_stamped_lines() -> None:
    """Lines of a hand-written loop give step times by their stamps, over midnight too."""
    lines = ""
    for step in range(100):
        second = 86000 + step * 10
        hour, minute = second // 3600 % 24, second // 60 % 60
        lines += f"2026-01-01 {hour:02d}:{minute:02d}:{second % 60:02d} INFO step {step} loss 2.5 lr 0.1\n"
    series = read(lines)[0]
    assert {value for value in series.values["ms"] if not math.isnan(value)} == {10_000.0}


def test_ranks_are_told_apart() -> None:
    """Where every rank prints its iterations, each gets its own series."""
    line = "[rank{rank}]: steps: {step} loss: 2.5 iter time (s): 0.{rank}10 samples/sec: 62.7\n"
    text = "".join(line.format(rank=rank, step=step) for step in range(1, 30) for rank in range(1, 5))
    found = read(text)
    assert len(found) == 4
    assert sorted(series.values["ms"][0] for series in found) == [110.0, 210.0, 310.0, 410.0]


def test_many_points_are_merged() -> None:
    """Beyond 200,000 points neighbours are merged: the mean step time, but the largest loss."""
    meter, lines = SeriesMeter(), b""
    for start in range(0, 240_000, 4000):
        lines = b"".join(
            b"steps: %d loss: %d.0 iter time (s): 0.5 samples/sec: 1\n" % (number, 9 if number == 1234 else 2)
            for number in range(start, start + 4000)
        )
        meter.feed(lines, start * 100, start + 1)
    (series,) = meter.series()
    assert series.every == 2
    assert len(series) == 120_000
    assert set(series.values["ms"]) == {500.0}
    assert max(series.values["loss"]) == 9.0


def test_step_times_of_thin_chunks_are_merged_at_once() -> None:
    """Means of so many lines are made, also of a number of lines that is no multiple of it."""
    found = _means(Columns(range(10, 17), {"ms": [1.0, 3.0, 5.0, 7.0, 2.0, 4.0, 6.0]}), 4)
    assert list(found.numbers) == [10, 14]
    assert list(found.values["ms"]) == [4.0, 4.5]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                b"iteration ",
                b" 12/ 20 |",
                b"elapsed time per iteration (ms): ",
                b"5.5",
                b"nan",
                b"|",
                b"\n",
                b"\r",
                b"lm loss: ",
                b"steps: 3 loss: ",
                b" iter time (s): ",
                b"{'loss': ",
                b"Step Time : ",
                b"s GPU",
                b"| 3/9 [00:01<00:02, 1.0it/s]",
                b"12:00:00 step 3 loss 2.5",
                b"\xff\x00",
                b"  tps: ",
                b"9" * 40,
            ]
        ),
        max_size=60,
    )
)
def test_any_bytes(parts: list[bytes]) -> None:
    """No bytes break it, and every column is as long as the numbers."""
    meter = SeriesMeter()
    meter.feed(b"".join(parts), 0, 1)
    for series in meter.series():
        assert all(len(column) == len(series) for column in series.values.values())
