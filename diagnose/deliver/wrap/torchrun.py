"""Finds the logs that torchrun writes beside the job's own output."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

_LAUNCHER = re.compile(r"(?:^|/)torchrun$|^torch\.distributed\.(?:run|launch)$|(?:^|/)accelerate$")
_OPTION = re.compile(r"--log[-_]dir(?:=(.*))?$")
_SLACK = 2.0  # seconds between the clocks of this machine and of a file server


def torchrun_logs(command: Sequence[str], started: float, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return what a torchrun in `command` has written since `started` (seconds since the epoch).

    That is the folders below its `--log-dir` that are new, and $TORCHELASTIC_ERROR_FILE.
    """
    found: list[str] = []
    folder = log_dir(command)
    if folder and os.path.isdir(folder):
        found += _fresh(folder, started)
    error_file = environment.get("TORCHELASTIC_ERROR_FILE", "")
    if error_file and _modified(error_file) >= started - _SLACK and os.path.isfile(error_file):
        found.append(error_file)
    return found


def log_dir(command: Sequence[str]) -> str:
    """Return the folder that the command gives torchrun for its logs, "" where it gives none."""
    if not any(_LAUNCHER.search(word) for word in command):
        return ""
    for number, word in enumerate(command):
        match = _OPTION.match(word)
        if match:
            return match[1] if match[1] is not None else "".join(command[number + 1 : number + 2])
    return ""


def _fresh(folder: str, started: float) -> list[str]:
    """Every run has a folder of its own there; earlier runs must not be taken for this one."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    paths = [os.path.join(folder, name) for name in names]
    return [path for path in paths if os.path.isdir(path) and _modified(path) >= started - _SLACK]


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
