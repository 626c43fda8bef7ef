"""Which part of a literal the native engine looks for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.scan.rarity import rare_end


@settings(derandomize=True, max_examples=100)
@given(st.binary(min_size=4, max_size=80))
def test_the_part_is_neither_empty_nor_too_short(literal: bytes) -> None:
    """At least sixteen bytes are looked for, or all of a shorter literal, and never more than there are."""
    assert min(16, len(literal)) <= rare_end(literal) <= len(literal)


def test_the_end_is_where_common_words_are_not() -> None:
    """A literal that ends in a common word is cut before it."""
    literal = b"unhandled zxqv failure while training iteration"
    assert rare_end(literal) < len(literal) - len(b"iteration")
