"""Tests of numbers that are printed in colors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from diagnose.facts.collect import Probe, collect
from diagnose.facts.uncolored import origins
from diagnose.read import Source
from diagnose.read.clean import strip_escapes

TITAN = (
    "[rank0]:[titan] 2025-02-02 10:{m:02}:{s:02},123 - root - INFO - \x1b[31mstep: {n:2}  \x1b[32mloss: {loss:7.4f}  "
    "\x1b[33mmemory: 48.10GiB(50.90%)  \x1b[34mtps: {tps:,}  \x1b[36mtflops: 405.10  \x1b[35mmfu: 41.00%\x1b[39m"
)
LOOP = "\x1b[32m2025-02-02 10:{m:02}:{s:02}\x1b[0m | \x1b[1mINFO\x1b[0m | step {n} \x1b[36mloss\x1b[0m: {loss:.4f}"


def written(path: Path, form: str, count: int) -> Path:
    """Write a log that slows down at iteration 700."""
    lines = [
        form.format(m=n // 60 % 60, s=n % 60, n=n, loss=12 - n / 300, tps=(7000 if n < 700 else 5000) + n % 40)
        for n in range(1, count + 1)
    ]
    path.write_text("starting\n" + "\n".join(lines) + "\n")
    return path


def told(path: Path, probe: Probe) -> list[Any]:
    """Return what was read of the numbers, and the lines that show it."""
    record = collect(Source(str(path)), probe)
    steps = [(step.number, step.evidence.line, step.metrics) for step in record.steps]
    shifts = [(each.shift.number, each.shift.evidence.line) for each in record.surveys if each.shift]
    series = [(len(each.series), each.series.form) for each in record.surveys]
    return [steps, shifts, series]


@pytest.mark.parametrize("form", [TITAN, LOOP])
@pytest.mark.parametrize("count", [60, 1200, 3000])
def test_colors_change_nothing(form: str, count: int, tmp_path: Path, probe: Probe) -> None:
    """A log in colors tells the same numbers, on the same lines, as without them."""
    colored = written(tmp_path / "colored.log", form, count)
    plain = tmp_path / "plain.log"
    plain.write_text(re.sub(r"\x1b\[\d*m", "", colored.read_text()))
    found = told(colored, probe)
    assert found == told(plain, probe)
    assert len(found[0]) > 10
    assert found[2]
    if form == TITAN and count > 1000:
        assert found[1] == [(700, 701)]


def test_places_lead_back_to_their_lines() -> None:
    """A place in the text without colors leads to the line that it came from."""
    raw = b"a\n\x1b[31mbb\x1b[0m\nc \x1b[1mdd\n\x1b[0m\nlast"
    plain = strip_escapes(raw)
    places = [plain.index(word) for word in (b"a", b"bb", b"dd", b"last")]
    assert list(origins(raw, plain, places)) == [raw.index(line) for line in (b"a", b"\x1b[31mbb", b"c ", b"last")]
    assert list(origins(plain, plain, places)) == places
    assert strip_escapes(plain) is plain
