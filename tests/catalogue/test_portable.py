"""Expressions for simpler search tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import regex

from diagnose.catalogue import load
from diagnose.catalogue.portable import portable


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (r"(?P<what>out of memory)", r"(?:out of memory)"),
        (r"a{,3} {x} \"b\" \Z", r"a{0,3} \{x\} " + '"b" ' + r"\z"),
        (r"(?i)[]a[&]\s\-", r"(?i)[\]a\[\&]\s\-"),
        (r"(a|b)+?", r"(?:a|b)+?"),
    ],
)
def test_rewritten(expression: str, expected: str) -> None:
    """Names go, and what other tools read in another way is written out."""
    assert portable(expression) == expected


@pytest.mark.parametrize("expression", [r"(?<!a)b", r"a(?=b)", r"(a)\1", r"a++", r"(?>a)", r"[│┃]", "a\nb", "(?x) a"])
def test_not_expressible(expression: str) -> None:
    """What the simpler syntax cannot say is left out."""
    assert portable(expression) is None


def test_shipped_expressions_keep_their_meaning() -> None:
    """Rewritten, an expression still finds every sample line that it found, and most can be rewritten."""
    shipped = load(extra=[Path(__file__).parents[2] / "patterns"], layers=False, cache=False).patterns
    alternatives = [(each, pattern) for pattern in shipped.values() for each in pattern.match if each.regex]
    rewritten = [(each.regex, text, pattern) for each, pattern in alternatives if (text := portable(each.regex))]
    assert len(rewritten) > 0.7 * len(alternatives)
    for expression, text, pattern in rewritten:
        for sample in pattern.samples_match:
            for line in sample.text.split("\n"):
                if regex.search(expression, line):
                    assert re.search(text.replace(r"\z", r"\Z"), line), (expression, text, line)
