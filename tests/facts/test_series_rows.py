"""Reading chunks of iteration lines with one expression that is learnt from the first line."""

from __future__ import annotations

import math
import random

import pytest

from diagnose.facts.series_forms import MEGATRON, NEMO, columns_of
from diagnose.facts.series_rows import Rows
from tests.runs import Run, megatron_lines, step_times

NEMO_LINE = (
    "Training epoch 0, iteration {n}/99 | lr: 1.35e-06 | global_batch_size: 32 | global_step: {n} |"
    " reduced_train_loss: 10.{n} | train_step_timing in s: 3.0{n}\n"
)


def lines(**options: object) -> bytes:
    """A chunk of Megatron-LM lines with others between them."""
    times = step_times(Run(iterations=60), random.Random(3))
    between = {number: ["[rank3]: | a line | with bars: 5 |", "NCCL INFO x"] for number in (5, 20, 21)}
    return megatron_lines(times, between=between, **options).encode()  # type: ignore[arg-type]


def test_same_as_field_by_field() -> None:
    """What one expression a line reads is what one expression a field reads."""
    found, slow = Rows().read(MEGATRON, lines()), columns_of(MEGATRON, lines())
    assert found is not None
    assert slow is not None
    assert list(found.numbers) == list(slow.numbers) == list(range(1, 61))
    assert {name: list(column) for name, column in found.values.items()} == {
        name: list(column) for name, column in slow.values.items()
    }


def test_last_field_without_a_bar() -> None:
    """NeMo 2 prints no bar behind the last field."""
    found = Rows().read(NEMO, "".join(NEMO_LINE.format(n=n) for n in range(1, 8)).encode())
    assert found is not None
    assert [round(value) for value in found.values["ms"]] == [3010 + 10 * at for at in range(7)]
    assert found.values["loss"][0] == 10.1


def test_layout_that_changes() -> None:
    """Between chunks a layout may change; within one it may not, and then another must read."""
    rows = Rows()
    assert rows.read(MEGATRON, lines()) is not None
    without = lines().replace(b" loss scale: 1.0 |", b"")
    found = rows.read(MEGATRON, without)
    assert found is not None
    assert set(found.values["grad_norm"]) == {0.42}
    assert rows.read(MEGATRON, lines() + without) is None
    assert rows.read(MEGATRON, lines(losses={7: None})) is None


@pytest.mark.parametrize(
    ("chunk", "why"),
    [
        (lines()[:500], "too few lines"),
        (lines().replace(b"(ms): ", b"(ms): about "), "words before the number"),
        (b"elapsed time per iteration (ms): 5.0\n" * 20, "no iteration number"),
        (b"iteration 1/ 2 | elapsed time per iteration (ms): 5 |" + b" x |" * 100 + b"\n", "too many fields"),
    ],
)
def test_not_learnt(chunk: bytes, why: str) -> None:
    """Lines of another build are left to the slower reader."""
    assert Rows().read(MEGATRON, chunk) is None, why


def test_a_number_that_is_none() -> None:
    """A value that cannot be read is NaN, and the others stay."""
    chunk = lines(losses={9: math.nan}) + lines().replace(b"0.420", b"0.4?0", 3)
    found = Rows().read(MEGATRON, chunk)
    assert found is not None
    assert math.isnan(found.values["loss"][8])
    assert [at for at, value in enumerate(found.values["grad_norm"]) if math.isnan(value)] == [60, 61, 62]
    assert Rows().read(MEGATRON, chunk.replace(b"0.420", b"0.4?0", 1)) is None
