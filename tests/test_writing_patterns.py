"""Every command of docs/writing-patterns.md works, on a real log."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "writing-patterns.md"
_BLOCK = re.compile(r"(?:<!-- file: (?P<path>\S+) -->\n)?```(?P<kind>sh|text|yaml)\n(?P<body>.*?)```", re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with the log, away from the user's own patterns, and `diagnose` on the path."""
    (tmp_path / "train.log").write_bytes((ROOT / "samples/authoring/vocabulary-mismatch.log").read_bytes())
    command = tmp_path / "bin" / "diagnose"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m diagnose "$@"\n')
    command.chmod(0o755)
    return tmp_path


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run one command of the page."""
    home = str(folder / "home")
    env = os.environ | {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
        **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), home),
    }
    return subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False)


def blocks() -> Iterator[tuple[str, str, str]]:
    """Yield (kind, path of the file, body) of the page's blocks."""
    for found in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        yield found["kind"], found["path"] or "", found["body"]


@pytest.mark.slow
def test_the_page_works(folder: Path) -> None:
    """Commands exit with 0, files that the page shows are accepted, and what it quotes is printed by the last block."""
    printed = ""
    commands = 0
    for kind, path, body in blocks():
        if kind == "yaml":
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(body, encoding="utf-8")
        elif kind == "text":
            for line in body.splitlines():
                assert line.rstrip() in [each.rstrip() for each in printed.splitlines()]
        else:
            printed = ""
            for line in body.splitlines():
                outcome = shell(folder, line)
                assert (outcome.returncode, outcome.stderr) == (0, ""), f"{line}: {outcome.stdout}{outcome.stderr}"
                printed += outcome.stdout
                commands += 1
    assert commands >= 10


@pytest.mark.slow
def test_a_skeleton_is_refused_until_it_is_written(folder: Path) -> None:
    """What `patterns new` writes is matched by its own sample, and `patterns check` names every blank."""
    assert shell(folder, "diagnose patterns new train.log --line 13 --id vocabulary-mismatch").returncode == 0
    assert shell(folder, "diagnose patterns test vocabulary-mismatch").returncode == 0
    outcome = shell(folder, "diagnose patterns check .diagnose/patterns")
    assert outcome.returncode == 4
    assert outcome.stdout.count("[blanks]") == 9
