"""Lines of a block."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.scan.block import LONG_LINE, WINDOW, Block


@settings(derandomize=True, max_examples=100)
@given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n"]), min_size=1, max_size=40).map(b"".join), st.data())
def test_lines_and_numbers_agree_with_a_count(data: bytes, draw: st.DataObject) -> None:
    """In whatever order they are asked for, lines have the bounds and numbers that splitting gives."""
    block = Block(data, 1000, 5, 1000, open_end=False)
    for at in draw.draw(st.lists(st.integers(0, len(data) - 1), max_size=6)):
        start, end = block.line(at)
        number = data[:at].count(b"\n")
        assert data[start:end] == data.split(b"\n")[number]
        assert block.number(start) == 5 + number
        assert block.source_start(start) == 1000 + start


def test_long_lines_are_looked_at_through_a_window() -> None:
    """Round a place in a long line a few kilobytes are taken; the source's true line start is known."""
    data = b"x" * (LONG_LINE + 1)
    block = Block(data, 9000, 1, 8000, open_end=True)
    start, end = block.line(5000)
    assert block.is_long(start, end)
    assert len(block.window(start, end, 5000)) == 2 * WINDOW
    assert block.source_start(start) == 8000


def test_a_short_line_at_an_open_end_counts_as_long() -> None:
    """A line that the block cuts is never taken for whole."""
    block = Block(b"one\ntwo", 0, 1, 0, open_end=True)
    assert not block.is_long(*block.line(1))
    assert block.is_long(*block.line(5))


def test_numbers_in_any_order() -> None:
    """Line numbers are the same in whatever order they are asked for."""
    data = b"".join(b"%d\n" % n for n in range(20_000))
    block = Block(data, 0, 7, 0, open_end=False)
    starts = [0, 9, 50_000, 60_000, 50_002, 4_096, 100_000, 10]
    assert [block.number(at) for at in starts] == [7 + data.count(b"\n", 0, at) for at in starts]
