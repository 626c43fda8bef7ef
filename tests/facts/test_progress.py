"""The progress meter."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.progress import FIRST, LAST, LAST_ALONE, ProgressMeter

LINE = (
    " [2026-07-10 05:46:31] iteration {n}/ 9999 | consumed samples: 1 | "
    "elapsed time per iteration (ms): 5.0 | lm loss: 1.0 |\n"
)


def test_first_and_last_lines_are_kept_with_their_places(log: Any) -> None:
    """Thousands of lines are counted; the first and the last are kept, with line numbers."""
    made = log("head\n" + "".join(LINE.format(n=n) + "noise\n" for n in range(1, 3001)))
    steps = made.steps()
    assert made.meter.count == 3000
    assert len(steps) == FIRST + LAST_ALONE
    assert [step.number for step in steps[:2]] == [1, 2]
    assert steps[-1].number == 3000
    assert steps[-1].evidence.line == 6000
    assert steps[0].evidence.line == 2
    assert steps[0].time is not None


def test_chunks_full_of_lines_are_read_at_the_end() -> None:
    """A chunk that is full of iteration lines is counted, and cut into lines only when they are asked for."""
    meter = ProgressMeter()
    offset = 0
    for chunk in range(4):
        data = "".join(LINE.format(n=n) for n in range(chunk * 1000, chunk * 1000 + 1000)).encode()
        meter.feed(data, offset, 1 + chunk * 1000)
        offset += len(data)
    assert meter.count == 4000
    assert [mark.number for mark in meter._first] == list(range(1, FIRST + 1))
    assert [mark.number for mark in meter._late(LAST)] == list(range(4001 - LAST, 4001))
    assert [mark.number for mark in meter._late(3)] == [3998, 3999, 4000]


def test_bridge_throughput_line_joins_its_iteration(log: Any) -> None:
    """`Step Time` is printed before the iteration line and belongs to it; at the end of a cut log it stands alone."""
    time = "Step Time : 3.05s GPU utilization: 704.2MODEL_TFLOP/s/GPU\n"
    steps = log(time + LINE.format(n=10) + time).steps()
    assert [(step.number, step.metrics.get("tflops")) for step in steps] == [(10, 704.2), (None, 704.2)]


def test_bars_between_carriage_returns(log: Any) -> None:
    """Every state of a bar is a step of its own."""
    bar = "Epoch 0: {p}%|#         | {n}/100 [00:01<00:09, 9.9it/s, loss=1.{n}]"
    steps = log("\r".join(bar.format(p=n, n=n) for n in (1, 2, 3)) + "\nRuntimeError: x\n").steps()
    assert [step.number for step in steps] == [1, 2, 3]
    assert steps[2].metrics["loss"] == 1.3


def test_prefixes_give_rank_and_lane(log: Any) -> None:
    """A step knows who said it."""
    steps = log("[rank3]:step 1/5 loss=2.0\n").steps()
    assert steps[0].evidence.rank == 3
    assert steps[0].lane


def test_chunks_may_repeat_their_end() -> None:
    """A line that two chunks share is kept once."""
    meter = ProgressMeter()
    line = LINE.format(n=1).encode()
    meter.feed(line, 0, 1)
    meter.feed(line, 0, 1)
    assert len(meter._first) == 1


@settings(derandomize=True, max_examples=100)
@given(st.lists(st.binary(max_size=60) | st.sampled_from([b"step 1 loss 2\n", LINE.encode(), b"\r", b"{'loss': 1}\n"])))
def test_any_bytes(pieces: list[bytes]) -> None:
    """No bytes crash the meter."""
    meter = ProgressMeter()
    meter.feed(b"".join(pieces), 0, 1)
    assert meter.count >= len(meter._first)


def test_more_lines_are_kept_where_ranks_speak(log: Any) -> None:
    """Where lines bear ranks' labels, the last of very many of them are read: each rank has its own."""
    steps = log("".join(f"[rank{n % 64}]:{LINE.format(n=n)}" for n in range(1, 3001))).steps()
    assert len(steps) == FIRST + LAST
