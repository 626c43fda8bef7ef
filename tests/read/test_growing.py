"""A file is read while it is written."""

from __future__ import annotations

import os
import random
from itertools import pairwise
from pathlib import Path

import pytest

from diagnose.read.growing import GrowingFile
from diagnose.read.model import Source
from diagnose.read.stream import LONG_LINE, OVERLAP


def _taken(stream: GrowingFile) -> bytes:
    return b"".join(chunk.data for chunk in stream.take())


def _add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The log."""
    return tmp_path / "train.log"


def _follow(path: Path, keep: int = 1_000_000) -> GrowingFile:
    return GrowingFile(Source(str(path)), keep)


def test_whole_lines_come_once(path: Path) -> None:
    """Each byte comes once, and no line before its end was written; the last one when nobody writes any more."""
    stream, rest = _follow(path), random.Random(1)
    data = b"".join(b"line %d %s\n" % (n, b"x" * rest.randrange(200)) for n in range(500)) + b"Killed"
    got, at = b"", 0
    while at < len(data):
        step = rest.choice([1, 7, 300, 5_000])
        _add(path, data[at : at + step])
        at += step
        taken = _taken(stream)
        assert taken == b"" or taken.endswith(b"\n")
        got += taken
    assert got + b"Killed" == data
    assert [chunk.data for chunk in stream.flush()] == [b"Killed"]
    assert list(stream.flush()) == []
    assert stream.read(100, 900) == data[100:900]


def test_file_that_is_not_there_yet(path: Path) -> None:
    """A path without a file gives nothing, and no problem, until there is one."""
    stream = _follow(path)
    assert _taken(stream) == b""
    _add(path, b"hello\n")
    assert _taken(stream) == b"hello\n"
    assert stream.problems == []


@pytest.mark.parametrize("after", [b"new\n", b"much longer than what was there before\n" * 9])
def test_cut_in_place(path: Path, after: bytes) -> None:
    """A file that is cut goes on from its beginning, also where it has grown beyond its old size; the old is kept."""
    stream = _follow(path)
    _add(path, b"one\nhalf a li")
    assert _taken(stream) == b"one\n"
    path.write_bytes(after)
    assert _taken(stream) == b"half a li\n" + after
    _add(path, b"more\n")
    assert _taken(stream) == b"more\n"
    whole = b"one\nhalf a li\n" + after + b"more\n"
    assert stream.read(0, 1_000) == whole
    assert stream.read(6, len(whole) - 2) == whole[6:-2]
    assert len(stream.problems) == 1


def test_renamed_and_made_anew(path: Path) -> None:
    """A renamed file is read to its end, whoever still writes to it, and then the new one of its name."""
    stream = _follow(path)
    _add(path, b"one\n")
    assert _taken(stream) == b"one\n"
    old = path.with_suffix(".log.1")
    path.rename(old)
    _add(old, b"two\n")
    assert _taken(stream) == b"two\n"
    path.touch()
    _add(old, b"three\n")
    assert _taken(stream) == b"three\n"
    _add(path, b"four\n")
    assert _taken(stream) == b"four\n"
    assert stream.read(0, 100) == b"one\ntwo\nthree\nfour\n"


def test_removed(path: Path) -> None:
    """A file that was removed is read to its end; nothing is raised."""
    stream = _follow(path)
    _add(path, b"one\n")
    _taken(stream)
    path.unlink()
    assert _taken(stream) == b""
    assert stream.read(0, 3) == b"one"


def test_pins_outlive_a_cut(path: Path) -> None:
    """What was pinned is still there after a large file was cut."""
    stream = _follow(path, keep=256 * 1024)
    line = b"." * 99 + b"\n"
    for number in range(40):
        _add(path, line * 1000)
        list(stream.take())
        if number == 20:
            at = stream.size - 500
            stream.pin(at, at + 100)
    path.write_bytes(b"new\n")
    list(stream.take())
    assert stream.read(at, at + 100) == line
    assert stream.read(1_000_000, 1_000_100) == b""


def test_very_long_line(path: Path) -> None:
    """A line without an end is given in pieces that overlap, and memory stays bounded."""
    stream = _follow(path)
    _add(path, b"y" * (3 * LONG_LINE))
    chunks = list(stream.take())
    assert all(chunk.continues and len(chunk.data) == LONG_LINE for chunk in chunks)
    assert [b.offset - a.offset for a, b in pairwise(chunks)] == [LONG_LINE - OVERLAP] * (len(chunks) - 1)
    last = list(stream.flush())
    assert last[-1].offset + len(last[-1].data) == 3 * LONG_LINE


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read(path: Path) -> None:
    """A file without permission is a problem, told once."""
    _add(path, b"one\n")
    path.chmod(0)
    stream = _follow(path)
    assert _taken(stream) == _taken(stream) == b""
    assert len(stream.problems) == 1
