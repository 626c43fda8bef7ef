"""Whatever name leads out of the roots, nothing there is opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.deliver.serve.guard import RefusedError, Roots

_PROBE = """
import json, os, sys
from diagnose.deliver.serve.guard import Confinement, Roots
root, outside = sys.argv[1:]
confinement = Confinement(Roots([root]))
def can(what):
    try:
        what()
        return True
    except PermissionError:
        return False
tries = [
    lambda: open(root + "/in").close(),
    lambda: open(outside),
    lambda: open(outside.encode()),
    lambda: open(root + "/link"),
    lambda: open(root + "/../out"),
    lambda: os.open(outside, os.O_RDONLY),
    lambda: os.listdir(root + "/.."),
    lambda: os.scandir(root + "/up"),
    lambda: os.system("true"),
    lambda: open(root + "/pipe"),
    lambda: os.listdir(root),
]
with confinement.on():
    answers = [can(each) for each in tries]
print(json.dumps([*answers, can(lambda: open(outside).close())]))
"""


def test_every_way_of_opening_is_confined(tmp_path: Path) -> None:
    """Names, bytes, links, `..`, descriptors, pipes, lists and programs: only the root is open, only for the block."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "in").write_text("x")
    (tmp_path / "out").write_text("x")
    (root / "link").symlink_to(tmp_path / "out")
    os.mkfifo(root / "pipe")
    (root / "up").symlink_to(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, str(root), str(tmp_path / "out")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [True, *[False] * 9, True, True]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(parts=st.lists(st.sampled_from(["..", ".", "a", "", "*", "b\0", "~", "a/../..", "\ud800", "link"]), max_size=6))
def test_no_path_gets_out(tmp_path_factory: object, parts: list[str]) -> None:
    """Any mixture of parts is refused or resolves below the root."""
    root = str(Path(__file__).parent)
    try:
        real = Roots([root]).check("/".join([root, *parts]))
    except RefusedError:
        return
    assert real == root or real.startswith(root + "/")
    assert ".." not in real.split("/")
