"""What a process says while it dies."""

from __future__ import annotations

import pytest

from diagnose.facts.dying import carried, is_dying
from tests.read.reading import tracebacks_of


@pytest.mark.parametrize(
    "line",
    [
        "wandb: Run history:",
        "[E ProcessGroupNCCL.cpp:916] [Rank 1] NCCL watchdog thread terminated with exception: CUDA error",
        "terminate called after throwing an instance of 'c10::Error'",
        "frame #3: <unknown function> + 0x1",
        "srun: error: node-1: task 0: Exited with exit code 1",
        "CUDA kernel errors might be asynchronously reported at some other API call",
        "[ERROR] 2024-05-21-11:57:54 (PID:927000, Device:3, RankID:3) ERR02200 DIST call hccl api failed.",
        "EJ0001: 2024-05-21-11:57:54.167.645 Failed to initialize the HCCP process.",
        "        Solution: Wait for 10s after killing the last training process and try again.",
    ],
)
def test_last_words(line: str) -> None:
    """Lines that are printed while a process ends are no talk."""
    assert is_dying(line)


@pytest.mark.parametrize("line", ["epoch 4 starts", "retrying in 5 s", "Evaluating the model", "step 10 loss 2.1"])
def test_talk(line: str) -> None:
    """Ordinary lines show that the process lives on."""
    assert not is_dying(line)


def test_carried() -> None:
    """What a worker raised is found in the exception that carries its traceback."""
    units = tracebacks_of(
        'Traceback (most recent call last):\n  File "/opt/train.py", line 3, in <module>\n    for x in loader:\n'
        "ValueError: Caught ValueError in DataLoader worker process 1.\n"
        'Original Traceback (most recent call last):\n  File "/opt/data.py", line 9, in read\n'
        '    raise ValueError("b")\nValueError: b\n'
    )
    found = carried(units, 0)
    assert found is not None
    assert found.line == 8
    assert carried(units, 1) is None
