"""`diagnose log` and the bare `diagnose PATH`."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from diagnose.facts.config_file import ConfigFileError
from diagnose.reason.result import Diagnosis, Input
from tests.commands.conftest import Pipeline, Run
from tests.report.build import degraded, healthy, killed


def test_bare_path_means_log(run: Run, pipeline: Pipeline) -> None:
    """`diagnose PATH` is `diagnose log PATH`."""
    bare, full = run("a.log", "b"), run("log", "a.log", "b")
    assert bare == full
    assert bare.code == 0
    assert pipeline.asked["paths"] == ["a.log", "b"]
    assert bare.out.startswith("CUDA out of memory on rank 3")


def test_options_may_stand_in_front(run: Run, pipeline: Pipeline) -> None:
    """The default command takes its options before the paths too."""
    outcome = run("--format", "jsonl", "a.log", "--set", "config.tp=2", "--config", "c.yaml", "--env", "run.sh")
    assert json.loads(outcome.out)["verdict"] == "identified"
    assert pipeline.asked["settings"] == ("config.tp=2",)
    assert (pipeline.asked["config"], pipeline.asked["env"]) == ("c.yaml", "run.sh")


def test_file_named_like_a_command(run: Run, pipeline: Pipeline) -> None:
    """A file called `explain` is reached with `diagnose log explain`."""
    assert run("log", "explain").code == 0
    assert pipeline.asked["paths"] == ["explain"]


def test_json_names_the_patterns_in_force(run: Run, pipeline: Pipeline) -> None:
    """The JSON says how many patterns were in force, and their digest."""
    tool = json.loads(run("a.log", "--format", "json").out)["tool"]
    assert tool["patterns"]["count"] > 0
    assert len(tool["patterns"]["digest"]) == 12


@pytest.mark.parametrize(("answer", "code"), [(killed(), 1), (degraded(), 1), (healthy(), 0)])
def test_exit_code_on_request(run: Run, pipeline: Pipeline, answer: Diagnosis, code: int) -> None:
    """With --exit-code a failure or a degraded run exits with 1; without it, everything with 0."""
    pipeline.answer = answer
    assert run("--exit-code", "a.log").code == code
    assert run("a.log").code == 0


def test_output_file(run: Run, pipeline: Pipeline, tmp_path: Path) -> None:
    """--output writes the report to a file and nothing to standard output."""
    target = tmp_path / "report.md"
    outcome = run("a.log", "--format", "markdown", "--output", str(target))
    assert (outcome.code, outcome.out) == (0, "")
    assert target.read_text(encoding="utf-8").startswith("### CUDA out of memory")


def test_output_never_overwrites_an_input(run: Run, pipeline: Pipeline, tmp_path: Path) -> None:
    """An --output that is one of the inputs is refused, and the input stays as it is."""
    log = tmp_path / "a.log"
    log.write_text("words")
    outcome = run(str(log), "--output", str(log))
    assert outcome.code == 2
    assert log.read_text() == "words"
    assert outcome.err.startswith("diagnose: error: ")


def test_output_that_cannot_be_written(run: Run, pipeline: Pipeline, tmp_path: Path) -> None:
    """An --output that cannot be written is one line on standard error, exit 2."""
    outcome = run("a.log", "--output", str(tmp_path / "no" / "report"))
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1


def test_nothing_readable(run: Run, pipeline: Pipeline) -> None:
    """Exit 3 where no input could be read, with the reason in one line."""
    pipeline.answer = Diagnosis("no_failure", "", inputs=(Input("a.log", 0, 0, problems=("no such file",)),))
    outcome = run("a.log")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err == "diagnose: error: a.log: no such file\n"


def test_mistyped_command(run: Run, pipeline: Pipeline) -> None:
    """An unreadable path that resembles a command is told so."""
    pipeline.answer = Diagnosis("no_failure", "", inputs=(Input("explian", 0, 0, problems=("no such file",)),))
    assert "did you mean explain?" in run("explian", "cuda-oom").err


def test_one_readable_input_is_enough(run: Run, pipeline: Pipeline) -> None:
    """One unreadable input among several is reported, and the exit code stays 0."""
    inputs = (Input("a.log", 10, 1), Input("b.log", 0, 0, problems=("permission denied",)))
    pipeline.answer = replace(killed(), inputs=inputs)
    outcome = run("a.log", "b.log")
    assert outcome.code == 0
    assert "b.log: permission denied" in outcome.out


def test_empty_log_is_readable(run: Run, pipeline: Pipeline) -> None:
    """An empty log is an answer, not an error."""
    pipeline.answer = replace(healthy(), inputs=(Input("a.log", 0, 0),))
    assert run("a.log").code == 0


def test_piped_log_is_read(run: Run, pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without arguments, a log on standard input is read."""
    (tmp_path / "a.log").write_text("words")
    with open(tmp_path / "a.log") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert run().code == 0
        assert pipeline.asked["paths"] == ["-"]
        assert run("--quiet").code == 0
        assert pipeline.asked["paths"] == ["-"]


