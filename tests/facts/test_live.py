"""The record of a log that grows is the record of the whole log."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from diagnose.facts.collect import Probe, collect
from diagnose.facts.live import LiveSource, StillSource
from diagnose.read import find_sources
from diagnose.read.model import Kind, Source

ROOT = Path(__file__).parents[2]
SAMPLES = ("demo/cpu-offload-pipeline.log", "healthy/compile-warnings.log", "healthy/ib-port-flap.log")
RANKS = 8
LINE = "[rank{r}]: iteration {n}/ 90000 | elapsed time per iteration (ms): 100.{n:05d} | lm loss: 2.{n:05d}E+00 |\n"
ERROR = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity\n"


def _live(path: Path, probe: Probe) -> LiveSource:
    return LiveSource(find_sources([str(path)])[0][0], probe, metrics="sampled", room=8_000_000)


def _written(path: Path, data: bytes, probe: Probe, steps: list[int]) -> LiveSource:
    """Write a log in pieces of random size, and ask for its record now and then."""
    path.write_bytes(data[:50])
    live, rest, at = _live(path, probe), random.Random(7), 50
    with path.open("ab", buffering=0) as file:
        while at < len(data):
            step = rest.choice(steps)
            file.write(data[at : at + step])
            at += step
            live.read()
            if rest.random() < 0.02:
                live.record()
    os.utime(path, (1_772_000_000, 1_772_000_000))
    live.read()
    live.end()
    return live


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str, tmp_path: Path, probe: Probe) -> None:
    """Real logs that come in pieces of any size tell what they tell at once."""
    path = tmp_path / "train.log"
    live = _written(path, (ROOT / "samples" / name).read_bytes(), probe, [10, 100, 1000])
    assert live.record() == collect(live.source, probe)


def test_many_ranks_in_one_log(tmp_path: Path, probe: Probe) -> None:
    """Iteration lines of several ranks are read as blocks, so their numbers are not mixed up."""
    lines = [LINE.format(r=n % RANKS, n=n // RANKS) for n in range(8_000)]
    lines.insert(7_990, ERROR)
    path = tmp_path / "train.log"
    live = _written(path, "".join(lines).encode(), probe, [300, 4_000])
    record = live.record()
    assert record == collect(live.source, probe)
    assert len(record.surveys) == RANKS


def test_unchanged_log_is_not_looked_at_again(tmp_path: Path, probe: Probe) -> None:
    """While nothing is added the record is the same object."""
    path = tmp_path / "train.log"
    path.write_text(ERROR)
    live = _live(path, probe)
    live.read()
    assert live.record() is live.record()
    assert live.news > 0


def test_evidence_outlives_a_cut(tmp_path: Path, probe: Probe) -> None:
    """A failure that was read is still told, with its line, after the log was cut."""
    path = tmp_path / "train.log"
    path.write_text("start\n" + ERROR)
    live = _live(path, probe)
    live.read()
    path.write_text("begun anew\n")
    live.read()
    record = live.record()
    assert [(event.evidence.line, event.evidence.text) for event in record.events] == [(2, ERROR.strip())]
    assert record.lines == 3
    assert len(record.problems) == 1


def test_files_that_are_written_at_once(tmp_path: Path, probe: Probe) -> None:
    """torchrun's error file is read when it is there, and again when it changed."""
    path = tmp_path / "error.json"
    still = StillSource(Source(str(path), Kind.ERROR_FILE), probe, metrics="sampled")
    assert still.read() == 0
    path.write_text('{"message": {"message": "ValueError: one", "extraInfo": {"timestamp": "1772000000"}}}')
    assert still.read() > 0
    assert still.read() == 0
    first = still.record()
    path.write_text('{"message": {"message": "ValueError: twice as bad", "extraInfo": {"timestamp": "1772000000"}}}')
    assert still.read() > 0
    assert still.record() != first
