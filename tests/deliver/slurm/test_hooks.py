"""The hooks return at once, end with 0 whatever happens, and need nothing from Slurm's environment."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from diagnose.deliver.slurm.hooks import KINDS, HookError, install, interpreter, is_hook, script, steps
from tests.deliver.slurm.recorded import arguments, environment

MAILER = """#!/bin/sh
{{ for word in "$@"; do echo "argument $word"; done; cat; }} > {folder}/part
mv {folder}/part {folder}/mail
"""


def wait_for(path: Path, seconds: float = 30) -> str:
    """Wait for a file."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if path.exists() and (text := path.read_text()):  # it may be there and not yet written
            return text
        time.sleep(0.05)
    raise AssertionError(f"{path} did not come")


@pytest.mark.parametrize("kind", KINDS)
def test_shell_accepts_it(kind: str, tmp_path: Path) -> None:
    """Every hook is a script that the shell can read, and that is known as a hook of ours."""
    path = tmp_path / "hook"
    path.write_text(script(kind))
    assert subprocess.run([shutil.which("bash") or "sh", "-n", str(path)], check=False).returncode == 0
    assert is_hook(str(path))


@pytest.mark.parametrize("kind", ["epilog-slurmctld", "jobcomp", "mailprog"])
def test_broken_installation(kind: str, tmp_path: Path) -> None:
    """A hook whose Python is gone, with no environment at all, still ends with 0 at once."""
    path = tmp_path / "hook"
    text = script(kind, mailer="/no/mailer").replace(interpreter().python, "/no/python")
    path.write_text(text)
    path.chmod(0o755)
    begin = time.monotonic()
    done = subprocess.run([str(path), "-s", "subject", "a@b"], env={}, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert time.monotonic() - begin < 2


def test_returns_before_the_work_is_done(tmp_path: Path) -> None:
    """The work goes on in a session of its own after the hook has returned."""
    slow = tmp_path / "slow python"
    slow.write_text(f"#!/bin/sh\n/bin/sleep 1\n/bin/echo \"$@\" > '{tmp_path}/ran'\n")
    slow.chmod(0o755)
    path = tmp_path / "hook"
    path.write_text(script("jobcomp").replace(f"PYTHON={interpreter().python}", f"PYTHON='{slow}'"))
    path.chmod(0o755)
    begin = time.monotonic()
    assert subprocess.run([str(path)], env={"JOBSTATE": "FAILED"}, check=False).returncode == 0
    assert time.monotonic() - begin < 0.9
    assert "diagnose.deliver.slurm.entry jobcomp" in wait_for(tmp_path / "ran")


def test_good_jobs_cost_nothing(tmp_path: Path) -> None:
    """jobcomp starts no Python for a job that ended well."""
    path = tmp_path / "hook"
    path.write_text(script("jobcomp").replace(interpreter().python, "/bin/false"))
    path.chmod(0o755)
    done = subprocess.run(["/bin/sh", "-x", str(path)], env={"JOBSTATE": "COMPLETED"}, capture_output=True, check=False)
    assert done.returncode == 0
    assert b"entry" not in done.stderr


@pytest.mark.parametrize(("name", "told"), [("failed.mailprog.env", True), ("began.mailprog.env", False)])
def test_mail_is_sent(name: str, told: bool, tmp_path: Path) -> None:
    """The real mailer is called as Slurm calls it; a failed job's mail carries the report."""
    mailer = tmp_path / "mailer"
    mailer.write_text(MAILER.format(folder=tmp_path))
    mailer.chmod(0o755)
    path = tmp_path / "hook"
    install(str(path), script("mailprog", mailer=str(mailer)))
    log = tmp_path / "job.out"
    log.write_text("ModuleNotFoundError: No module named 'flash_attn'\n")
    told_environment = {**environment(name), "SLURM_JOB_STDOUT": str(log), "SLURM_JOB_UID": str(log.stat().st_uid)}
    words = arguments(name)
    assert subprocess.run([str(path), *words], env=told_environment, check=False).returncode == 0
    mail = wait_for(tmp_path / "mail")
    assert f"argument {words[1]}" in mail
    assert ("flash_attn" in mail) is told


def test_mail_is_sent_whatever_happens(tmp_path: Path) -> None:
    """Where the diagnosis cannot be made, the mail goes out without it, once."""
    mailer = tmp_path / "mailer"
    mailer.write_text(MAILER.format(folder=tmp_path))
    mailer.chmod(0o755)
    path = tmp_path / "hook"
    install(str(path), script("mailprog", mailer=str(mailer)).replace(interpreter().python, "/bin/false"))
    assert subprocess.run([str(path), "-s", 'it\'s "over" $(id)', "a@b"], env={}, check=False).returncode == 0
    assert 'argument it\'s "over" $(id)' in wait_for(tmp_path / "mail")


def test_trap(tmp_path: Path) -> None:
    """The trap runs where the script fails, keeps its exit code, and is silent where it ends well."""
    lines = script("trap").replace(interpreter().python, "/bin/echo")
    path = tmp_path / "job.sh"
    for code in (0, 7):
        path.write_text(f"#!/bin/bash\n{lines}\nexit {code}\n")
        done = subprocess.run(
            ["bash", str(path)], env={"PATH": "/usr/bin:/bin", "SLURM_JOB_ID": "31"}, capture_output=True, check=False
        )
        assert done.returncode == code
        assert (b"slurm 31 --exit-status 7" in done.stderr) is (code == 7)


def test_trap_outside_of_slurm(tmp_path: Path) -> None:
    """A strict script that is run by hand, outside of Slurm, keeps its exit code, and nothing is asked of Slurm."""
    path = tmp_path / "job.sh"
    path.write_text(f"#!/bin/bash\nset -eu\n{script('trap').replace(interpreter().python, '/bin/echo')}\nexit 7\n")
    done = subprocess.run(["bash", str(path)], env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (7, b"")


def test_install(tmp_path: Path) -> None:
    """A hook replaces a hook, and nothing else unless told to."""
    path = tmp_path / "hook"
    install(str(path), script("jobcomp"))
    install(str(path), script("jobcomp"))
    assert path.stat().st_mode & 0o777 == 0o755
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\n")
    with pytest.raises(HookError, match="no hook of diagnose"):
        install(str(other), script("jobcomp"))
    install(str(other), script("jobcomp"), force=True)
    with pytest.raises(HookError, match="cannot be written"):
        install(str(tmp_path / "no" / "folder"), script("jobcomp"))


@pytest.mark.parametrize("kind", KINDS)
def test_steps(kind: str) -> None:
    """What is left to do names the path."""
    assert any("/x/hook" in step for step in steps(kind, "/x/hook"))


def test_the_hook_outlasts_the_time_box(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the configuration allows a diagnosis more time, the script does, too."""
    from diagnose.commands import main

    path = tmp_path / "d.yaml"
    for configured, limit in (("10m", 630), ("20s", 150)):
        path.write_text(f"slurm: {{timeout: {configured}}}\n")
        assert main(["hook", "slurm", "jobcomp", "--settings", str(path)]) == 0
        assert f"timeout -k 5 {limit};" in capsys.readouterr().out
