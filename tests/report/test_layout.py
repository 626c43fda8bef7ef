"""Widths, wrapping and shortening."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.report.clean import safe
from diagnose.report.layout import cells, columns, shorten, spans, wrap

TEXT = st.text(st.characters(codec="utf-8"), max_size=200).map(safe)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(TEXT, st.integers(2, 60))
def test_wrapped_lines_fit(text: str, width: int) -> None:
    """Wrapped lines take at most the width and lose nothing but spaces."""
    lines = wrap(text, width)
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@settings(derandomize=True, max_examples=100, deadline=None)
@given(TEXT, st.integers(8, 60))
def test_shortened_text_fits(text: str, width: int) -> None:
    """A shortened text is one line of at most the width."""
    short = shorten(text, width)
    assert cells(short) <= width
    assert "\n" not in short


def test_middle_is_cut() -> None:
    """The front and the end of a long text stay."""
    assert shorten("ValueError: a very long story that ends with 42", 24) == "ValueError: a ve … th 42"


def test_wide_characters_take_two_columns() -> None:
    """East Asian wide characters count twice, combining marks not at all."""
    assert cells("日本") == 4
    assert cells("e\u0301") == 1


def test_ranges() -> None:
    """Consecutive numbers become ranges."""
    assert spans([7, 0, 1, 2, 2]) == "0-2, 7"
    assert spans([]) == ""


def test_columns_align() -> None:
    """Cells of a column start at the same place, without trailing spaces."""
    assert columns([("a", "bb", "c"), ("aaa", "b", "")]) == ["a    bb  c", "aaa  b"]


def test_safe_keeps_plain_text() -> None:
    """Letters, newlines and tabs stay; no-break spaces become spaces; half characters are replaced."""
    assert safe("é\n\tß") == "é\n\tß"
    assert safe("a\u00a0b\u2028c") == "a b c"
    assert safe("\udc80\x00\u202e\x85x") == "\ufffd x"
