"""The logs that torchrun writes are found."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from diagnose.deliver.wrap.torchrun import log_dir, torchrun_logs


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("torchrun --log-dir logs train.py", "logs"),
        ("/opt/bin/torchrun --nproc-per-node 8 --log_dir=/x train.py", "/x"),
        ("python -m torch.distributed.run --log-dir=a train.py", "a"),
        ("python train.py --log-dir logs", ""),
        ("torchrun train.py", ""),
        ("torchrun --log-dir", ""),
    ],
)
def test_log_dir(command: str, folder: str) -> None:
    """Both spellings of torchrun's option are known; an option of the same name without torchrun is not torchrun's."""
    assert log_dir(command.split()) == folder


def test_error_file(tmp_path: Path) -> None:
    """The error file that the environment names is read if this run wrote it."""
    path = tmp_path / "error.json"
    path.write_text("{}")
    environment = {"TORCHELASTIC_ERROR_FILE": str(path)}
    assert torchrun_logs(["python"], time.time(), environment) == [str(path)]
    os.utime(path, (1, 1))
    assert torchrun_logs(["python"], time.time(), environment) == []
    assert torchrun_logs(["torchrun", "--log-dir", str(tmp_path / "none")], 0, {}) == []
