"""A real Slurm of one node: jobs that fail, time out, are cancelled and are arrays, through every hook."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from diagnose.deliver.slurm.hooks import install, script
from tests.deliver.slurm_cluster import Cluster, available

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(not available(), reason="Slurm is not installed, see .ci/slurm")]

ROOT = Path(__file__).parents[2]
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 has a total capacity of 79.11 GiB "
    "of which 100.00 MiB is free."
)
NOBODY = pwd.getpwnam("nobody")


@dataclass(slots=True)
class Bench:
    """The cluster with its hooks, and the jobs that were submitted."""

    cluster: Cluster
    work: Path
    reports: Path
    mails: Path
    jobs: dict[str, str] = field(default_factory=dict)

    def report(self, job: str, seconds: float = 30) -> dict[str, Any]:
        """Wait for the report of a job."""
        path = self.reports / f"{job}.json"
        return dict(json.loads(until(lambda: path.read_text() if path.exists() else "", seconds)))

    def mail(self, job: str, seconds: float = 30) -> str:
        """Wait for the mail about a job that has ended."""

        def found() -> str:
            texts = [path.read_text() for path in self.mails.glob("*.mail")]
            return next((text for text in texts if f"Job_id={job} " in text and "Began" not in text), "")

        return until(found, seconds)


def until(look: Callable[[], str], seconds: float) -> str:
    """Look again until there is something to see."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        seen = look()
        if seen:
            return seen
        time.sleep(0.2)
    raise AssertionError("nothing came")


MAILER = """#!/bin/sh
# Stands for mail(1): keeps what it is called with.
file={folder}/$$
{{ for word in "$@"; do echo "argument $word"; done; cat; }} > "$file.part"
mv "$file.part" "$file.mail"
"""


def _hooks(folder: Path, reports: Path, mails: Path) -> dict[str, str]:
    settings = folder / "diagnose.yaml"
    settings.write_text(f"slurm:\n  reports: {reports}\n  cancelled: true\n")
    mailer = folder / "mailer"
    mailer.write_text(MAILER.format(folder=mails))
    mailer.chmod(0o755)
    for kind in ("mailprog", "epilog-slurmctld", "jobcomp"):
        install(str(folder / kind), script(kind, mailer=str(mailer), settings=str(settings)))
    return {
        "MailProg": str(folder / "mailprog"),
        "EpilogSlurmctld": str(folder / "epilog-slurmctld"),
        "JobCompType": "jobcomp/script",
        "JobCompLoc": str(folder / "jobcomp"),
    }


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """A running cluster; the job with a time limit is submitted first, since a minute is the shortest limit."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        folder = Path(name)
        work, reports, mails = folder / "work", folder / "reports", folder / "mails"
        for each in (work, reports, mails):
            each.mkdir()
        cluster = Cluster(folder, _hooks(folder, reports, mails))
        cluster.start()
        try:
            bench = Bench(cluster, work, reports, mails)
            mail = ("--mail-type=ALL", "--mail-user=someone@example.com")
            bench.jobs["limit"] = cluster.submit("sleep 300", "--time=1", "-o", "limit-%j.out", *mail, cwd=work)
            yield bench
        finally:
            cluster.stop()


def diagnose(bench: Bench, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command against the cluster."""
    environment = {**bench.cluster.environment, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(bench.work / "state")}
    return subprocess.run(
        [sys.executable, "-m", "diagnose", *arguments],
        env=environment,
        cwd=bench.work,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_failed_job(bench: Bench) -> None:
    """A failing job is diagnosed by jobcomp and by MailProg, and by its number, whatever its log is called."""
    options = (
        "-o",
        "o_%x_%5j_%%.out",
        "-e",
        "%j.err",
        "-J",
        "big model",
        "--mail-type=FAIL",
        "--mail-user=a@example.com",
    )
    job = bench.cluster.submit(f"echo starting; echo '{OOM}' >&2; exit 3", *options, cwd=bench.work)
    assert bench.cluster.wait(job) == "FAILED"
    assert bench.report(f"job-{job}-0")["root_cause"]["pattern"] == "cuda-oom"
    mail = bench.mail(job)
    assert "argument a@example.com" in mail
    assert "### CUDA out of memory" in mail
    told = diagnose(bench, "slurm", job)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(f"Job {job} (big model) FAILED exit code 3:0 on ")
    assert f"{job}.err:1" in told.stdout


def test_epilog_tells_the_same(bench: Bench) -> None:
    """EpilogSlurmctld, which knows the cluster's name but not the state, reports a failing job as well."""
    job = bench.cluster.submit(f"echo '{OOM}'; exit 1", cwd=bench.work)
    bench.cluster.wait(job)
    assert bench.report(f"bench-{job}-0")["root_cause"]["pattern"] == "cuda-oom"


def test_array(bench: Bench) -> None:
    """Of an array the failed tasks are told, each from its own log; a task is found by its number."""
    job = bench.cluster.submit(
        f"echo task $SLURM_ARRAY_TASK_ID; [ $SLURM_ARRAY_TASK_ID = 2 ] || exit 0; echo '{OOM}'; exit 1",
        "--array=1-3",
        cwd=bench.work,
    )
    until(lambda: "" if bench.cluster.run("squeue", "-h", "-j", job).stdout.strip() else "over", 40)
    assert bench.report(f"job-{job}_2-0")["root_cause"]["evidence"][0]["path"].endswith(f"slurm-{job}_2.out")
    told = diagnose(bench, "slurm", job, "--quiet")
    assert told.stdout.count("\n") == 1
    assert told.stdout.startswith("identified:")
    assert diagnose(bench, "slurm", f"{job}_1", "--quiet").stdout.startswith("no_failure:")


def test_cancelled(bench: Bench) -> None:
    """A cancelled job is called cancelled."""
    job = bench.cluster.submit("sleep 100", "--mail-type=END", "--mail-user=b@example.com", cwd=bench.work)
    bench.cluster.wait(job, states=("RUNNING",))
    time.sleep(0.5)
    bench.cluster.run("scancel", job)
    assert bench.cluster.wait(job) == "CANCELLED"
    assert bench.report(f"job-{job}-0")["root_cause"]["pattern"] == "slurm-job-cancelled"
    assert "### " in bench.mail(job)


def test_good_job(bench: Bench) -> None:
    """A job that ends well has no report, and its mail no diagnosis."""
    job = bench.cluster.submit("echo fine", "--mail-type=END", "--mail-user=c@example.com", cwd=bench.work)
    assert bench.cluster.wait(job) == "COMPLETED"
    assert "###" not in bench.mail(job)
    assert not list(bench.reports.glob(f"*-{job}-*"))


def test_log_of_somebody_else(bench: Bench) -> None:
    """A hook never shows a job's user a file that is not the user's own."""
    secret = bench.work / "secret.log"
    secret.write_text(f"{OOM} of somebody else\n")
    secret.chmod(0o600)
    home = bench.work / "nobody"
    home.mkdir()
    os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)
    for folder in (bench.work, bench.work.parent):
        folder.chmod(0o755)
    link = home / "slurm.out"
    link.symlink_to(secret)
    options = ("--uid", "nobody", "--gid", str(NOBODY.pw_gid), "-D", str(home), "-o", str(link))
    job = bench.cluster.submit("exit 1", *options, "--mail-type=FAIL", "--mail-user=d@example.com", cwd=bench.work)
    assert bench.cluster.wait(job) == "FAILED"
    mail = bench.mail(job)
    assert "somebody else" not in mail
    assert "there is no file of the job's user" in mail
    assert "somebody else" not in json.dumps(bench.report(f"job-{job}-0"))


