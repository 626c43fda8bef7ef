"""Which lines print training data."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.data_line import is_data
from tests.conftest import Diagnose


@pytest.mark.parametrize(
    "body",
    [
        '{"prompt": "fix: torch.OutOfMemoryError: CUDA out of memory", "answer": "use a smaller batch"}',
        '{"text": "CUDA out of memory.", "timestamp": "2019-04-25T12:57:54Z", "url": "https://x.y"}',
        "{'id': 3, 'messages': [{'role': 'user', 'content': 'RuntimeError: NCCL error'}]}",
    ],
)
def test_samples(body: str) -> None:
    """A sample of a data set is known by its keys."""
    assert is_data(body)


@pytest.mark.parametrize(
    "body",
    [
        '{"level": "ERROR", "message": "torch.OutOfMemoryError: CUDA out of memory"}',
        '{"level": "ERROR", "prompt": "x", "error": "torch.OutOfMemoryError: CUDA out of memory"}',
        'RuntimeError: bad sample {"prompt": "x"}',
        '{"log":"step 1","stream":"stderr"}',
    ],
)
def test_log_lines(body: str) -> None:
    """A structured log line, and an error that quotes a sample, are no data."""
    assert not is_data(body)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(max_size=600))
def test_any_text(text: str) -> None:
    """Any text has an answer."""
    assert is_data("{" + text) in (True, False)


def test_printed_samples_fail_nothing(diagnose_logs: Diagnose) -> None:
    """Errors inside printed training data are no failure."""
    log = (
        '{"prompt": "fix: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "answer": "less"}\n'
        '{"prompt": "explain: Traceback (most recent call last):\\n  File \\"a.py\\", line 1\\nValueError: bad"}\n'
        "all done\n"
    )
    assert diagnose_logs({"train.log": log}).verdict == "no_failure"
