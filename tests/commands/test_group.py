"""The command group as a process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from diagnose import __version__
from tests.commands.conftest import Run


def test_version(run: Run) -> None:
    """`--version` names the program and its version."""
    outcome = run("--version")
    assert (outcome.code, outcome.out) == (0, f"diagnose {__version__}\n")


@pytest.mark.parametrize(
    "arguments", [("-h",), ("--help",), ("log", "-h"), ("explain", "-h"), ("patterns", "list", "-h")]
)
def test_help(run: Run, arguments: tuple[str, ...]) -> None:
    """-h and --help work everywhere."""
    outcome = run(*arguments)
    assert outcome.code == 0
    assert outcome.out.startswith("Usage: diagnose")


def test_start_imports_little() -> None:
    """`--version` imports neither YAML nor the engines nor the rooms."""
    code = "import sys; from diagnose.commands import main; main(['--version']); print(' '.join(sys.modules))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    slow = {"yaml", "numpy", "regex", "hyperscan", "diagnose.catalogue", "diagnose.report", "diagnose.reason.result"}
    assert loaded & slow == set()


def test_reader_that_leaves_is_no_error() -> None:
    """A closed pipe, as behind `| head -1`, ends the command quietly."""
    read, write = os.pipe()
    os.close(read)
    code = [sys.executable, "-m", "diagnose", "patterns", "list"]
    done = subprocess.run(code, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_narrow_encoding(run: Run) -> None:
    """A terminal that knows ASCII only gets the report with question marks, not an error."""
    id = run("patterns", "list").out.split()[0]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code = [sys.executable, "-m", "diagnose", "explain", id]
    done = subprocess.run(code, capture_output=True, env=environment, check=False)
    assert done.returncode == 0
    assert f"{id} ? ".encode() in done.stdout
