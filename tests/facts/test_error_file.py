"""torchrun's error.json gives the exception with the time of its worker's death."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.api import load_catalogue
from diagnose.facts.collect import Probe, collect, prepare
from diagnose.facts.error_file import read_error_file
from diagnose.facts.model import SourceRecord
from diagnose.read.model import Kind, Source

STACK = """Traceback (most recent call last):
  File "/workspace/train.py", line 6, in main
    step()
  File "/workspace/train.py", line 3, in step
    raise RuntimeError("CUDA error: an illegal memory access was encountered")
RuntimeError: CUDA error: an illegal memory access was encountered
"""
WORDS = "RuntimeError: CUDA error: an illegal memory access was encountered"


@pytest.fixture(scope="module")
def probe() -> Probe:
    """The packaged patterns, made ready."""
    return prepare(load_catalogue())


def source(data: object, **dump: int) -> Source:
    """Give an error.json of local rank 3 as a source."""
    text = data if isinstance(data, str) else json.dumps(data, **dump)  # type: ignore[arg-type]
    return Source("attempt_0/3/error.json", Kind.ERROR_FILE, local_rank=3, content=text.encode())


def new(code: int | None = None, stamp: object = "1795987397") -> dict[str, object]:
    """Give the shape that torch writes now."""
    inner: dict[str, object] = {"message": WORDS, "extraInfo": {"py_callstack": STACK, "timestamp": stamp}}
    return {"message": inner if code is None else {**inner, "errorCode": code}}


def test_exception(probe: Probe) -> None:
    """Type, message, frames, rank and time come off the file; the event stands in the traceback."""
    record = collect(source(new()), probe)
    (unit,) = record.tracebacks
    assert (unit.type, unit.message) == ("RuntimeError", "CUDA error: an illegal memory access was encountered")
    assert [frame.function for frame in unit.frames] == ["main", "step"]
    assert (unit.local_rank, unit.time, unit.final.line) == (3, 1795987397.0, 1)
    assert unit.final.text == WORDS
    (event,) = (each for each in record.events if each.pattern == "illegal-memory-access")
    assert (event.traceback, event.time, event.evidence.line) == (0, 1795987397.0, 1)
    assert event.evidence.time is not None
    assert record.path == "attempt_0/3/error.json"


def test_place_in_a_printed_file(probe: Probe) -> None:
    """In a file of several lines the evidence names the line that holds the exception."""
    record = collect(source(new(), indent=2), probe)
    assert record.tracebacks[0].final.line == 5
    assert record.lines == 9
    assert record.bytes == len(json.dumps(new(), indent=2))


def test_exit_code(probe: Probe) -> None:
    """The exit code that a launcher adds is a fact."""
    found = {each.key: each.value for each in collect(source(new(code=-9)), probe).observations}
    assert found["run.error_code"] == -9


def test_old_shape(probe: Probe) -> None:
    """The older shape has a plain message and the time beside it."""
    record = collect(source({"message": "Signal 9 (SIGKILL) received by PID 123", "timestamp": 1795987397}), probe)
    assert record.last_time == 1795987397.0
    assert record.tail[0].text == "Signal 9 (SIGKILL) received by PID 123"


def test_message_that_the_stack_lacks() -> None:
    """A message that the stack does not end with is not lost."""
    data = {"message": {"message": "Child failed", "extraInfo": {"py_callstack": STACK}}}
    found = read_error_file(source(data))
    assert found is not None
    assert found.text.endswith("\nChild failed")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"message": 3}',
        '{"message": {"message": ""}}',
        "[" * 5000,
        '{"message": {"extraInfo": 1}}',
    ],
)
def test_no_error_file(text: str, probe: Probe) -> None:
    """What is no error.json is read as text."""
    assert read_error_file(source(text)) is None
    assert isinstance(collect(source(text), probe), SourceRecord)


@pytest.mark.parametrize("stamp", ["soon", None, "nan", -5, "1e400", 10**30, [1]])
def test_time_that_is_none(stamp: object) -> None:
    """A time that cannot be is none."""
    found = read_error_file(source(new(stamp=stamp)))
    assert found is not None
    assert found.time is None


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["message", "extraInfo", "py_callstack", "timestamp", "errorCode"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(_ANY)
@settings(max_examples=100, derandomize=True, deadline=None)
def test_any_json(data: object) -> None:
    """Any JSON is an error file or none."""
    read_error_file(source(data))
