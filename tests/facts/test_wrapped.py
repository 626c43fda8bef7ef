"""Messages that a terminal broke into lines are known all the same."""

from __future__ import annotations

from tests.conftest import Diagnose
from tests.reason.words import OUT_OF_MEMORY, traceback


def wrapped(text: str, width: int) -> str:
    """Break a text at spaces as a terminal library does."""
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        if current and len(current) + 1 + len(word) > width:
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    return "\n".join([*lines, current])


def test_wrapped_message(diagnose_logs: Diagnose) -> None:
    """An out-of-memory message over three lines keeps its numbers."""
    diagnosis = diagnose_logs({"train.log": traceback(wrapped(OUT_OF_MEMORY, 110))})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"
    assert diagnosis.root_cause.captures["unallocated"] == "11.93 GiB"


def test_message_of_several_lines(diagnose_logs: Diagnose) -> None:
    """A message that has several lines by nature is not joined."""
    diagnosis = diagnose_logs({"train.log": traceback("acme.FrobError: out of tune\n  first: 1\n  second: 2")})
    assert diagnosis.verdict == "unknown"
