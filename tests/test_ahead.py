"""Tests of the process that reads a log's numbers while the other one loads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from diagnose import ahead as module
from diagnose import api
from diagnose.ahead import Ahead, look_ahead
from diagnose.reason.result import Diagnosis
from diagnose.report.json import render
from diagnose.report.model import Context

SAMPLES = Path(__file__).parents[1] / "samples"
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
pytestmark = [needs_fork, pytest.mark.filterwarnings("ignore::DeprecationWarning")]  # Python 3.12 warns beside threads

LINE = (
    " [2026-02-25 06:{m:02}:{s:02}] iteration {n:8}/  500000 | consumed samples: {c:12} | "
    "elapsed time per iteration (ms): {ms:.1f} | "
    "throughput per GPU (TFLOP/s/GPU): {t:.1f} | learning rate: 3.000000E-04 | global batch size:  1024 | "
    "lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 0.330 | number of skipped iterations:   0 | "
    "number of nan iterations:   0 |\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a log of 1,500 iterations that slow down, and an out of memory behind them."""
    path = tmp_path / "train.log"
    with path.open("w") as file:
        for n in range(1, 1501):
            ms = (4000.0 if n < 900 else 5200.0) + n % 7
            file.write(LINE.format(m=n // 60 % 60, s=n % 60, n=n, c=n * 1024, ms=ms, t=1.6e6 / ms, loss=2 + 1 / n))
        file.write(
            "[rank3]: Traceback (most recent call last):\n"
            '[rank3]:   File "/workspace/train.py", line 12, in <module>\n[rank3]:     step()\n'
            "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 has a total "
            "capacity of 79.10 GiB of which 100.00 MiB is free. Of the allocated memory 66.10 GiB is allocated by "
            "PyTorch, and 11.90 GiB is reserved by PyTorch but unallocated.\n"
        )
    return path


@pytest.fixture
def begin(request: pytest.FixtureRequest) -> Iterator[Callable[..., Ahead]]:
    """Start such processes, and leave none behind."""
    started: list[Ahead] = []

    def start(path: Path | str, kept: Callable[[], None] = lambda: None) -> Ahead:
        started.append(Ahead(str(path), "sampled", kept))
        return started[-1]

    yield start
    for each in started:
        each.close()


def told(diagnosis: Diagnosis) -> object:
    """Return a diagnosis as its JSON has it."""
    return json.loads(render(diagnosis, Context("0")))


@pytest.mark.parametrize(
    "name", ["train.log", *sorted(str(p.relative_to(SAMPLES)) for p in SAMPLES.rglob("*.log"))[::9]]
)
def test_same_diagnosis(name: str, log: Path, begin: Callable[..., Ahead]) -> None:
    """Whoever reads the numbers, the diagnosis is the same to the letter."""
    path = log if name == "train.log" else SAMPLES / name
    catalogue = api.load_catalogue()
    alone = api.diagnose([path], catalogue=catalogue)
    other = begin(path)
    assert told(api.diagnose([path], catalogue=catalogue, ahead=other)) == told(alone)
    if name == "train.log":
        assert alone.root_cause is not None
        assert alone.risks


def test_the_numbers_are_used(log: Path, begin: Callable[..., Ahead], monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's numbers are taken, and none are read here."""
    other = begin(log)

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the numbers were read here")

    monkeypatch.setattr("diagnose.facts.collect.numbers_of", fail)
    assert api.diagnose([log], ahead=other).root_cause is not None


@pytest.mark.parametrize("fault", ["killed", "killed while it tells", "other file", "grown", "folder"])
def test_process_that_fails_costs_only_time(fault: str, log: Path, tmp_path: Path, begin: Callable[..., Ahead]) -> None:
    """Where the process dies, or read something else, the numbers are read here."""
    alone = told(api.diagnose([log]))
    path = log
    if fault == "other file":
        path = tmp_path / "other.log"
        path.write_text("nothing\n")
    elif fault == "folder":
        path = tmp_path
    other = begin(path)
    if fault.startswith("killed"):
        if fault != "killed":
            told_of, writer = os.pipe()
            os.write(writer, os.read(other._pipe, 500))
            os.close(writer)
            os.dup2(told_of, other._pipe)
            os.close(told_of)
        os.kill(other._process, signal.SIGKILL)
    if fault == "grown":
        time.sleep(0.5)
        with log.open("a") as file:
            file.write("one line more\n")
        alone = told(api.diagnose([log]))
    assert told(api.diagnose([log], ahead=other)) == alone


def test_process_is_gone_afterwards(log: Path, begin: Callable[..., Ahead]) -> None:
    """No process is left, whether its numbers were wanted or not."""
    used, unused = begin(log), begin(log)
    processes = [used._process, unused._process]
    api.diagnose([log], ahead=used)
    unused.close()
    unused.close()
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_what_is_not_worth_a_process(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files, several files, pipes, `--jobs 1`, `--metrics off` and one processor start none."""
    small = tmp_path / "small.log"
    small.write_text("x\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(module, "Ahead", lambda *_: pytest.fail("a process was started"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    for paths in ([str(small)], [str(log), str(log)], [str(pipe)], ["-"], [str(tmp_path)], [str(tmp_path / "none")]):
        assert look_ahead({"paths": paths}, lambda: None) is None
    assert look_ahead({"paths": [str(log)], "jobs": 1}, lambda: None) is None
    assert look_ahead({"paths": [str(log)], "metrics": "off"}, lambda: None) is None
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert look_ahead({"paths": [str(log)]}, lambda: None) is None


def test_what_it_compiles_is_kept(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The expressions of iteration lines are compiled once, not in every such process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = [sys.executable, "-m", "diagnose", "log", str(log)]
    subprocess.run(run, capture_output=True, check=True)
    code = (
        "import sys\nfrom diagnose.ahead import _numbers\nfrom diagnose.expressions import EXPRESSIONS\n"
        "_numbers(sys.argv[1], 'sampled')\nprint(EXPRESSIONS._fresh_standard)"
    )
    look = [sys.executable, "-c", code, str(log)]
    assert subprocess.run(look, capture_output=True, text=True, check=True, cwd=SAMPLES.parent).stdout == "[]\n"


def test_it_holds_no_output_open(log: Path) -> None:
    """Who reads the program's output does not wait for that process where the program is killed."""
    reader, writer = os.pipe()
    code = (
        "import os, signal, sys, time\nfrom diagnose import ahead\nahead._numbers = lambda *_: time.sleep(60)\n"
        "other = ahead.Ahead(sys.argv[1], 'sampled', lambda: None)\nos.write(2, b'%d' % other._process)\n"
        "time.sleep(0.5)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    run = [sys.executable, "-c", code, str(log)]
    process = subprocess.Popen(run, stdout=writer, stderr=subprocess.PIPE, cwd=SAMPLES.parent)
    os.close(writer)
    started = time.monotonic()
    assert os.read(reader, 1) == b""
    _, error = process.communicate()
    os.close(reader)
    os.kill(int(error), signal.SIGKILL)
    assert time.monotonic() - started < 30


def test_it_loads_no_catalogue(log: Path) -> None:
    """The process imports what reads numbers, and neither patterns nor what judges."""
    code = (
        "import sys\nfrom diagnose.ahead import _numbers\nassert len(_numbers(sys.argv[1], 'sampled')) > 1000\n"
        "print(sorted({name.split('.')[1] for name in sys.modules if name.startswith('diagnose.')}))"
    )
    run = [sys.executable, "-c", code, str(log)]
    rooms = subprocess.run(run, capture_output=True, text=True, check=True, cwd=SAMPLES.parent).stdout
    assert not {"catalogue", "reason", "report", "commands"} & set(json.loads(rooms.replace("'", '"')))


def test_the_command(log: Path, tmp_path: Path) -> None:
    """The command gives the same answer with one process and with two, and interrupts leave nothing behind."""
    answers = []
    for options in (["--jobs", "1"], []):
        run = [sys.executable, "-m", "diagnose", "log", str(log), "--format", "json", *options]
        answers.append(json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout))
    assert answers[0] == answers[1]
