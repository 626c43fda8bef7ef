"""What one anchor keeps and counts."""

from __future__ import annotations

from collections.abc import Callable

from diagnose.scan.block import Block
from diagnose.scan.engine import all_ends
from diagnose.scan.ledger import EXACT, PATIENCE, Ledger
from diagnose.scan.model import Anchor, Hit
from diagnose.scan.verifier import Verifier

LINE = b"step %07d failed here\n"


def _ledger(keep: int, verify: Callable[[str], bool] | None = None) -> Ledger:
    return Ledger(Anchor("a", (b"failed",), keep=keep, verify=verify), Verifier())


def _offer(ledger: Ledger, count: int, *, glance: bool = False) -> int:
    """Offer lines in blocks of a thousand; answer how many hits were told."""
    told = 0
    for first in range(0, count, 1000):
        data = b"".join(LINE % number for number in range(first, min(first + 1000, count)))
        block = Block(data, first * len(LINE % 0), first + 1, first * len(LINE % 0), open_end=False)
        told += len(ledger.glance(block) if glance else ledger.offer(block, all_ends(data, b"failed")))
    return told + len(ledger.settle())


def _hits(ledger: Ledger) -> list[Hit]:
    found = ledger.found
    return [*found.first, *found.last]


def test_few_lines_are_all_kept() -> None:
    """Below the budget every line that the anchor accepts is a hit, with its place and number."""
    ledger = _ledger(200, lambda text: "7 failed" in text)
    assert _offer(ledger, 100) == 10
    assert (ledger.count, ledger.refused, ledger.guessed) == (10, 90, 0)
    size = len(LINE % 0)
    assert [(hit.start, hit.end, hit.number) for hit in _hits(ledger)[:2]] == [
        (7 * size, 8 * size - 1, 8),
        (17 * size, 18 * size - 1, 18),
    ]
    assert _hits(ledger)[0].at == 7 * size + len(b"step 0000007 failed") - 1


def test_many_lines_are_counted_and_the_first_and_last_kept() -> None:
    """Beyond the budget the first and the last lines are hits; the count is right where all lines are alike."""
    asked = []

    def verify(text: str) -> bool:
        asked.append(text)
        return True

    ledger = _ledger(20, verify)
    _offer(ledger, 30_000)
    assert ledger.count == 30_000
    assert [hit.number for hit in _hits(ledger)] == [*range(1, 21), *range(29_981, 30_001)]
    assert len(asked) == EXACT + 40
    assert ledger.hot
    assert not ledger.impatient
    assert ledger.guessed == 30_000 - len(asked)


def test_an_anchor_without_a_question_is_counted_exactly() -> None:
    """Where the literal is enough, the count is exact at any size, also with the literal twice on a line."""
    ledger = _ledger(5)
    _offer(ledger, 10_000)
    data = b"failed and failed\n" * 10
    ledger.offer(Block(data, 10**9, 10_001, 10**9, open_end=False), all_ends(data, b"failed"))
    ledger.settle()
    assert (ledger.count, ledger.guessed) == (10_010, 0)
    assert [hit.number for hit in _hits(ledger)] == [*range(1, 6), *range(10_006, 10_011)]


def test_after_many_refusals_a_sample_is_looked_at() -> None:
    """An anchor that refuses line after line is asked about a few lines a block, and about the last ones."""
    asked = []

    def verify(text: str) -> bool:
        asked.append(text)
        return text.startswith(("step 0000005", "step 0039999"))

    ledger = _ledger(50, verify)
    _offer(ledger, 40_000)
    assert ledger.impatient
    assert [hit.number for hit in _hits(ledger)] == [6, 40_000]
    assert PATIENCE <= len(asked) < PATIENCE + 1000
    assert ledger.guessed


def test_glances_estimate_the_count() -> None:
    """A block that is only glanced at counts as much as the counted one before, and its last lines are found."""
    ledger = _ledger(20, lambda text: True)
    _offer(ledger, 2000)
    data = b"".join(LINE % number for number in range(1000))
    for number in range(40):
        ledger.glance(Block(data, 10**6 * (number + 1), 2001 + 1000 * number, 10**6 * (number + 1), open_end=False))
    ledger.settle()
    assert ledger.count == 42_000
    assert [hit.number for hit in _hits(ledger)] == [*range(1, 21), *range(41_981, 42_001)]


def test_glances_of_an_impatient_ledger_look_at_a_sample() -> None:
    """Lines that count are still met when all lines of an otherwise refused kind begin to count."""
    ledger = _ledger(20, lambda text: "step 00005" in text)
    for _ in range(PATIENCE // 1000 + 1):
        data = (LINE % 1) * 1000
        ledger.offer(Block(data, 0, 1, 0, open_end=False), all_ends(data, b"failed"))
    assert ledger.impatient
    data = (LINE % 500) * 1000
    told = sum(len(ledger.glance(Block(data, 10**6 * n, 1, 10**6 * n, open_end=False))) for n in range(1, 17))
    assert told >= 20
    assert [hit.number for hit in _hits(ledger)[:8]] == [1, 126, 251, 376, 501, 626, 751, 876]


def test_keeping_nothing_still_counts() -> None:
    """An anchor that keeps no lines is counted."""
    ledger = _ledger(0, lambda text: True)
    _offer(ledger, 5000)
    assert (ledger.count, _hits(ledger)) == (5000, [])


def test_a_line_that_goes_on_in_the_next_block_counts_once() -> None:
    """The pieces of one very long line are one line."""
    ledger = _ledger(5)
    piece = b"failed " * 1000
    ledger.offer(Block(b"x\n" + piece, 0, 1, 0, open_end=True), all_ends(b"x\n" + piece, b"failed"))
    for number in range(1, 4):
        ledger.offer(Block(piece, 7000 * number, 2, 2, open_end=True), all_ends(piece, b"failed"))
    assert [(hit.start, hit.number) for hit in _hits(ledger)] == [(2, 2)]
    assert ledger.count == 1
