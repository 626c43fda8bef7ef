"""A task is diagnosed and announced, in this process or in one of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import types
from dataclasses import replace
from pathlib import Path

import pytest

from diagnose.deliver.announce import announce, own_files, renamed, write_file
from diagnose.deliver.model import Event, NotifySettings, Outcome
from diagnose.deliver.task import Task, Text
from diagnose.deliver.termination import LIMIT, termination_file, termination_message
from diagnose.deliver.worker import run_boxed
from diagnose.reason.result import Diagnosis
from tests.report.build import healthy, out_of_memory

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 has a total capacity of 79 GiB\n"
TASK = Task(Event("wrap", job_id="5"), texts=(Text("output", OOM),), settings="/dev/null")


def test_task_survives_its_trip() -> None:
    """A task is the same after it was handed to another process."""
    task = replace(TASK, paths=("a", "b"), shown={"x": "y"}, owner=3, patterns=("p",), color=True)
    assert Task.from_json(task.to_json()) == task


def test_reports(tmp_path: Path) -> None:
    """The report is written as JSON and as Markdown, and given back as text."""
    done = announce(replace(TASK, report=str(tmp_path / "r"), termination=str(tmp_path / "t")))
    assert done.verdict == "identified"
    assert done.problems == ()
    assert "pattern cuda-oom" in done.text
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "identified"
    assert (tmp_path / "r.md").read_text().strip() == done.markdown.strip()
    assert (tmp_path / "t").read_text().startswith("CUDA out of memory")


def test_what_cannot_be_written(tmp_path: Path) -> None:
    """A report that cannot be written is a problem; the answer is given all the same."""
    done = announce(replace(TASK, report=str(tmp_path / "no" / "r")))
    assert done.verdict == "identified"
    assert len(done.problems) == 2
    assert "could not be written" in done.problems[0]


def test_quiet_where_nothing_failed(tmp_path: Path) -> None:
    """On request nothing is written where nothing failed."""
    task = replace(TASK, texts=(Text("output", "fine\n"),), report=str(tmp_path / "r"), quiet_if_healthy=True)
    assert announce(task).verdict == "no_failure"
    assert list(tmp_path.iterdir()) == []


def test_notifiers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notifiers get the masked diagnosis and the event; their failures are problems, also where they raise."""
    seen: list[tuple[Diagnosis, Event]] = []

    def deliver(diagnosis: Diagnosis, event: Event, settings: NotifySettings) -> list[Outcome]:
        seen.append((diagnosis, event))
        if len(seen) > 1:
            raise ZeroDivisionError("oh")
        return [Outcome("hook", False, "HTTP 500", 3)]

    module = types.ModuleType("diagnose.deliver.notify")
    module.deliver = deliver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "diagnose.deliver.notify", module)
    settings = tmp_path / "diagnose.yaml"
    settings.write_text("notify:\n  - {type: webhook, url: 'https://example.com'}\n")
    secret = "token=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"
    task = replace(TASK, settings=str(settings), texts=(Text("output", f"{OOM.rstrip()} {secret}\n"),))
    assert announce(task).problems == ("notifier hook: HTTP 500",)
    assert seen[0][1].job_id == "5"
    assert "hf_abcdefgh" not in repr(seen[0][0])
    assert announce(task).problems == ("the notification failed: ZeroDivisionError: oh",)
    assert announce(replace(task, notify=False)).problems == ()


def test_paths_are_shown_as_they_are_called() -> None:
    """A name that a file has only for us appears nowhere in the answer."""
    found = renamed(out_of_memory(), {"train.log": "output"})
    assert "train.log" not in repr(found)
    assert found.root_cause is not None
    assert found.root_cause.evidence[0].path == "output"


def test_own_files(tmp_path: Path) -> None:
    """Only regular files of the user are kept, whatever leads to them."""
    log = tmp_path / "a-1.out"
    log.write_text("")
    (tmp_path / "a-link.out").symlink_to("/etc/hostname")
    (tmp_path / "a-folder.out").mkdir()
    os.mkfifo(tmp_path / "a-pipe.out")
    problems: list[str] = []
    mine = os.getuid()
    assert own_files([str(tmp_path / "a-*.out"), str(tmp_path / "none")], mine, problems)[0] == str(log)
    assert any("none" in each for each in problems)
    problems.clear()
    assert own_files([str(log), str(tmp_path / "none")], mine + 1, problems) == []
    said = {each.partition(": ")[2] for each in problems}
    assert said == {"there is no file of the job's user that can be read"}


