"""Line numbers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.index import LineIndex


class Bytes:
    """A stream that kept all of its bytes but a gap."""

    def __init__(self, data: bytes, gap: tuple[int, int] = (0, 0)) -> None:
        self.data = data
        self.gap = gap

    def read(self, start: int, end: int) -> bytes:
        """Give a range up to the gap."""
        if self.gap[0] <= start < self.gap[1]:
            return b""
        return self.data[start : min(end, self.gap[0]) if start < self.gap[0] else end]


@settings(derandomize=True, max_examples=100)
@given(st.lists(st.sampled_from([b"\n", b"a", b"bc"]), max_size=60), st.sets(st.integers(0, 80), max_size=6), st.data())
def test_numbers_equal_a_count(parts: list[bytes], marks: set[int], data: st.DataObject) -> None:
    """Whatever places were marked, in whatever order, a line's number is one more than the newlines before it."""
    text = b"".join(parts)
    index = LineIndex()
    for mark in data.draw(st.permutations(sorted(mark for mark in marks if mark <= len(text)))):
        index.add(mark, text.count(b"\n", 0, mark))
    offset = data.draw(st.integers(0, len(text)))
    assert index.number_at(offset, Bytes(text)) == text.count(b"\n", 0, offset) + 1


def test_gap_is_counted_from_behind() -> None:
    """Where the bytes before were not kept, the mark behind gives the number."""
    text = b"line\n" * 100
    index = LineIndex()
    index.add(400, 80)
    assert index.number_at(350, Bytes(text, (100, 300))) == 71