def test_trap(bench: Bench) -> None:
    """The trap in a user's own script prints the diagnosis into the job's log, and the exit code stays."""
    job = bench.cluster.submit(f"{script('trap')}\necho '{OOM}'\nexit 5", "-o", "trap.out", cwd=bench.work)
    bench.cluster.wait(job)
    assert "ExitCode=5:0" in bench.cluster.run("scontrol", "show", "job", job).stdout
    assert "pattern cuda-oom" in (bench.work / "trap.out").read_text()


def test_wrap_inside(bench: Bench) -> None:
    """`diagnose wrap` inside a job passes the exit code and prints the diagnosis behind the job's own output."""
    program = f"export PYTHONPATH={ROOT}\n{sys.executable} -m diagnose wrap -- bash -c \"echo '{OOM}'; exit 6\""
    job = bench.cluster.submit(program, "-o", "wrap.out", cwd=bench.work)
    bench.cluster.wait(job)
    assert "ExitCode=6:0" in bench.cluster.run("scontrol", "show", "job", job).stdout
    text = (bench.work / "wrap.out").read_text()
    assert text.startswith(OOM)
    assert "pattern cuda-oom" in text


def test_unreadable_log(bench: Bench) -> None:
    """Where the log is gone, Slurm's own words are still told, and what could not be read."""
    job = bench.cluster.submit("rm gone.out; exit 4", "-o", "gone.out", cwd=bench.work)
    bench.cluster.wait(job)
    told = diagnose(bench, "slurm", job, "--format", "json")
    assert told.returncode == 0, told.stderr
    result = json.loads(told.stdout)
    assert result["verdict"] == "unknown"
    assert any("gone.out" in item["path"] and item["problems"] for item in result["inputs"])


def test_watch(bench: Bench) -> None:
    """Polling tells each failed job once, over restarts of the watcher."""
    job = bench.cluster.submit(f"echo '{OOM}'; exit 1", cwd=bench.work)
    bench.cluster.wait(job)
    first = diagnose(bench, "watch", "slurm", "--once")
    assert f"job {job} FAILED" in first.stdout
    assert "identified: CUDA out of memory" in first.stdout
    assert f"job {job} " not in diagnose(bench, "watch", "slurm", "--once").stdout


def test_unknown_job(bench: Bench) -> None:
    """A number that Slurm does not know is one line, exit 3."""
    told = diagnose(bench, "slurm", "987654")
    assert told.returncode == 3
    assert told.stderr.count("\n") == 1


def test_doctor_sees_the_hooks(bench: Bench) -> None:
    """The doctor sees the controller and the hooks that are installed."""
    told = diagnose(bench, "doctor", "--settings", str(bench.work.parent / "diagnose.yaml"))
    assert f"ok       MailProg: {bench.work.parent / 'mailprog'}" in told.stdout
    assert f"ok       JobCompLoc: {bench.work.parent / 'jobcomp'}" in told.stdout


def test_time_limit(bench: Bench) -> None:
    """A job that is killed at its time limit is told so by every hook, also by the one that is not told the state."""
    job = bench.jobs["limit"]
    assert bench.cluster.wait(job, 130) == "TIMEOUT"
    assert bench.report(f"job-{job}-0")["root_cause"]["pattern"] == "slurm-time-limit"
    assert bench.report(f"bench-{job}-0")["root_cause"]["pattern"] == "slurm-time-limit"
    assert "time limit" in bench.mail(job)
    assert "The time limit" in diagnose(bench, "slurm", job).stdout
