"""`diagnose explain` and `diagnose patterns`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diagnose.catalogue import load
from diagnose.catalogue.model import Pattern, Sample
from diagnose.commands.patterns.test import failures_of
from diagnose.facts.model import Event
from diagnose.read.model import Evidence
from tests.commands.conftest import Run

GOOD = """\
id: tea-is-cold
title: The tea is cold
category: code
role: root
status: stable
about: |
  Nobody drank it.

  It stood too long.
match:
  - regex: 'TeaError: the tea is cold after (?P<minutes>\\d+) min'
causes: [{id: forgotten, text: It was forgotten.}]
checks: [{id: clock, question: How late is it?, look: Run date.}]
fixes: [{id: brew, text: Brew it anew., how: [{shell: 'brew --tea'}]}]
references: [the kettle's manual]
samples:
  match: [{text: 'TeaError: the tea is cold after 30 min', expect: {minutes: '30'}}]
  no_match: [{text: 'the tea is hot', why: it is hot}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one good pattern."""
    (tmp_path / "tea").mkdir()
    (tmp_path / "tea" / "tea-is-cold.yaml").write_text(GOOD)
    return tmp_path


def test_manual_page(run: Run, folder: Path) -> None:
    """`explain` shows title, manual, wordings, checks, causes, fixes with lines to paste, references and samples."""
    outcome = run("explain", "tea-is-cold", "--patterns", str(folder))
    assert outcome.code == 0
    for wanted in (
        "The tea is cold",
        "tea-is-cold · code · root · stable",
        "It stood too long.",
        "TeaError: the tea is cold after",
        "How late is it?",
        "It was forgotten.",
        "Brew it anew.",
        "brew --tea",
        "the kettle's manual",
        "it is hot",
    ):
        assert wanted in outcome.out


def test_unknown_id(run: Run, folder: Path) -> None:
    """An unknown id is a usage error that names what was probably meant."""
    outcome = run("explain", "tea-is-old", "--patterns", str(folder))
    assert (outcome.code, outcome.out) == (2, "")
    assert "did you mean tea-is-cold" in outcome.err


def test_every_pattern_has_a_page(run: Run) -> None:
    """The manual page of each shipped pattern is rendered and begins with its title."""
    from diagnose.report.manual import render
    from tests.report.build import context

    for pattern in load(layers=False).patterns.values():
        assert render(pattern, context()).startswith(" ".join(pattern.title.split()))


def test_list(run: Run, folder: Path) -> None:
    """`patterns list` names each pattern on a line, and the same in JSON."""
    text = run("patterns", "list", "--patterns", str(folder)).out
    data = json.loads(run("patterns", "list", "--format", "json", "--patterns", str(folder)).out)
    assert [line.split()[0] for line in text.splitlines()] == [item["id"] for item in data]
    assert {"id": "tea-is-cold", "role": "root", "category": "code"}.items() <= next(
        item for item in data if item["id"] == "tea-is-cold"
    ).items()


def test_list_expressions(run: Run, folder: Path) -> None:
    """`patterns list --expressions` prints the expressions alone, one a line, as other search tools take them."""
    lines = run("patterns", "list", "--expressions", "--patterns", str(folder)).out.splitlines()
    assert r"TeaError: the tea is cold after (?:\d+) min" in lines


def test_check_good_file(run: Run, folder: Path) -> None:
    """A good file passes."""
    outcome = run("patterns", "check", str(folder))
    assert (outcome.code, outcome.out) == (0, "all is well\n")


def test_check_broken_file(run: Run, folder: Path) -> None:
    """A broken file is named with line and column, exit 4."""
    path = folder / "tea" / "tea-is-cold.yaml"
    path.write_text(GOOD.replace("category: code", "category: coed"))
    outcome = run("patterns", "check", str(folder))
    assert outcome.code == 4
    assert f"{path}:3:11: " in outcome.out
    assert "code" in outcome.out


def test_check_missing_file(run: Run) -> None:
    """A file that is not there cannot be read: exit 3."""
    assert run("patterns", "check", "no/such.yaml").code == 3


def test_samples_pass_through_the_pipeline(run: Run, folder: Path) -> None:
    """`patterns test` runs the samples of the named pattern."""
    outcome = run("patterns", "test", "tea-is-cold", "--patterns", str(folder))
    assert (outcome.code, outcome.out) == (0, "2 samples of 1 pattern: all is well\n")


def test_failing_samples_are_named() -> None:
    """A sample fails where it does not match, captures otherwise, shows another line, or a look-alike matches."""

    def match(text: str) -> list[Event]:
        return [Event("p", 0, {"n": "1"}, Evidence("-", 1, text), 0)] if "hit" in text else []

    pattern = Pattern(
        "p", "P", "code", "root", "stable", (),
        samples_match=(
            Sample("hit"), Sample("miss"), Sample("hit", expect={"n": "2"}), Sample("hit", line="other"),
        ),
        samples_no_match=(Sample("hit", why="no"), Sample("miss", why="no")),
    )  # fmt: skip
    assert list(failures_of(pattern, match)) == [
        "match sample 2 did not match: miss",
        "match sample 3 captured n = '1' in place of '2': hit",
        "match sample 4 took line 1 for the evidence, not the one with 'other': hit",
        "no_match sample 1 matched by alternative 1: hit",
    ]


def test_unknown_id_to_test(run: Run) -> None:
    """`patterns test` of an unknown id is a usage error."""
    assert run("patterns", "test", "no-such-pattern-at-all").code == 2
