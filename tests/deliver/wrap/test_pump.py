"""Output is carried whole, and nobody who holds the pipe holds us up for ever."""

from __future__ import annotations

import os
import threading
import time

import pytest

from diagnose.deliver.wrap.pump import Pump
from diagnose.deliver.wrap.record import Recorder


def test_chatty_process_that_outlives_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever goes on printing behind the job's end is left alone after a while; what the job printed is carried."""
    monkeypatch.setattr("diagnose.deliver.wrap.pump._AFTER", 0.4)
    source, job = os.pipe()
    reader, target = os.pipe()
    os.write(job, b"of the job\n")
    pump = Pump([(source, target)], Recorder())
    left = threading.Event()

    def chat() -> None:
        while not left.wait(0.02):
            os.write(job, b"still here\n")

    chatty = threading.Thread(target=chat)
    chatty.start()
    pump.start()
    begin = time.monotonic()
    pump.finish()
    took = time.monotonic() - begin
    left.set()
    chatty.join()
    assert os.read(reader, 100).startswith(b"of the job\n")
    assert 0.4 <= took < 5
    for end in (source, job, reader, target):
        os.close(end)


def test_slow_reader_gets_all_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the job had printed when it ended is carried in full, also where our reader takes longer than that while."""
    monkeypatch.setattr("diagnose.deliver.wrap.pump._AFTER", 0.1)
    monkeypatch.setattr("diagnose.deliver.wrap.pump._PIECE", 8192)
    source, job = os.pipe()
    reader, target = os.pipe()
    printed = b"x" * 60_000
    os.write(job, printed)
    os.write(target, b"y" * 60_000)  # our own pipe is nearly full already
    pump = Pump([(source, target)], Recorder())
    pump.start()
    got = b""

    def read() -> None:
        nonlocal got
        time.sleep(0.5)
        while len(got) < 120_000:
            got += os.read(reader, 4096)

    slow = threading.Thread(target=read)
    slow.start()
    pump.finish()
    slow.join(10)
    assert got[60_000:] == printed
    for end in (source, job, reader, target):
        os.close(end)
