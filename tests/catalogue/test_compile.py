from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.catalogue.compile import compile_alternative, exception_name
from diagnose.catalogue.model import Alternative


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory", "OutOfMemoryError"),
        ("AssertionError", "AssertionError"),
        ("AssertionError:", "AssertionError"),
        ("KeyError: 'a: b'", "KeyError"),
        ("not a type: x", None),
        ("12: ValueError: x", None),
        ("", None),
    ],
)
def test_exception_name(body: str, name: str | None) -> None:
    """The type's last component is read off a line that begins with it."""
    assert exception_name(body) == name


def test_captures() -> None:
    """Named groups that took part become captures; the others are left out."""
    matcher = compile_alternative(Alternative(regex=r"size (?P<a>\d+)(?: of (?P<b>\d+))?"))
    assert matcher.search("the size 3") == {"a": "3"}
    assert matcher.search("the size 3 of 4") == {"a": "3", "b": "4"}
    assert matcher.search("no") is None


def test_unless() -> None:
    """A line on which a `not` expression is found is something else."""
    matcher = compile_alternative(Alternative(regex="out of memory", unless=("shared memory", r"\bhost\b")))
    assert matcher.search("out of memory") == {}
    assert matcher.search("out of memory: shared memory") is None
    assert matcher.search("host out of memory") is None


def test_exception() -> None:
    """An alternative that asks for a type takes it from the traceback, or from the line itself."""
    matcher = compile_alternative(Alternative(regex="out of memory", exception=("OutOfMemoryError", "RuntimeError")))
    assert matcher.search("torch.OutOfMemoryError: CUDA out of memory") == {}
    assert matcher.search("CUDA out of memory", "torch.cuda.OutOfMemoryError") == {}
    assert matcher.search("CUDA out of memory") is None
    assert matcher.search("RuntimeError: out of memory", "ValueError") is None
    any_type = compile_alternative(Alternative(regex="out of memory", context="exception"))
    assert any_type.search("MyError: out of memory") == {}
    assert any_type.search("it is out of memory") is None


def test_frame_only() -> None:
    """An alternative without an expression takes the exception's line; its frame is searched apart."""
    matcher = compile_alternative(Alternative(frame=r"in (?P<place>\w+):", exception=("AssertionError",)))
    assert matcher.search("AssertionError") == {}
    assert matcher.search("ValueError: x") is None
    assert matcher.search_frame("a.py:3 in check: assert x") == {"place": "check"}


def test_runaway() -> None:
    """An expression that runs away finds nothing, within the time allowed."""
    matcher = compile_alternative(Alternative(regex=r"(?:a|aa|b?a)+(?:a|a?a)+c"))
    before = time.monotonic()
    assert matcher.search("a" * 5000) is None
    assert time.monotonic() - before < 2


def test_broken_expression() -> None:
    """An expression that does not compile finds nothing."""
    assert compile_alternative(Alternative(regex="(")).search("(") is None


@settings(derandomize=True, max_examples=100)
@given(st.text(max_size=60), st.none() | st.text(max_size=10))
def test_any_text(body: str, exception: str | None) -> None:
    """Any line and any type give an answer."""
    matcher = compile_alternative(Alternative(regex=r"(?i)error (?P<n>\d+)", exception=("E",), unless=("x{2}",)))
    assert matcher.search(body, exception) is None or "rror" in body.lower()


def test_busy_threads_cost_no_match() -> None:
    """The time that a search may take is not used up by other threads."""
    matcher = compile_alternative(Alternative(regex=r"(?P<what>failed) finding (?P<where>\w+)"))
    body = "x" * 200 + " failed finding central"
    done = threading.Event()

    def busy() -> None:
        while not done.is_set():
            sum(range(1000))

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for each in threads:
        each.start()
    try:
        end = time.monotonic() + 3
        missed = 0
        while time.monotonic() < end:
            missed += matcher.search(body) is None
    finally:
        done.set()
        for each in threads:
            each.join()
    assert not missed
