"""`diagnose log --follow`: the real command beside a process that writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "diagnosis-v1.schema.json").read_text())
STEP = (
    "[rank3]: iteration {n}/ 90000 | consumed samples: {n} | elapsed time per iteration (ms): 100.1 | "
    "lm loss: 2.1E+00 |\n"
)
FAILURE = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/opt/train.py", line 7, in step\n'
    "[rank3]:     loss.backward()\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
    "79.11 GiB of which 1.20 GiB is free. Process 1 has 77.90 GiB memory in use. Of the allocated memory 66.10 GiB is "
    "allocated by PyTorch, and 1.90 GiB is reserved by PyTorch but unallocated.\n"
)
SOON = ("--settle", "0.4", "0.2", "3")
LONGEST = 60  # seconds a test may take

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the command runs in: no patterns of the user's own, lines of 100 columns."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(tmp_path / "none"), "COLUMNS": "100"}


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Start]:
    """Start the command; whatever happens, it does not outlive the test."""
    started: list[subprocess.Popen[str]] = []

    def call(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "diagnose", "log", "--follow", *arguments]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
        started.append(process)
        return process

    yield call
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def _line(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The next line of JSON that the command prints."""
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    jsonschema.validate(found, SCHEMA)
    return found


def _rest(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, err
    return out


def _wait_until_it_listens(process: subprocess.Popen[str]) -> None:
    """Wait until the command minds SIGTERM; before, it ends as any program does."""
    mask = 0
    while not mask & 1 << (signal.SIGTERM - 1):
        time.sleep(0.05)
        status = Path(f"/proc/{process.pid}/status").read_text()
        mask = int(status.partition("SigCgt:")[2].split()[0], 16)


def test_failure_while_it_runs(start: Start, tmp_path: Path) -> None:
    """A log that is not there yet, grows, fails: each change is a line, provisional until the job has ended."""
    path = tmp_path / "train.log"
    process = start("--format", "jsonl", *SOON, str(path))
    time.sleep(0.5)
    _add(path, "".join(STEP.format(n=n) for n in range(1, 40)))
    first = _line(process)
    assert (first["verdict"], first["provisional"]) == ("no_failure", True)
    assert first["run"]["progress"]["last_iteration"] == 39
    _add(path, FAILURE)
    second = _line(process)
    assert (second["verdict"], second["root_cause"]["pattern"]) == ("identified", "cuda-oom")
    assert second["provisional"]
    last = _line(process)
    assert last["root_cause"]["evidence"][0]["line"] == 43
    assert not last["provisional"]
    assert _rest(process) == ""


def test_report_for_a_person(start: Start, environment: dict[str, str], tmp_path: Path) -> None:
    """A terminal gets a line a change and then the report that it gets without --follow."""
    path = tmp_path / "train.log"
    path.write_text(STEP.format(n=1) + FAILURE)
    out = _rest(start(*SOON, str(path)))
    first, _, report = out.partition("\n")
    assert "provisional  identified: " in first
    command = [sys.executable, "-m", "diagnose", "log", str(path)]
    plain = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    assert report == plain.stdout


def test_recovery_takes_it_back(start: Start, tmp_path: Path) -> None:
    """A failure that progress follows does not end it; an interrupt does, with what is known by then."""
    path = tmp_path / "train.log"
    path.write_text(STEP.format(n=1) + FAILURE.replace("[rank3]: ", ""))
    process = start("--format", "json", "--settle", "30", "0.2", "60", str(path))
    assert _line(process)["verdict"] == "identified"
    _add(path, "".join(STEP.replace("[rank3]: ", "").format(n=n) for n in range(2, 30)))
    assert _line(process)["verdict"] == "no_failure"
    process.send_signal(signal.SIGINT)
    last = _line(process)
    assert (last["verdict"], last["provisional"]) == ("no_failure", True)
    assert _rest(process) == ""


@pytest.mark.parametrize("way", ["copied", "renamed"])
def test_rotation(start: Start, tmp_path: Path, way: str) -> None:
    """A log that is rotated away is followed on, and what it said before still counts, once."""
    path = tmp_path / "train.log"
    path.write_text(STEP.format(n=1))
    process = start("--format", "jsonl", "--settle", "2", "0.2", "5", str(tmp_path))
    assert _line(process)["verdict"] == "no_failure"
    _add(path, FAILURE)
    assert _line(process)["verdict"] == "identified"
    old = tmp_path / "train.log.1"
    if way == "copied":
        old.write_bytes(path.read_bytes())
        path.write_text("")
    else:
        path.rename(old)
    _add(path, "[rank3]: the last words\n")
    last = _line(process)
    assert (last["verdict"], last["root_cause"]["pattern"]) == ("identified", "cuda-oom")
    assert [(each["lines"], len(each["problems"])) for each in last["inputs"]] == [(6, 1)]


def test_files_appear_in_a_folder(start: Start, tmp_path: Path) -> None:
    """Logs that appear while a folder is followed are part of the job."""
    (tmp_path / "rank_0.log").write_text("".join(STEP.format(n=n) for n in range(1, 4)))
    process = start("--format", "jsonl", *SOON, str(tmp_path))
    assert _line(process)["verdict"] == "no_failure"
    (tmp_path / "rank_3.log").write_text(STEP.format(n=1) + FAILURE)
    found = _line(process)
    assert (found["root_cause"]["pattern"], len(found["inputs"])) == ("cuda-oom", 2)
    assert not _line(process)["provisional"]


def test_process_of_the_job(start: Start, tmp_path: Path) -> None:
    """With --pid it is the process's end that ends it, and no failure in the log before that."""
    path = tmp_path / "train.log"
    path.write_text(FAILURE)
    job = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = start("--format", "jsonl", "--pid", str(job.pid), *SOON, str(path))
    assert _line(process)["provisional"]
    time.sleep(1.5)
    assert process.poll() is None
    assert job.stdin is not None
    job.stdin.close()
    assert not _line(process)["provisional"]
    job.wait()


def test_silence(start: Start, tmp_path: Path) -> None:
    """With --idle silence is the end; the last line counts though its end is missing, and --output gets the lines."""
    path, report = tmp_path / "train.log", tmp_path / "report.jsonl"
    path.write_text(STEP.format(n=1) + FAILURE.rstrip())
    assert _rest(start("--idle", "0.5", "--format", "jsonl", "--output", str(report), str(path))) == ""
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert [line["provisional"] for line in lines] == [True, False]
    assert [line["verdict"] for line in lines] == ["unknown", "identified"]
    assert lines[-1]["inputs"][0]["lines"] == 5


def test_end_of_training(start: Start, tmp_path: Path) -> None:
    """A job that says that it is done has ended, without any failure."""
    path = tmp_path / "train.log"
    path.write_text(STEP.format(n=1) + "[exiting program at iteration 1] datetime: 2026-03-01 10:00:00 \n")
    assert "Nothing failed" in _rest(start(*SOON, str(path)))


def test_reader_that_left(start: Start, tmp_path: Path) -> None:
    """When nobody reads what is said, it ends by itself."""
    path = tmp_path / "train.log"
    path.write_text(STEP.format(n=1))
    process = start("--format", "jsonl", "--settle", "50", "50", "90", str(path))
    _line(process)
    assert process.stdout is not None
    process.stdout.close()
    _add(path, FAILURE)
    assert process.wait(timeout=LONGEST) == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks the system what a process listens to")
def test_nothing_ever_came(start: Start, tmp_path: Path) -> None:
    """An interrupt before there was any file says that there is none."""
    process = start(*SOON, str(tmp_path / "nothing.log"))
    _wait_until_it_listens(process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 3
    assert "nothing.log" in err


@pytest.mark.parametrize(
    "arguments",
    [("--follow", "-"), ("--follow",), ("--pid", "1", "a.log"), ("--follow", "--settle", "9", "1", "2", "a")],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    """What cannot be followed, and options that mean nothing, are refused."""
    command = [sys.executable, "-m", "diagnose", "log", *arguments]
    outcome = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=ROOT, check=False)
    assert outcome.returncode == 2, outcome.stderr


def test_named_pipe(tmp_path: Path) -> None:
    """A named pipe cannot be followed, for its size tells nothing: it is refused with what to do instead."""
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "diagnose", "log", "--follow", str(tmp_path / "pipe")]
    outcome = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=LONGEST)
    assert outcome.returncode == 2
    assert "without --follow" in outcome.stderr


def test_restart_is_no_end(tmp_path: Path, start: Start) -> None:
    """After torchrun's word that it starts the workers again the job is followed on, however long that takes."""
    log = tmp_path / "train.log"
    log.write_text("".join(STEP.format(n=n) for n in range(1, 5)) + FAILURE)
    with log.open("a") as file:
        file.write("[default] Worker group FAILED. 3/3 attempts left; will restart worker group\n")
    process = start(*SOON, "--format", "jsonl", str(log))
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["root_cause"]["pattern"] == "cuda-oom"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(4)  # longer than it takes to settle
    with log.open("a") as file:
        file.write("".join(STEP.format(n=n) for n in range(2, 9)) + "[exiting program at iteration 9] datetime: x\n")
    out, _ = process.communicate(timeout=LONGEST)
    last = json.loads(out.splitlines()[-1])
    assert (last["verdict"], last["provisional"]) == ("no_failure", False)
