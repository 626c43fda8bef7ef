"""Checkpoints, evaluations, phases and endings."""

from __future__ import annotations

from typing import Any

import pytest

from diagnose.facts.milestones import ends_well, read_milestone


@pytest.mark.parametrize(
    ("line", "kind", "number"),
    [
        ("saving checkpoint at iteration    1000 to /ckpt in torch_dist format", "save", 1000),
        (
            "  [2026-07-10 05:50:09.551201] successfully saved checkpoint from iteration    1000 to /c [ t 1/2 ]",
            "saved",
            1000,
        ),
        ("  scheduled an async checkpoint save at iteration      50 to /ckpt", "save", 50),
        ("  successfully loaded checkpoint from /ckpt [ t 1/2, p 1/4 ] at iteration 1000", "loaded", 1000),
        (" loading distributed checkpoint from /ckpt at iteration 200", "load", 200),
        ("Successfully saved checkpoint from iteration     100 to /ckpt/epoch=0-step=99", "saved", 100),
        ("Saving model checkpoint to out/checkpoint-500", "save", 500),
        ("2026-11-29 22:10:48,523 [INFO] rank1: Resuming from checkpoint at iteration 30 (restart 0)", "loaded", 30),
        (" validation loss at iteration 100 | lm loss value: 1.391200E+00 | lm loss PPL: 4.0E+00 | ", "eval", 100),
        ("Validation: iteration 1/8", "eval", 1),
        ("[exiting program at iteration 1000] datetime: 2025-11-04 03:10:00 ", "exit", 1000),
        ("[exiting program after receiving SIGTERM.] datetime: 2026-07-10 09:41:31.000001 ", "exit", None),
        ("[after dataloaders are built] datetime: 2026-04-16 05:41:02 ", "phase", None),
        ("Training completed successfully", "exit", None),
        ("`Trainer.fit` stopped: `max_epochs=3` reached.", "exit", None),
        ("{'train_runtime': 12.5, 'train_loss': 0.3}", "exit", None),
        ("|   Tasks   |Version|Filter|n-shot|  Metric   |   |Value |   |Stderr|", "eval", None),
    ],
)
def test_milestones(line: str, kind: str, number: int | None) -> None:
    """Each line gives its kind and its iteration."""
    found = read_milestone(line)
    assert found is not None
    assert found[:2] == (kind, number)


@pytest.mark.parametrize(
    "line",
    [
        "                        progress of a training done over multiple different jobs",
        "WARNING: training completed iterations could not be read",
        "No checkpoint found in /workspace/ckpt, starting from scratch",
    ],
)
def test_prose_is_none(line: str) -> None:
    """Words about training are no milestones."""
    assert read_milestone(line) is None


def test_reader_keeps_loss_and_time(log: Any) -> None:
    """An evaluation carries its loss, a phase its printed time."""
    steps = log(
        " validation loss at iteration 100 | lm loss value: 1.391200E+00 | lm loss PPL: 4.0E+00 | \n"
        "[after dataloaders are built] datetime: 2026-04-16 05:41:02 \n"
    ).milestones()
    assert steps[0].metrics == {"loss": 1.3912}
    assert steps[1].text == "after dataloaders are built"
    assert steps[1].time == 1776318062.0


@pytest.mark.parametrize(("line", "well"), [
    ("done", True),
    ("rank 0 done", True),
    ("Training completed successfully", True),
    ("2026-05-18 16:04:57,338 - root - INFO - Training completed", True),
    ("{'loss': '14.88', 'train_runtime': '110.7'}", False),
    ("{'train_runtime': '110.7', 'train_loss': '2.43'}", True),
    ("[after training is done] datetime: 2026-11-29 22:05:57", True),
    ("[exiting program after receiving SIGTERM.] datetime: 2026-07-10 09:41:31", False),
    ("building GPT model ... done with errors", False),
    ("step 3 loss 1.0", False),
])  # fmt: skip
def test_endings(line: str, well: bool) -> None:
    """A program's own last words tell whether it came to its end."""
    assert ends_well(line) is well


def test_timers(log: Any) -> None:
    """Each row of the timer table is a pair of least and most milliseconds."""
    facts = log(
        "(min, max) time across ranks (ms):\n"
        "    forward-backward ...............................: (2890.11, 2893.40)\n"
        "    optimizer ......................................: (41.20, 41.33)\n"
    ).facts()
    assert facts == {"run.timers.forward-backward": [2890.11, 2893.40], "run.timers.optimizer": [41.20, 41.33]}
