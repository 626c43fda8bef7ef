"""Pieces of logs, as people put them into reports."""

from __future__ import annotations

import pytest

from tests.conftest import Diagnose
from tests.reason.words import traceback

BAR = "  0%|          | 0/1500 [00:02<?, ?it/s]\n"


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("ValueError: Attempting to unscale FP16 gradients.", "gradient-scaler-misuse"),
        ("CUDA error: no kernel image is available for execution on the device", "cuda-no-kernel-image"),
    ],
)
def test_one_line(diagnose_logs: Diagnose, line: str, pattern: str) -> None:
    """One line of a known failure is enough, with its type or without."""
    diagnosis = diagnose_logs({"train.log": line + "\n"})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == pattern


def test_unknown_exception_without_a_head(diagnose_logs: Diagnose) -> None:
    """An exception that nobody knows is shown, though the head of its traceback was cut off."""
    log = '  File "/opt/net.py", line 7, in call\n    raise GearError("stuck")\nnet.gears.GearError: stuck\n'
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.verdict == "unknown"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].text == "net.gears.GearError: stuck"


def test_cut_out_inside_the_first_traceback(diagnose_logs: Diagnose) -> None:
    """What stands above the launcher's own traceback is the failure."""
    log = '  File "/opt/net.py", line 7, in call\n    raise GearError("stuck")\nnet.gears.GearError: stuck\n'
    launcher = traceback("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", file="/opt/torchrun")
    diagnosis = diagnose_logs({"train.log": log + launcher})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].line == 3


def test_bar_that_stands_at_nothing(diagnose_logs: Diagnose) -> None:
    """A progress bar that is drawn once more at nothing done shows no progress."""
    diagnosis = diagnose_logs({"train.log": "ValueError: Attempting to unscale FP16 gradients.\n" + BAR})
    assert diagnosis.verdict == "identified"


def test_failure_glued_to_a_bar(diagnose_logs: Diagnose) -> None:
    """A line that is glued to a progress bar is not followed by that bar."""
    glued = (
        BAR.rstrip("\n") + "[2026-04-02 20:03:17,825] torch.distributed.elastic.multiprocessing.api: [ERROR] failed "
    )
    diagnosis = diagnose_logs(
        {"train.log": glued + "(exitcode: -11) local_rank: 0 (pid: 160) of binary: /opt/python\n"}
    )
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "process-segfault"


def test_talk_after_the_main_module_was_left(diagnose_logs: Diagnose) -> None:
    """An exception that left the main module ended its process, whatever other words stand behind it."""
    talk = "uploading the log\nclosing the pool\nremoving the lock\nbye\n"
    diagnosis = diagnose_logs({"train.log": traceback("KeyError: 'labels'") + talk})
    assert diagnosis.verdict == "identified"


def test_exception_inside_another_ones_message(diagnose_logs: Diagnose) -> None:
    """The exception that a compiler's backend raised is known by its own words."""
    final = (
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
        "ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler' (/opt/triton/compiler.py)"
    )
    diagnosis = diagnose_logs({"train.log": traceback(final)})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].text.startswith("ImportError")


def test_worker_of_a_data_loader(diagnose_logs: Diagnose) -> None:
    """The evidence is what the worker raised, not the exception that carries it."""
    inner = traceback(
        "RuntimeError: stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1"
    )
    log = traceback("RuntimeError: Caught RuntimeError in DataLoader worker process 0.") + "Original " + inner
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert "equal size" in diagnosis.root_cause.evidence[0].text


def test_the_first_of_several_lines_of_a_message(diagnose_logs: Diagnose) -> None:
    """Of a message that a report quotes without its head, the first line is shown."""
    line = "\tsize mismatch for layers.{}.weight: copying a param with shape torch.Size([8, 4]) from checkpoint, "
    line += "the shape in current model is torch.Size([9, 4]).\n"
    diagnosis = diagnose_logs({"train.log": "".join(line.format(number) for number in range(3))})
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.pattern, diagnosis.root_cause.evidence[0].line) == ("state-dict-mismatch", 1)
