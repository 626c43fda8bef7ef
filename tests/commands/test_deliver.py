"""The commands around a job: wrap, slurm, hook, watch, doctor."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from diagnose.deliver.slurm import query
from diagnose.deliver.slurm.query import Answer
from tests.commands.conftest import Run
from tests.deliver.slurm.recorded import Commands, text


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Stand for Slurm's commands."""
    commands = Commands()

    def run_command(command: Sequence[str]) -> Answer:
        return commands(command)

    monkeypatch.setattr(query.Slurm.__init__, "__defaults__", (run_command,))
    return commands


def test_job_by_its_number(run: Run, slurm: Commands) -> None:
    """`diagnose slurm` begins with what Slurm says of the job."""
    slurm.answers = {"scontrol": text("time-limit.scontrol.txt")}
    outcome = run("slurm", "1")
    assert outcome.code == 0
    assert outcome.out.startswith("Job 1 (limit) TIMEOUT exit code 0:15 on vm\n")
    assert "slurm-time-limit" in outcome.out
    assert run("slurm", "1", "--exit-code", "-q").code == 1


def test_array_in_one_document(run: Run, slurm: Commands) -> None:
    """Several tasks are one JSON line each; a format of one document is refused."""
    slurm.answers = {"scontrol": text("array.scontrol.txt")}
    lines = run("slurm", "3", "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["inputs"][-1]["path"] for line in lines] == [
        "/home/alice/run/slurm-3_2.out",
        "/home/alice/run/slurm-3_1.out",
    ]
    refused = run("slurm", "3", "--format", "json")
    assert refused.code == 2
    assert "jsonl" in refused.err


@pytest.mark.parametrize("job_id", ["99", "x"])
def test_unknown_job(job_id: str, run: Run, slurm: Commands) -> None:
    """A job that nobody knows, or what is no number, is one line, exit 3."""
    slurm.answers = {"scontrol": Answer(1, "", "slurm_load_jobs error: Invalid job id specified\n"), "sacct": ""}
    outcome = run("slurm", job_id)
    assert (outcome.code, outcome.err.count("\n")) == (3, 1)


@pytest.mark.parametrize("kind", ["mailprog", "epilog-slurmctld", "jobcomp", "trap"])
def test_hook(kind: str, run: Run, tmp_path: Path) -> None:
    """A hook is printed; with --install it is written, with --dry-run it is not."""
    path = tmp_path / "hook"
    printed = run("hook", "slurm", kind).out
    assert f"# diagnose hook: {kind}" in printed
    tried = run("hook", "slurm", kind, "--install", str(path), "--dry-run").out
    assert f"would write {path}" in tried
    assert not path.exists()
    assert run("hook", "slurm", kind, "--install", str(path)).code == 0
    assert path.read_text() == printed
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0


def test_hook_over_another_file(run: Run, tmp_path: Path) -> None:
    """A file of somebody else is not overwritten."""
    path = tmp_path / "hook"
    path.write_text("mine")
    assert run("hook", "slurm", "jobcomp", "--install", str(path)).code == 2
    assert path.read_text() == "mine"


def test_watch_once(run: Run, slurm: Commands, tmp_path: Path) -> None:
    """One look prints a line a failed job."""
    slurm.answers = {"squeue": "1|TIMEOUT\n", "scontrol": text("time-limit.scontrol.txt")}
    first = run("watch", "slurm", "--once", "--ledger", str(tmp_path / "ledger"))
    assert first.code == 0
    assert first.out.startswith("job 1 TIMEOUT 2026-11-30T00:02:33  identified: The time limit")
    assert run("watch", "slurm", "--once", "--ledger", str(tmp_path / "ledger")).out == ""


def test_watch_without_slurm(run: Run, slurm: Commands, tmp_path: Path) -> None:
    """Where Slurm does not answer a single look is one line, exit 3; a ledger that cannot be written exit 2."""
    assert run("watch", "slurm", "--once", "--ledger", str(tmp_path / "ledger")).code == 3
    assert run("watch", "slurm", "--once", "--ledger", "/proc/none/ledger").code == 2


def test_doctor(run: Run, tmp_path: Path) -> None:
    """The doctor exits with 1 where something that is set up does not work."""
    settings = tmp_path / "d.yaml"
    settings.write_text("slrum: {}\n")
    outcome = run("doctor", "--settings", str(settings))
    assert outcome.code == 1
    assert "did you mean `slurm`?" in outcome.out
    assert "ok       Python:" in outcome.out


def test_wrap_needs_a_command(run: Run) -> None:
    """`diagnose wrap` without a command is wrong usage."""
    assert run("wrap").code == 2
