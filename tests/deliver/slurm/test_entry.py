"""What the hooks run never fails and tells only of failures."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from diagnose.deliver.settings import Settings
from diagnose.deliver.slurm import entry
from diagnose.deliver.task import Announced
from tests.deliver.slurm.recorded import environment

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 has a total capacity of 79 GiB\n"


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for reports, and a configuration that names it."""
    folder = tmp_path / "reports"
    folder.mkdir()
    settings = tmp_path / "diagnose.yaml"
    settings.write_text(f"slurm: {{reports: {folder}}}\n")
    monkeypatch.setenv("DIAGNOSE_CONFIG", str(settings))
    return folder


def become(monkeypatch: pytest.MonkeyPatch, name: str, **changes: str) -> None:
    """Take a recorded hook's environment."""
    for key, value in {**environment(name), **changes}.items():
        if key not in ("PATH", "PWD"):
            monkeypatch.setenv(key, value)


def test_failed_job(reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed job's report lies in the folder, as JSON and as Markdown."""
    log = tmp_path / "job.out"
    log.write_text(OOM)
    become(monkeypatch, "failed.jobcomp.env", STDOUT=str(log), STDERR=str(log), UID=str(os.getuid()))
    assert entry.run("jobcomp", []) == 0
    assert json.loads((reports / "job-2-0.json").read_text())["root_cause"]["pattern"] == "cuda-oom"
    assert (reports / "job-2-0.md").read_text().startswith("### CUDA out of memory")


def test_state_unknown(reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The epilog, which does not know the state, reports nothing where the log shows no failure."""
    log = tmp_path / "job.out"
    log.write_text("all good\n")
    become(monkeypatch, "time-limit.epilog.env", SLURM_JOB_STDOUT=str(log), SLURM_JOB_UID=str(os.getuid()))
    assert entry.run("epilog-slurmctld", []) == 0
    assert list(reports.iterdir()) == []
    log.write_text("slurmstepd-vm: error: *** JOB 1 ON vm CANCELLED AT 2026-11-30T00:02:33 DUE TO TIME LIMIT ***\n")
    assert entry.run("epilog-slurmctld", []) == 0
    assert len(list(reports.iterdir())) == 2


def test_file_of_somebody_else(reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that does not belong to the job's user is not read."""
    log = tmp_path / "job.out"
    log.write_text(OOM)
    become(monkeypatch, "failed.jobcomp.env", STDOUT=str(log), STDERR=str(log), UID="54321")
    entry.run("jobcomp", [])
    assert "320.00" not in (reports / "job-2-0.json").read_text()


@pytest.mark.parametrize("kind", ["jobcomp", "epilog-slurmctld", "mailprog"])
def test_no_environment(kind: str, reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without anything from Slurm there is nothing to do, and no error."""
    assert entry.run(kind, []) == 0


def test_mistake_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong, Slurm sees 0."""

    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(entry, "load_settings", broken)
    assert entry.run("jobcomp", []) == 0


def test_no_line_of_a_mail_is_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail program may run a line that begins with a tilde; a log cannot make one."""
    become(monkeypatch, "failed.jobcomp.env")
    monkeypatch.setenv("SLURM_JOB_ID", "31")
    monkeypatch.setattr(entry, "run_boxed", lambda _task, _seconds: Announced(markdown="A\n~! id\n~r /etc/passwd"))
    body = entry.mail_body(["-s", "Slurm Job_id=31 Name=x Failed, Run time 00:00:00, FAILED, ExitCode 3"], Settings())
    assert body == "A\n ~! id\n ~r /etc/passwd"