def test_file_swapped_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that becomes a link to another's file between the look at it and its opening is not read."""
    mine = os.getuid() or 12345
    log, secret = tmp_path / "a-1.out", tmp_path / "secret"
    log.write_text("fine\n")
    secret.write_text(f"{OOM}")
    if os.getuid() == 0:
        os.chown(log, mine, -1)
    else:
        secret = Path("/etc/passwd")

    def swap(paths: list[str], owner: int, problems: list[str]) -> list[str]:
        kept = own_files(paths, owner, problems)
        log.unlink()
        log.symlink_to(secret)
        return kept

    monkeypatch.setattr("diagnose.deliver.announce.own_files", swap)
    done = announce(replace(TASK, texts=(), paths=(str(log),), owner=mine))
    assert done.verdict != "identified"
    assert "permission denied" in done.text


def test_write_replaces_a_link(tmp_path: Path) -> None:
    """A link at the report's place is replaced, and what it points to is left alone."""
    target = tmp_path / "target"
    target.write_text("precious")
    link = tmp_path / "r.json"
    link.symlink_to(target)
    write_file(str(link), "new")
    assert target.read_text() == "precious"
    assert link.read_text() == "new"
    assert not link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "target"]


def test_boxed(tmp_path: Path) -> None:
    """A process of its own gives the same answer."""
    done = run_boxed(replace(TASK, report=str(tmp_path / "r")), 60)
    assert done.problems == ()
    assert done.verdict == "identified"
    assert (tmp_path / "r.json").exists()


def test_box_is_closed_in_time(tmp_path: Path) -> None:
    """A process that hangs is killed in time, with all it started."""
    os.mkfifo(tmp_path / "a.log")
    done = run_boxed(replace(TASK, paths=(str(tmp_path / "a.log"),)), 1)
    assert done.verdict == ""
    assert "took longer than 1 s" in done.problems[0]


def test_box_that_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies is a sentence."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert "exit code 1" in run_boxed(TASK, 10).problems[0]
    monkeypatch.setattr(sys, "executable", "/no/python")
    assert "could not be started" in run_boxed(TASK, 10).problems[0]


def test_box_is_closed_on_a_signal(tmp_path: Path) -> None:
    """What a signal handler raises ends the process and is passed on."""
    os.mkfifo(tmp_path / "a.log")
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_boxed(replace(TASK, paths=(str(tmp_path / "a.log"),)), 30)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_termination_message_fits() -> None:
    """The message says what failed, where, and the first fix, within 4096 bytes."""
    text = termination_message(out_of_memory())
    assert "train.log:88412" in text
    assert "Fix: Let the allocator grow its segments." in text
    assert "\nexport PYTORCH_CUDA_ALLOC_CONF" in text
    long = replace(out_of_memory(), summary="ä" * 9000)
    assert len(termination_message(long).encode()) <= LIMIT
    assert termination_message(healthy())


def test_termination_file(tmp_path: Path) -> None:
    """The message has a place only where there is one."""
    assert termination_file({"TERMINATION_LOG": str(tmp_path / "none")}) == ""
    (tmp_path / "log").write_text("")
    assert termination_file({"TERMINATION_LOG": str(tmp_path / "log")}) == str(tmp_path / "log")


_ASKER = """
import sys
import time
from diagnose.deliver.model import Event
from diagnose.deliver.task import Task
from diagnose.deliver.worker import run_boxed
from unittest.mock import patch
with patch("diagnose.deliver.worker._SLACK", -56):
    run_boxed(Task(Event("wrap"), paths=(sys.argv[1],), settings="/dev/null"), 60)
"""


def test_a_diagnosis_whose_asker_was_killed(tmp_path: Path) -> None:
    """A diagnosis that hangs ends soon after its time, also where nobody is left to end it."""
    os.mkfifo(tmp_path / "job.log")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    asker = subprocess.Popen([sys.executable, "-c", _ASKER, str(tmp_path / "job.log")], env=environment)
    children = Path(f"/proc/{asker.pid}/task/{asker.pid}/children")
    deadline = time.monotonic() + 30
    while not (found := children.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(2)  # it has its task by now, and waits for the pipe
    asker.kill()
    asker.wait()

    def runs(pid: str) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    assert found
    while any(map(runs, found)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(runs, found))
