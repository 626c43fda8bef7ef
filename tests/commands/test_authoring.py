"""`diagnose patterns new`, `match`, `check` and `docs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Run

LOG = """\
[rank0]: fleetfs: quota of project 'alpha' is used up after 12 files
[rank1]: fleetfs: quota of project 'alpha' is used up after 14 files
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A log in a folder of its own, and the folder to stand in."""
    monkeypatch.chdir(tmp_path)
    Path("train.log").write_text(LOG)
    return "train.log"


def test_new_writes_a_file_and_says_what_to_do(run: Run, log: str) -> None:
    """The file lies in the project's layer, under its family; the next commands are named."""
    outcome = run("patterns", "new", log, "quota of project")
    path = Path(".diagnose/patterns/storage/fleetfs-quota-project-used-up.yaml")
    assert outcome.code == 0
    assert path.exists()
    assert f"wrote {path}" in outcome.out
    assert "2 lines hold that text; took the first, line 1." in outcome.out
    assert "diagnose patterns test fleetfs-quota-project-used-up\n" in outcome.out


def test_new_never_overwrites(run: Run, log: str) -> None:
    """A file that is there stays as it is."""
    folder = ("--output", "mine", "--id", "fleet-quota", "--family", "storage")
    assert run("patterns", "new", log, "--line", "1", *folder).code == 0
    outcome = run("patterns", "new", log, "--line", "2", *folder)
    assert (outcome.code, outcome.out) == (2, "")
    assert "is there already" in outcome.err


def test_new_names_patterns_that_match_already(run: Run, log: str) -> None:
    """Whoever describes a known failure again is told."""
    Path(log).write_text("OSError: [Errno 28] No space left on device: '/scratch/a'\n")
    assert "no-space-left (root) matches this line already" in run("patterns", "new", log, "No space").out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["train.log"], 2, "name the line"),
        (["train.log", "quota", "--line", "1"], 2, "name the line"),
        (["train.log", "quota", "--id", "Fleet_Quota"], 2, "lower-case words"),
        (["train.log", "quota", "--id", "cuda-oom"], 2, "is in use"),
        (["train.log", "no such words"], 3, "no line of train.log"),
        (["nowhere.log", "quota"], 3, "nowhere.log"),
    ],
)
def test_new_with_wrong_arguments(run: Run, log: str, arguments: list[str], code: int, said: str) -> None:
    """Each mistake is one line that says what to do."""
    outcome = run("patterns", "new", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err


def test_match_shows_what_it_finds_and_what_it_misses(run: Run, log: str) -> None:
    """Matched lines with captures, near misses with the place where they fail, the literal and the cost."""
    outcome = run("patterns", "match", "quota of project '(?P<project>\\w+)' is used up after 12", log)
    assert outcome.code == 0
    for wanted in (
        "matched   1 line of 2",
        "project=alpha",
        "missed    1 line",
        "fails at   2",
        "rare enough",
        "cost ",
    ):
        assert wanted in outcome.out


def test_match_refuses_what_check_would_refuse(run: Run, log: str) -> None:
    """An expression with a fault is named as such, exit 4."""
    outcome = run("patterns", "match", "quota (of", log)
    assert outcome.code == 4
    assert outcome.out.startswith("fault     the expression is wrong: ")
    assert run("patterns", "match", "quota", "nowhere.log").code == 3


def test_check_leaves_checks_out(run: Run, log: str) -> None:
    """`--skip` takes the name in brackets; an unknown one is a usage error."""
    run("patterns", "new", log, "--line", "1", "--id", "fleet-quota", "--output", "mine")
    assert "[blanks]" in run("patterns", "check", "mine").out
    assert run("patterns", "check", "mine", "--skip", "blanks").code == 0
    outcome = run("patterns", "check", "mine", "--skip", "blank")
    assert outcome.code == 2
    assert "did you mean blanks" in outcome.err


def test_docs_are_written_and_checked(run: Run, log: str) -> None:
    """Pages are written, found current, and a change makes one stale."""
    assert run("patterns", "docs", "--output", "pages").code == 0
    assert run("patterns", "docs", "--output", "pages", "--check").code == 0
    page = Path("pages/memory.md")
    page.write_text("other words")
    outcome = run("patterns", "docs", "--output", "pages", "--check")
    assert (outcome.code, outcome.out) == (4, "pages/memory.md is stale\n")
