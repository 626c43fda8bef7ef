"""The onset of a drop in a log of which only a sample of the lines was read."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from diagnose.facts.collect import Probe, collect
from diagnose.facts.series import Survey
from diagnose.read.model import Source
from tests.runs import Run, megatron_lines, step_times


@pytest.fixture(scope="module")
def log() -> str:
    """A log of 40 MB whose throughput falls by a fifth at iteration 97,531."""
    run = Run(iterations=110_000, jitter=0.03, drop_at=97_531, drop=0.2)
    return megatron_lines(step_times(run, random.Random(1)))


def surveyed(path: Path, probe: Probe) -> Survey:
    """Collect one file and return what was measured."""
    record = collect(Source(str(path)), probe)
    assert record.sampled
    return record.surveys[0]


def test_between_two_blocks(tmp_path: Path, probe: Probe, log: str) -> None:
    """Where the onset falls between two blocks of the sample, the lines between are searched."""
    path = tmp_path / "train.log"
    path.write_text(log)
    shift = surveyed(path, probe).shift
    assert shift is not None
    assert abs(shift.number - 97_531) <= 3
    assert shift.evidence.line == shift.number
    assert f"iteration {shift.number:8d}/" in shift.evidence.text


def test_of_a_stream(tmp_path: Path, probe: Probe, log: str) -> None:
    """A compressed log that is not kept whole shows the nearest line that was kept."""
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(log.encode(), 1))
    shift = surveyed(path, probe).shift
    assert shift is not None
    assert abs(shift.number - 97_531) <= 0.15 * 97_531
    assert "elapsed time per iteration" in shift.evidence.text
