from __future__ import annotations

import pytest

from diagnose.catalogue.examine import examine, runaway


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("a(b", "missing )", 4),
        ("a(b)", "without a name", 0),
        ("abc.*.+", "side by side", 4),
        (r"(?:\w+)*x", "repeat inside a repeat", 1),
        ("(?P<a>x*)+", "repeat inside a repeat", 1),
    ],
)
def test_faults(text: str, words: str, column: int) -> None:
    """A fault is told with its column in the expression, where it has one."""
    (fault,) = examine(text)[1]
    assert words in fault.message
    assert fault.column == column


@pytest.mark.parametrize("text", [r"\.*.*", r"(?:, \w+)*", r"a\(b+\)+", "(?<=a)b(?=c)", r"[(a+)]+", "(?>a+)b", "x*+y"])
def test_no_fault(text: str) -> None:
    """Repeats that cannot run away are left alone."""
    assert examine(text)[1] == []


def test_groups() -> None:
    """The named groups are listed."""
    assert examine(r"(?P<a>x)|(?P<b>y)")[0] == {"a", "b"}


def test_runaway() -> None:
    """An expression that runs away on its own words is found; a careful one is not."""
    assert runaway(r"(?:a|aa|b?a)+(?:a|a?a)+c") is not None
    assert runaway(r"peers: .* of .* in .* at .* for .* by .* to .* end") is not None
    assert runaway(r"num_heads \((?P<a>\d+)\) of .* tensor", ["num_heads (3) of the tensor"]) is None
