"""`diagnose log` with a reference for the speed."""

from __future__ import annotations

from pathlib import Path

from tests.commands.conftest import Pipeline, Run


def test_reference_is_handed_on(run: Run, pipeline: Pipeline) -> None:
    """The golden figure, the good run, the threshold and the choice of metrics reach the pipeline."""
    options = ["--golden", "709.93", "--baseline", "good.log", "--regression", "3", "--metrics", "all"]
    assert run("log", *options, "a.log").code == 0
    wanted = {"golden": 709.93, "baseline": "good.log", "regression": 3.0, "metrics": "all"}
    assert {name: pipeline.asked[name] for name in wanted} == wanted


def test_wrong_golden(run: Run, pipeline: Pipeline) -> None:
    """A golden figure of zero is wrong usage."""
    assert run("log", "--golden", "0", "a.log").code == 2


def test_baseline_that_is_not_there(run: Run, tmp_path: Path) -> None:
    """A good run that cannot be read: one line, exit code 3."""
    (tmp_path / "a.log").write_text("hello\n")
    outcome = run("log", "--baseline", str(tmp_path / "good.log"), str(tmp_path / "a.log"))
    assert outcome.code == 3
    assert "good.log: there is no such file" in outcome.err
