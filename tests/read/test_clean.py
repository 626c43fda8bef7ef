"""Escape codes and control characters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.clean import clean, strip_escapes


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07words", "words"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"tab\tstays, bell\x07 goes", "tab\tstays, bell goes"),
        (b"caf\xc3\xa9 \xff", "caf\xe9 \ufffd"),
        (b"a\x00b\x7f", "ab"),
        ("left\u202eright".encode(), "leftright"),
    ],
)
def test_clean_removes_what_does_not_show(raw: bytes, text: str) -> None:
    """Escape codes, control characters and direction marks go; words, tabs and accents stay."""
    assert clean(raw) == text


@settings(derandomize=True, max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_become_safe_text(raw: bytes) -> None:
    """Whatever comes in, no control character but tab, newline and carriage return comes out."""
    assert not [c for c in clean(raw) if (ord(c) < 32 and c not in "\t\r\n") or 127 <= ord(c) < 160]


@settings(derandomize=True, max_examples=100)
@given(st.binary(max_size=200))
def test_newlines_stay_where_escapes_go(raw: bytes) -> None:
    """Removing escape codes keeps the number of newlines, so that line numbers stay true."""
    assert strip_escapes(raw).count(b"\n") == raw.count(b"\n")


COLORS = [b"\x1b[31m", b"\x1b[0m", b"\x1b[1;33m", b"words "]
PIECES = st.sampled_from([*COLORS, b"\x1b[", b"\x1b", b"31m", b"\n", b"\x1b]0;t\x07", b"[3", b"\x1b[2K"])


@settings(derandomize=True, max_examples=100)
@given(st.one_of(st.lists(st.sampled_from(COLORS), min_size=1, max_size=12), st.lists(PIECES, min_size=1, max_size=12)))
def test_many_colors_go_as_few_do(pieces: list[bytes]) -> None:
    """A large text loses exactly what the same text loses in small pieces, whichever way it is taken out."""
    line = b"".join(pieces) + b" end\n"
    times = 40_000 // len(line) + 1
    assert strip_escapes(line * times) == strip_escapes(line) * times
