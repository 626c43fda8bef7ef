"""What meters see."""

from __future__ import annotations

from dataclasses import dataclass, field

from diagnose.scan.block import Block
from diagnose.scan.sampler import ALL_UP_TO, ONE_IN, TAIL, Sampler


@dataclass
class _Meter:
    eager: bool = True
    seen: list[tuple[int, int]] = field(default_factory=list)

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        self.seen.append((offset, first_line))


def _fed(blocks: int, size: int, *, eager: bool = True) -> tuple[list[int], bool]:
    meter = _Meter(eager)
    sampler = Sampler([meter])
    data = bytes(size)
    for number in range(blocks):
        sampler.offer(Block(data, number * size, number + 1, number * size, open_end=False))
    sampler.finish()
    assert meter.seen == sorted(meter.seen)
    return [offset // size for offset, _ in meter.seen], sampler.sampled


def test_a_small_source_is_metered_whole() -> None:
    """Up to 32 MB every block is fed."""
    assert _fed(30, 1_000_000) == (list(range(30)), False)


def test_a_large_source_is_sampled() -> None:
    """Behind that one block in sixteen is fed, and the last megabyte, in order."""
    size = 250_000
    whole = ALL_UP_TO // size
    fed, sampled = _fed(whole + 200, size)
    assert sampled
    assert fed[:whole] == list(range(whole))
    assert fed[-TAIL // size :] == list(range(whole + 200 - TAIL // size, whole + 200))
    assert len(fed) == len(set(fed))
    assert abs(len(fed) - (whole + 200 // ONE_IN + TAIL // size)) <= 1


def test_a_meter_that_finds_nothing_sees_less() -> None:
    """Up to 32 MB a meter that is not eager sees the first blocks, one in four, and the last megabyte."""
    fed, sampled = _fed(20, 1_000_000, eager=False)
    assert fed == [*range(8), 11, 15, 19]
    assert not sampled


def test_pieces_of_long_lines_are_left_out() -> None:
    """A block that begins or ends inside a line is not fed."""
    meter = _Meter()
    sampler = Sampler([meter])
    sampler.offer(Block(b"abc", 0, 1, 0, open_end=True))
    sampler.offer(Block(b"abc\n", 3, 1, 0, open_end=False))
    sampler.offer(Block(b"def\n", 7, 2, 7, open_end=False))
    sampler.finish()
    assert meter.seen == [(7, 2)]


def test_the_end_is_no_larger_than_agreed() -> None:
    """Of a block that is larger than the end that is wanted only its last lines are fed, with their true numbers."""
    meter = _Meter()
    sampler = Sampler([meter], most=2_000)
    data = b"nine more\n" * 1_000
    sampler.offer(Block(data, 0, 1, 0, open_end=False))
    sampler.offer(Block(data, len(data), 1_001, len(data), open_end=False))
    sampler.finish()
    offset, first_line = meter.seen[-1]
    assert len(meter.seen) == 1
    assert 1_000 <= 2 * len(data) - offset <= 1_010
    assert first_line == offset // 10 + 1
    assert sampler.sampled
