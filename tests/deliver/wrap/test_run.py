"""`diagnose wrap`: the job does not notice, and its failure is explained."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 has a total capacity of 79.11 GiB "
    "of which 100.00 MiB is free."
)
WRAP = [sys.executable, "-m", "diagnose", "wrap"]


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    """Give an environment away from the user's own files."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "TORCHELASTIC"))}
    places = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path.parent / "cache")}
    return {**kept, **places, "PYTHONPATH": str(ROOT), "TERMINATION_LOG": str(tmp_path / "none"), **more}


def wrap(tmp_path: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a job wrapped."""
    where = environment(tmp_path, **more.pop("env", {}))
    return subprocess.run([*WRAP, *arguments], cwd=tmp_path, env=where, capture_output=True, timeout=60, **more)


def python(code: str) -> list[str]:
    """Give the command that runs a few lines of Python."""
    return [sys.executable, "-c", code]


def test_healthy_job_is_untouched(tmp_path: Path) -> None:
    """Both streams of a healthy job come through byte for byte, and nothing is added."""
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 5000); sys.stderr.buffer.write(b'e\\r\\x1b[0m')"
    done = wrap(tmp_path, "--", *python(code))
    assert done.returncode == 0
    assert done.stdout == bytes(range(256)) * 5000
    assert done.stderr == b"e\r\x1b[0m"
    assert [path.name for path in tmp_path.iterdir()] == []


def test_input_comes_through(tmp_path: Path) -> None:
    """Standard input is the job's own."""
    assert wrap(tmp_path, "cat", input=b"words\x00").stdout == b"words\x00"


def test_one_stream_keeps_its_order(tmp_path: Path) -> None:
    """Where stdout and stderr are the same file, their order stays."""
    code = "import os\nfor n in range(500): os.write(1 + n % 2, b'%d\\n' % n)"
    done = subprocess.run(
        [*WRAP, "--", *python(code)], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.stdout.split() == [b"%d" % n for n in range(500)]


def test_failure_is_explained(tmp_path: Path) -> None:
    """A failing job's exit code is returned and its diagnosis printed behind its own words on stderr."""
    done = wrap(tmp_path, "--", *python(f"import sys; print('one'); sys.stderr.write({OOM!r} + '\\n'); sys.exit(3)"))
    assert done.returncode == 3
    assert done.stdout == b"one\n"
    text = done.stderr.decode()
    assert text.startswith(OOM)
    assert "pattern cuda-oom" in text
    assert "output:2" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("number", "pattern"), [(signal.SIGKILL, "process-killed"), (signal.SIGSEGV, "process-segfault")]
)
def test_signal(tmp_path: Path, number: signal.Signals, pattern: str) -> None:
    """A job that a signal ends gives 128 + n, and silence is not taken for health."""
    done = wrap(tmp_path, "--report", "r", "--quiet", "--", *python(f"import os; os.kill(os.getpid(), {int(number)})"))
    assert done.returncode == 128 + number
    assert done.stderr == b""
    assert json.loads((tmp_path / "r.json").read_text())["root_cause"]["pattern"] == pattern


def test_silent_failure(tmp_path: Path) -> None:
    """A job that fails without a word is reported as failed, its cause unknown."""
    wrap(tmp_path, "--report", "r.json", "--", "false")
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "unknown"


def test_log_and_report(tmp_path: Path) -> None:
    """--log holds all of the output; the report lies beside it and is no log itself."""
    done = wrap(tmp_path, "--log", "train.log", "--", *python(f"print({OOM!r}, end=''); raise SystemExit(1)"))
    assert done.returncode == 1
    assert (tmp_path / "train.log").read_text() == OOM
    report = json.loads((tmp_path / "train.log.diagnosis.json").read_text())
    assert report["root_cause"]["evidence"][0]["path"] == "train.log"
    assert (tmp_path / "train.log.diagnosis.md").read_text().startswith("### CUDA out of memory")


def test_log_that_cannot_be_written(tmp_path: Path) -> None:
    """A log that cannot be written is a warning; the job runs and ends well."""
    done = wrap(tmp_path, "--log", "no/train.log", "--", "echo", "fine")
    assert (done.returncode, done.stdout) == (0, b"fine\n")
    assert done.stderr.startswith(b"diagnose: warning: no/train.log: No such file")


def test_full_disk(tmp_path: Path) -> None:
    """On a full disk the job ends as it would, and is diagnosed from what memory keeps."""
    code = f"print('x' * 100000); print({OOM!r}); raise SystemExit(4)"
    done = wrap(tmp_path, "--log", "/dev/full", "--", *python(code))
    assert done.returncode == 4
    assert b"No space left" in done.stderr
    assert b"pattern cuda-oom" in done.stderr


def test_nobody_reads_our_output(tmp_path: Path) -> None:
    """A reader of our output that has left does not end the job."""
    code = "import time\nfor n in range(30): print('x' * 5000, flush=True)\nopen('done', 'w').close()"
    process = subprocess.Popen(
        [*WRAP, "--", *python(code)], cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(30) == 0
    assert (tmp_path / "done").exists()


@pytest.mark.parametrize(("command", "code"), [("no-such-command", 127), ("/", 126), ("./plain", 126)])
def test_command_that_cannot_run(tmp_path: Path, command: str, code: int) -> None:
    """A command that is not there gives 127, one that cannot be run 126, as in a shell, in one line."""
    (tmp_path / "plain").write_text("words")
    done = wrap(tmp_path, "--", command)
    assert done.returncode == code
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGURG]
)
def test_signals_are_handed_on_once(tmp_path: Path, number: signal.Signals) -> None:
    """A signal to us reaches the job once, and what the job makes of it is returned."""
    code = (
        "import signal, sys, time\nseen = []\n"
        f"signal.signal({int(number)}, lambda *_: seen.append(1))\nprint('ready', flush=True)\n"
        "deadline = time.time() + 20\nwhile not seen and time.time() < deadline: time.sleep(0.02)\n"
        "time.sleep(0.3)\nprint(len(seen), flush=True)\nsys.exit(0)"
    )
    process = subprocess.Popen([*WRAP, "--", *python(code)], env=environment(tmp_path), stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    assert process.stdout.read() == b"1\n"
    assert process.wait(20) == 0
    process.stdout.close()


def test_interrupt_is_not_explained(tmp_path: Path) -> None:
    """Who interrupts a job is told nothing about it."""
    process = subprocess.Popen(
        [*WRAP, "--", *python("import time; print('ready', flush=True); time.sleep(20)")],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"diagnose" not in words


def test_signal_dispositions_of_the_job(tmp_path: Path) -> None:
    """The job starts with the same signals blocked and ignored as it would without us."""
    code = "print(*(line for line in open('/proc/self/status') if line.startswith(('SigBlk', 'SigIgn'))), sep='')"
    plain = subprocess.run(["/usr/bin/env", *python(code)], env=environment(tmp_path), capture_output=True, check=True)
    # The C library keeps the signals 32 and 33 to itself.
    own = 3 << 31
    found, wanted = (
        [int(line.split()[1], 16) & ~own for line in done.stdout.splitlines() if line]
        for done in (wrap(tmp_path, "--", *python(code)), plain)
    )
    assert found == wanted


def test_child_that_outlives_the_job(tmp_path: Path) -> None:
    """A process that keeps the pipe open does not hold us up."""
    begin = time.monotonic()
    done = wrap(tmp_path, "--", "sh", "-c", "sleep 20 & echo $!; exit 0")
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 0
    assert time.monotonic() - begin < 10


def test_time_box(tmp_path: Path) -> None:
    """A diagnosis that takes too long is stopped, and the exit code stays."""
    os.mkfifo(tmp_path / "fifo")
    env = {"TORCHELASTIC_ERROR_FILE": str(tmp_path / "fifo")}
    folder = tmp_path / "logs" / "run"
    code = f"import os; os.makedirs({str(folder)!r}); os.mkfifo({str(folder / 'a.log')!r}); raise SystemExit(2)"
    begin = time.monotonic()
    done = wrap(tmp_path, "--timeout", "1", "--patterns", str(tmp_path / "fifo"), "--", *python(code), env=env)
    assert done.returncode == 2
    assert time.monotonic() - begin < 15


def test_broken_configuration(tmp_path: Path) -> None:
    """A broken diagnose.yaml is a warning after the job, with its place."""
    (tmp_path / "diagnose.yaml").write_text("wrap: {timeout: soon}\n")
    done = wrap(tmp_path, "--", "sh", "-c", f"echo '{OOM}'; exit 1")
    assert done.returncode == 1
    assert b"pattern cuda-oom" in done.stderr
    assert b"diagnose.yaml:1:17" in done.stderr


def test_modules_of_the_job_are_not_ours(tmp_path: Path) -> None:
    """A file of the job that is called like a module of Python's does not disturb the diagnosis."""
    for name in ("json", "yaml", "logging", "regex", "tempfile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')\n")
    command = [sys.executable, "-c", "from diagnose.commands import main; import sys; sys.exit(main())"]
    done = subprocess.run(
        [command[0], "-P", *command[1:], "wrap", "--", "sh", "-c", f"echo '{OOM}'; exit 1"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
    )
    assert done.returncode == 1
    assert b"pattern cuda-oom" in done.stderr


def test_termination_message(tmp_path: Path) -> None:
    """In Kubernetes the cause and the first fix are written where `kubectl describe` finds them."""
    message = tmp_path / "termination-log"
    message.write_text("")
    wrap(tmp_path, "--", "sh", "-c", f"echo '{OOM}'; exit 1", env={"TERMINATION_LOG": str(message)})
    text = message.read_text()
    assert text.startswith("CUDA out of memory")
    assert "Fix: " in text
    assert len(text.encode()) <= 4096


def test_torchrun_logs_are_read(tmp_path: Path) -> None:
    """The folders that a torchrun writes below its --log-dir are read, those of earlier runs are not."""
    old = tmp_path / "logs" / "old_1" / "attempt_0" / "0"
    old.mkdir(parents=True)
    (old / "stderr.log").write_text("ModuleNotFoundError: No module named 'flash_attn'\n")
    os.utime(tmp_path / "logs" / "old_1", (1, 1))
    torchrun = tmp_path / "torchrun"
    torchrun.write_text(
        f"#!/bin/sh\nmkdir -p logs/new_2/attempt_0/1\necho '{OOM}' > logs/new_2/attempt_0/1/stderr.log\nexit 1\n"
    )
    torchrun.chmod(0o755)
    wrap(tmp_path, "--report", "r", "--", "./torchrun", "--log-dir", "logs", "train.py")
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["root_cause"]["pattern"] == "cuda-oom"
    assert result["root_cause"]["evidence"][0]["path"] == "logs/new_2/attempt_0/1/stderr.log"
    assert not any("old_1" in item["path"] for item in result["inputs"])


def test_closed_streams_do_not_spoil_the_record(tmp_path: Path) -> None:
    """Where stdout and stderr of the caller are closed, the record holds each line once."""
    job = "for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 3"
    for closed in ("2>&-", ">&-", ">&- 2>&- <&-"):
        shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *WRAP, "-q", "--log", "all.log", "--", "sh", "-c", job]
        done = subprocess.run(shell, cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=60)
        lines = (tmp_path / "all.log").read_text().splitlines()
        assert (done.returncode, sorted(lines)) == (3, ["err1", "err2", "err3", "out1", "out2", "out3"]), closed


def test_ignored_sigchld_is_no_trap(tmp_path: Path) -> None:
    """A parent that ignores SIGCHLD hands that down; the job's end is seen all the same."""
    code = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", code, *WRAP, "-q", "--", "sh", "-c", "exit 4"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=60)
    assert done.returncode == 4


def test_a_removed_folder_costs_no_diagnosis(tmp_path: Path) -> None:
    """A job that removes the folder it was started in is diagnosed."""
    (tmp_path / "gone").mkdir()
    job = f"cd ..; rmdir gone; echo '{OOM}'; exit 5"
    done = subprocess.run(
        [*WRAP, "--", "sh", "-c", job],
        cwd=tmp_path / "gone",
        env=environment(tmp_path),
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 5
    assert b"pattern cuda-oom" in done.stderr
