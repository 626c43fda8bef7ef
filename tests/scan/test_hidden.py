"""Literals behind escape codes and control characters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.clean import clean
from diagnose.scan.database import Database
from diagnose.scan.hidden import MANY, find_all, raw_position
from diagnose.scan.model import Anchor

PIECES = st.sampled_from(
    [b"out of ", b"memory", b"\x1b[31m", b"\x1b[0m", b"\n", b"\x00", b"\x08", b"\r", b"\xff", b"x"]
)


def _lines(data: bytes) -> set[int]:
    database = Database([Anchor("a", (b"out of memory",))], "plain")
    found, _ = find_all(data, database.find, database.find)
    return {data.count(b"\n", 0, end - 1) for end in found.get(0, [])}


@settings(derandomize=True, max_examples=100)
@given(st.lists(PIECES, max_size=40).map(b"".join), st.sampled_from([0, MANY + 1]))
def test_a_literal_is_found_where_the_cleaned_line_has_it(data: bytes, coloured: int) -> None:
    """In blocks with few and with many coloured lines, the lines found are those whose cleaned text has the literal."""
    data += b"\n" + b"\x1b[1mgreen\x1b[0m\n" * coloured
    expected = {number for number, line in enumerate(data.split(b"\n")) if "out of memory" in clean(line)}
    assert _lines(data) == expected


def test_the_place_is_that_in_the_original_line() -> None:
    """The offset of an interrupted literal is the one behind its last byte in the original line."""
    data = b"first\n\x1b[32mstep\x1b[0m\rout of \x1b[31mmemory\x1b[0m!\n"
    database = Database([Anchor("a", (b"out of memory",))], "plain")
    found, moved = find_all(data, database.find, database.find)
    assert not moved
    assert found == {0: [data.index(b"memory") + 6]}


@pytest.mark.parametrize("inside", [1, 5, 9, 12])
def test_raw_positions(inside: int) -> None:
    """A position of the scrubbed text is found again in the original line."""
    line = b"\x1b[32mabc\x1b[0mdef\x00gh\x1b]0;t\x07ijkl"
    scrubbed = b"abcdefghijkl"
    assert line[raw_position(line, inside) - 1 : raw_position(line, inside)] == scrubbed[inside - 1 : inside]


def test_a_place_in_a_long_line_is_about_right() -> None:
    """Thousands of escape codes in one line do not move a place out of the window that is looked at."""
    line = b"\x1b[2Kstep\r" * 20_000 + b"out of \x1b[31mmemory" + b"\x1b[2Kstep\r" * 20_000
    database = Database([Anchor("a", (b"out of memory",))], "plain")
    for data in (line, line + b"\n" + b"\x1b[1mx\n" * (MANY + 1)):
        found, _ = find_all(data, database.find, database.find)
        assert abs(found[0][-1] - line.index(b"memory")) < 2048


@pytest.mark.parametrize("line", [b"out of memory " * 70_000, b"\n".join([b"\x08" + b"out of memory " * 100] * 190)])
def test_very_many_places_in_marked_lines(line: bytes) -> None:
    """Long and short lines full of literals and with escape codes are searched without a closer look at each place."""
    data = b"\x1b[1m" + line
    database = Database([Anchor("a", (b"out of memory",))])
    found, _ = find_all(data, database.find, database.find)
    assert abs(found[0][0] - data.index(b"memory") - 6) <= 4
