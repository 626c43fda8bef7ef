"""Tests of ends that a run may have: nobody to read its output, and interrupts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Write a log."""
    path = tmp_path / "a.log"
    path.write_text("RuntimeError: CUDA error: out of memory\n")
    return str(path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_output_that_is_full(log: str) -> None:
    """A standard output that takes nothing is an error in one line, and no mistake of the program."""
    with open("/dev/full", "w") as full:
        run = [sys.executable, "-m", "diagnose", log]
        done = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "diagnose: error: cannot write to standard output: No space left on device\n",
    )


@pytest.mark.skipif(os.name != "posix", reason="the shell closes it")
def test_output_that_is_closed(log: str) -> None:
    """So is one that is closed."""
    run = ["sh", "-c", 'exec "$0" -m diagnose "$1" >&-', sys.executable, log]
    done = subprocess.run(run, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (2, "diagnose: error: cannot write to standard output: it is closed\n")


@pytest.mark.parametrize("where", ["diagnose.modules.install", "diagnose.modules.Modules.keep"])
def test_interrupt_outside_of_the_answer(where: str, log: str) -> None:
    """An interrupt while modules are read or kept ends the program as any other does."""
    code = (
        "import sys\nfrom unittest.mock import patch\nfrom diagnose.commands import entry\n"
        "with patch(sys.argv[1], side_effect=KeyboardInterrupt):\n"
        "    sys.argv[1:] = sys.argv[2:]\n    sys.exit(entry())"
    )
    run = [sys.executable, "-c", code, where, log]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (130, "")
