"""`diagnose compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import Run
from tests.reason.compare.logs import bridge_log


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """Two runs, the later slower."""
    before = bridge_log(tmp_path / "before.log", ms=3000, peaks={0: 58.8})
    return before, bridge_log(tmp_path / "after.log", ms=3600, peaks={0: 58.8}, seed=1)


def test_worse(run: Run, pair: tuple[str, str]) -> None:
    """A slower run exits with 1 only where it is asked to."""
    assert run("compare", *pair).code == 0
    outcome = run("compare", "--exit-code", *pair)
    assert outcome.code == 1
    assert outcome.out.startswith("after.log is worse than before.log")


def test_a_run_that_fails(run: Run, pair: tuple[str, str]) -> None:
    """What is worse about a run that fails is that it fails, and the headline says so, both ways round."""
    before = Path(pair[0])
    after = before.with_name("failed.log")
    after.write_text(before.read_text() + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    assert run("compare", str(before), str(after)).out.startswith("failed.log fails, before.log did not")
    assert run("compare", str(after), str(before)).out.startswith("before.log no longer fails as failed.log did")


def test_an_empty_run(run: Run, pair: tuple[str, str]) -> None:
    """An empty log is not said to have run."""
    empty = Path(pair[0]).with_name("empty.log")
    empty.touch()
    assert "no progress seen" in run("compare", pair[0], str(empty)).out


def test_margin_and_format(run: Run, pair: tuple[str, str]) -> None:
    """The margin decides what counts; the answer may be JSON."""
    data = json.loads(run("compare", "--margin", "50", "--format", "json", *pair).out)
    assert (data["verdict"], data["margin_percent"]) == ("no_difference", 50.0)


def test_wrong(run: Run, pair: tuple[str, str]) -> None:
    """One run is wrong usage; a run that is not there cannot be read."""
    assert run("compare", pair[0]).code == 2
    outcome = run("compare", pair[0], pair[1] + ".nowhere")
    assert outcome.code == 3
    assert "nowhere" in outcome.err