def test_no_arguments_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without arguments and without a log on standard input, help is shown; a lone option is a usage error."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    outcome = run()
    assert outcome.code == 0
    assert "Usage: diagnose" in outcome.out
    assert run("--quiet").code == 2


def test_unreadable_configuration(run: Run, pipeline: Pipeline) -> None:
    """A --config that cannot be read ends with 3 and names its place."""
    pipeline.error = ConfigFileError("c.yaml", "a tab stands where spaces must.", "Use spaces.", 3, 1)
    outcome = run("a.log", "--config", "c.yaml")
    assert outcome.code == 3
    assert outcome.err == "diagnose: error: c.yaml:3:1: a tab stands where spaces must. Use spaces.\n"


@pytest.mark.parametrize(
    "arguments",
    [("--nope", "a"), ("a", "--format", "xml"), ("a", "--quiet", "--verbose"), ("a", "--set", "nothing")],
)
def test_wrong_usage(run: Run, pipeline: Pipeline, arguments: tuple[str, ...]) -> None:
    """Wrong usage is one line on standard error, exit 2."""
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("diagnose: error: ")
    assert outcome.err.count("\n") == 1


def test_broken_pattern_file_warns(run: Run, pipeline: Pipeline, tmp_path: Path) -> None:
    """A broken pattern file is a warning with its place; the diagnosis is made all the same."""
    (tmp_path / "bad.yaml").write_text("id: [\n")
    outcome = run("a.log", "--patterns", str(tmp_path))
    assert outcome.code == 0
    assert outcome.out.startswith("CUDA out of memory")
    assert any("bad.yaml:" in line for line in outcome.warnings)


def test_interrupt_is_quiet(run: Run, pipeline: Pipeline) -> None:
    """Control-C ends the command with 130 and without a traceback."""
    pipeline.error = KeyboardInterrupt()  # type: ignore[assignment]
    outcome = run("a.log")
    assert outcome.code == 130
    assert "Traceback" not in outcome.err


def test_own_mistake_is_one_line(run: Run, pipeline: Pipeline) -> None:
    """A mistake of the program itself is one line that says where, never a traceback."""
    pipeline.error = ZeroDivisionError("oh\x1b[31m no")
    outcome = run("a.log")
    assert outcome.code == 70
    assert outcome.err.startswith("diagnose: error: internal error, ZeroDivisionError: oh no, in conftest.py:")
    assert outcome.err.count("\n") == 1


def test_no_colours_off_a_terminal(run: Run, pipeline: Pipeline) -> None:
    """Output that is no terminal has no escape codes."""
    assert "\x1b" not in run("a.log").out


@pytest.mark.parametrize(
    ("environment", "arguments", "coloured"),
    [({}, (), True), ({"NO_COLOR": "1"}, (), False), ({"TERM": "dumb"}, (), False), ({}, ("--no-color",), False)],
)
def test_colours_on_a_terminal(
    run: Run,
    pipeline: Pipeline,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    arguments: tuple[str, ...],
    coloured: bool,
) -> None:
    """A terminal gets colours, unless NO_COLOR, TERM=dumb or --no-color says otherwise."""
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert ("\x1b[" in run("a.log", *arguments).out) is coloured
