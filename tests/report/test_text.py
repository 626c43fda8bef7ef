"""The terminal report."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.reason.result import Diagnosis, Finding
from diagnose.report import RENDERERS
from diagnose.report.layout import cells
from tests.report.build import ALL, OOM_LINE, ambiguous, context, healthy, line, out_of_memory

SNAPSHOTS = Path(__file__).parent / "snapshots"
render = RENDERERS["text"]


def check_snapshot(name: str, text: str) -> None:
    """Compare with the stored text; UPDATE_SNAPSHOTS=1 stores the new one."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(ALL))
def test_first_screen(name: str) -> None:
    """Each kind of verdict reads as its snapshot does."""
    check_snapshot(name, render(ALL[name](), context()))


def test_verbose_shows_the_rest() -> None:
    """The verbose report adds all evidence, ruled-out causes, other fixes, configuration and inputs."""
    check_snapshot("out_of_memory_verbose", render(out_of_memory(), context(verbose=True, width=80)))


@pytest.mark.parametrize("name", sorted(ALL))
def test_quiet_is_one_line(name: str) -> None:
    """The quiet report is one line that opens with the verdict."""
    text = render(ALL[name](), context(quiet=True))
    assert text.count("\n") == 1
    assert text.startswith(f"{ALL[name]().verdict}: ")


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("name", sorted(ALL))
def test_lines_fit_the_terminal(name: str, width: int) -> None:
    """No line is wider than the terminal, except lines to paste."""
    lines = render(ALL[name](), context(width=width)).splitlines()
    pasted = {paste for fix in ALL[name]().plan for paste in fix.how}
    assert [text for text in lines if cells(text) > width and text.strip() not in pasted] == []


def test_colours_only_when_asked() -> None:
    """Escape codes appear with colours on, and taking them out gives the plain report."""
    plain = render(out_of_memory(), context())
    coloured = render(out_of_memory(), context(color=True))
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_healthy_run_takes_two_lines() -> None:
    """A run without a failure is told in two lines."""
    assert len(render(healthy(), context()).splitlines()) == 2


def test_front_of_the_error_line_stays() -> None:
    """A long error line keeps its front, where the error's name is."""
    assert "torch.OutOfMemoryError: CUDA out of memory. Tried to" in render(out_of_memory(), context(width=80))


def test_every_candidate_is_shown() -> None:
    """An ambiguous answer lists each candidate with its line and its pattern."""
    text = render(ambiguous(), context())
    for wanted in ("r3.log:12", "r0.log:40", "cuda-oom", "loss-nan"):
        assert wanted in text


def test_explain_is_named_for_known_patterns_only() -> None:
    """The way to the manual is shown only where there is a manual page."""
    assert "diagnose explain cuda-oom" in render(out_of_memory(), context())
    assert "diagnose explain" not in render(out_of_memory(), context(titles={}))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.text(), st.integers(1, 140))
def test_hostile_text_stays_text(hostile: str, width: int) -> None:
    """No text from a log puts a control character or an escape code on the terminal."""
    for how in ("verbose", "quiet", "color"):
        text = render(_hostile(hostile), context(width=width, **{how: True}))
        text = re.sub(r"\x1b\[[0-9;]*m", "", text) if how == "color" else text
        assert all(character == "\n" or character.isprintable() for character in text)


def _hostile(text: str) -> Diagnosis:
    evidence = replace(line(1, text, path=text), node=text, time=text)
    root = Finding(text, text, "code", "root", "low", text, (evidence,), text, {text: text}, references=(text,))
    return replace(
        out_of_memory(), summary=text, root_cause=root, alternatives=(root,), notes=(evidence,), missing=(text,)
    )


def test_escape_sequences_are_removed() -> None:
    """Colour codes, titles, 8-bit controls and bidirectional overrides of a log line are gone."""
    nasty = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \u202egnp.exe \x07" + OOM_LINE
    text = render(replace(out_of_memory(), summary=nasty), context())
    assert text.startswith("red gnp.exe torch.OutOfMemoryError".replace("torch", "[rank3]: torch"))
