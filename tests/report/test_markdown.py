"""The Markdown report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.reason.result import ConfigValue
from diagnose.report import RENDERERS
from diagnose.report.markdown import escape, fence
from tests.report.build import ALL, context, line, out_of_memory
from tests.report.test_text import check_snapshot

render = RENDERERS["markdown"]
SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.mark.parametrize("name", ["out_of_memory", "unknown"])
def test_snapshot(name: str) -> None:
    """The report reads as its snapshot does."""
    check_snapshot(f"{name}_markdown", render(ALL[name](), context()))


def test_backticks_in_a_log_do_not_end_the_quote() -> None:
    """A fence is longer than any run of backticks in the quoted lines."""
    quoted = fence(["a ``` b", "````"])
    assert quoted.startswith("`````text\n")
    assert quoted.endswith("\n`````")


@settings(derandomize=True, max_examples=80, deadline=None)
@given(st.lists(st.text(st.sampled_from("`a\n~ ")), max_size=4))
def test_only_the_fence_closes_the_fence(lines: list[str]) -> None:
    """No quoted line can close the fence."""
    first, *middle, last = fence(lines).split("\n")
    bar = re.match("`+", first)
    assert bar is not None
    assert last == bar.group()
    assert not any(text.strip().startswith(bar.group()) for text in middle)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>", "&lt;script\\>"),
        ("a | b", "a \\| b"),
        ("[x](y)", "\\[x\\](y)"),
        ("ping @team now", "ping @\u200bteam now"),
        ("user@host", "user@host"),
        ("two\nlines", "two lines"),
    ],
)
def test_log_text_is_escaped(text: str, shown: str) -> None:
    """Markup, table bars, links and mentions in log text lose their meaning."""
    assert escape(text) == shown


def test_never_longer_than_an_issue_takes() -> None:
    """The report stays within 60 KB, keeps the headline and says that something was left out."""
    huge = "x" * 50_000
    diagnosis = out_of_memory()
    config = {f"key{number}": ConfigValue(huge, huge) for number in range(500)}
    assert diagnosis.root_cause is not None
    root = replace(diagnosis.root_cause, evidence=(line(1, huge),) * 100, why=huge)
    text = render(
        replace(diagnosis, summary=huge, root_cause=root, run=replace(diagnosis.run, config=config)), context()
    )
    assert len(text.encode()) <= 60_000
    assert text.startswith("### xxx")
    assert "left out for length" in text


def test_details_are_closed() -> None:
    """Each folded part is closed."""
    text = render(out_of_memory(), context())
    assert text.count("<details>") == text.count("</details>") > 3
