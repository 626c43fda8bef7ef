"""What may not be read is not read, whatever leads there and whenever it is swapped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import diagnose

_WAYS = """
import io, json, os, sys
from diagnose.deliver.confinement import Confinement
from diagnose.deliver.serve.guard import Roots
root, outside = sys.argv[1:]
sys.path.append(os.path.dirname(root))
confinement = Confinement(Roots([root]).judge, [root, outside])
def can(what):
    try:
        what()
        return True
    except PermissionError:
        return False
tries = [
    lambda: open(root + "/in").close(),
    lambda: os.close(os.open(root + "/in", os.O_RDONLY)),
    lambda: os.listdir(root),
    lambda: [list(os.scandir(root)), list(os.walk(root))],
    lambda: open(outside),
    lambda: open(outside.encode()),
    lambda: open(root + "/link"),
    lambda: open(root + "/up/out"),
    lambda: os.open(outside, os.O_RDONLY),
    lambda: os.open("in", os.O_RDONLY, dir_fd=3),
    lambda: os.open(root + "/inner", os.O_RDONLY | os.O_NOFOLLOW),
    lambda: os.listdir("/"),
    lambda: os.scandir(root + "/up"),
    lambda: os.scandir(),
    lambda: os.system("true"),
    lambda: open(root + "/pipe"),
    lambda: os.open(root + "/pipe", os.O_RDONLY),
    lambda: open(root + "/null"),
    lambda: open(root + "/in", "w"),
    lambda: open(root + "/new", "x"),
    lambda: open(root + "/in", opener=os.open),
    lambda: os.open(root + "/in", os.O_RDWR),
    lambda: io.FileIO(root + "/in"),
    lambda: io.open_code(root + "/in"),
]
with confinement.on():
    answers = [can(each) for each in tries]
print(json.dumps([*answers, can(lambda: open(outside).close())]))
"""

_RACE = """
import os, sys, threading, time
from diagnose.deliver.confinement import Confinement
from diagnose.deliver.serve.guard import Roots
root, outside = sys.argv[1:]
pid = os.fork()
if not pid:
    turn = 0
    while os.getppid() != 1:
        turn += 1
        target = (root + "/in", outside)[turn % 2]
        os.symlink(target, root + "/next")
        os.replace(root + "/next", root + "/log")
        up = (root + "/folder", os.path.dirname(outside))[turn % 2]
        os.symlink(up, root + "/next")
        os.replace(root + "/next", root + "/sub")
def by_descriptor():
    fd = os.open(root + "/log", os.O_RDONLY)
    with open(fd) as file:
        return file.read()
read, refused, names = set(), 0, set()
with Confinement(Roots([root]).judge, [root]).on():
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        for way in (lambda: open(root + "/log").read(), by_descriptor,
                    lambda: names.update(os.listdir(root + "/sub")) or "x"):
            try:
                read.add(way())
            except PermissionError:
                refused += 1
            except FileNotFoundError:
                pass
os.kill(pid, 9)
print(sorted(read), refused > 0, sorted(names))
"""


def _folder(tmp_path: Path) -> tuple[str, str]:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "in").write_text("x")
    (root / "folder" / "inside").write_text("x")
    (tmp_path / "out").write_text("secret")
    return str(root), str(tmp_path / "out")


def test_every_way_of_opening_is_confined(tmp_path: Path) -> None:
    """Names, bytes, links, `..`, pipes, devices, lists, programs: only the root is open, and only for reading."""
    root, outside = _folder(tmp_path)
    for name, target in (("link", outside), ("up", str(tmp_path)), ("null", "/dev/null"), ("inner", root + "/in")):
        os.symlink(target, f"{root}/{name}")
    os.mkfifo(f"{root}/pipe")
    command = [sys.executable, "-c", _WAYS, root, outside]
    # A folder on Python's path is the program's own, and the one with the sources may be.
    environment = {**os.environ, "PYTHONPATH": str(Path(diagnose.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, cwd="/", env=environment)
    assert json.loads(done.stdout) == [*[True] * 4, *[False] * 20, True]


def test_links_that_change_all_the_time(tmp_path: Path) -> None:
    """While another process turns a file and a folder into links to the outside and back, nothing outside is read."""
    root, outside = _folder(tmp_path)
    command = [sys.executable, "-c", _RACE, root, outside]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "['x'] True ['inside']\n"
