"""What is remembered of a stream."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.keep import BLOCK, PINNED, Keeper


@settings(derandomize=True, max_examples=100)
@given(st.lists(st.binary(max_size=400), max_size=20), st.integers(-5, 5000), st.integers(-5, 5000))
def test_small_streams_are_kept_whole(parts: list[bytes], start: int, end: int) -> None:
    """Any range of a small stream reads as a slice of it does."""
    keeper, whole = Keeper(), b"".join(parts)
    for part in parts:
        keeper.add(part)
    assert keeper.read(start, end) == whole[max(start, 0) : max(end, 0)]
    assert keeper.size == len(whole)


def test_pins_are_bounded() -> None:
    """However much is pinned, no more than the budget is kept, the first pins and the last among it."""
    keeper, block = Keeper(), bytes(BLOCK)
    blocks = PINNED + 200
    for number in range(blocks):
        keeper.pin(number * BLOCK, (number + 1) * BLOCK)
        keeper.add(block)
    kept = [number for number in range(blocks) if keeper.read(number * BLOCK, number * BLOCK + 1)]
    assert len(kept) <= PINNED + 100
    assert {0, 20, 100, blocks - 1} <= set(kept)
