"""The recorder keeps the beginning and the end, whatever the disk does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.deliver.wrap import record as module
from diagnose.deliver.wrap.record import Recorder


def kept(recorder: Recorder) -> bytes:
    """Return all that was kept."""
    return b"".join(recorder.pieces())


def test_small_output_is_kept_whole() -> None:
    """Output below the limits is kept byte for byte."""
    recorder = Recorder()
    recorder.write(b"one\ntwo\r")
    recorder.write(b"\x00\xff")
    assert kept(recorder) == b"one\ntwo\r\x00\xff"
    recorder.close()


@given(st.lists(st.binary(max_size=40), max_size=30))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_head_and_tail(pieces: list[bytes]) -> None:
    """Head and tail are exact, and the lines left out in between are still counted."""
    recorder = Recorder(head=16, tail=64)
    for piece in pieces:
        recorder.write(piece)
    whole, found = b"".join(pieces), kept(recorder)
    recorder.close()
    if len(whole) <= 80:
        assert found == whole
        return
    assert found.startswith(whole[:16])
    assert found.endswith(whole[-64:])
    middle = found[16:-64]
    assert middle == b"\n" * max(1, whole[16:-64].count(b"\n"))


def test_named_log_holds_everything(tmp_path: Path) -> None:
    """A named log holds all of the output."""
    path = tmp_path / "a.log"
    recorder = Recorder(str(path), head=1, tail=1)
    recorder.write(b"0123456789\n" * 100)
    assert recorder.named == str(path)
    assert path.read_bytes() == b"0123456789\n" * 100
    assert kept(recorder) == path.read_bytes()
    recorder.close()


def test_log_that_cannot_be_opened(tmp_path: Path) -> None:
    """A log that cannot be opened is a problem in words; the output is kept all the same."""
    recorder = Recorder(str(tmp_path / "no" / "a.log"))
    recorder.write(b"words\n")
    assert "No such file" in recorder.problem
    assert recorder.named == ""
    assert kept(recorder) == b"words\n"
    recorder.close()


def test_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full, what was written and the latest output are kept."""
    monkeypatch.setattr(module, "_SPARE", 64)
    recorder = Recorder()
    recorder.write(b"first\n")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    for number in range(1000):
        recorder.write(b"line %d\n" % number)
    found = kept(recorder)
    assert found.startswith(b"first\n")
    assert found.endswith(b"line 999\n")
    assert len(found) < 200
    assert "No space left" in recorder.problem
    assert recorder.last(9) == b"line 999\n"
    recorder.close()
