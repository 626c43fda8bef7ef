"""Conditions: Kleene's logic, versions as ranges, and nothing that could run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.catalogue.condition import UNKNOWN, ConditionError, Seen, evaluate, parse, size
from diagnose.catalogue.version import Version


class Known:
    """A scope with a few facts."""

    text: str | None = "CUDA out of memory"

    def __init__(self, **facts: Any) -> None:
        self._facts = {key.replace("__", "."): value for key, value in facts.items()}

    def lookup(self, key: str) -> Seen | None:
        """Look into the given facts."""
        return Seen(self._facts[key]) if key in self._facts else None

    def found(self, name: str) -> bool:
        """One pattern matched."""
        return name == "cuda-oom"

    def frame(self, expression: str) -> bool | None:
        """There is no traceback."""
        return None


SCOPE = Known(
    config__tp=4,
    config__modules=["mlp", "core_attn"],
    config__none=None,
    capture__asked="1.5 GiB",
    version__core=Version.parse(">=0.16,<0.18"),
    version__torch=Version.parse("2.9.1+cu128"),
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("config.tp > 3", True),
        ("config.pp > 1", None),
        ("config.pp > 1 and config.tp < 3", False),
        ("config.pp > 1 or config.tp > 3", True),
        ("not config.pp", None),
        ("not (config.pp > 1 and config.tp < 3)", True),
        ('"mlp" in config.modules', True),
        ('"moe" not in config.modules', True),
        ('"mlp" in config.none', False),
        ("config.none == None", True),
        ("config.pp == None", None),
        ("known(config.pp)", False),
        ("default(config.pp, 1) == 1", True),
        ("2 < config.tp <= 4", True),
        ("config.tp % 3 == 1", True),
        ("config.tp / 0 > 1", None),
        ("config.tp > 'x'", None),
        ("size(capture.asked) > size('1 GiB')", True),
        ("1 if config.pp > 1 else 0", None),
        ('found("cuda-oom") and not found("nothing")', True),
        ('frame("optimizer")', None),
        ('matches(text, "out of")', True),
    ],
)
def test_answers(text: str, answer: bool | None) -> None:
    """What is known decides; what nobody saw stays unknown unless the rest decides without it."""
    assert evaluate(text, SCOPE).answer is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('core >= "0.16"', True),
        ('core >= "0.17"', None),
        ('core < "0.18"', True),
        ('core >= "0.18"', False),
        ('core == "0.16"', None),
        ('core == "0.19"', False),
        ('"0.15" < core', True),
        ('torch == "2.9"', True),
        ('torch > "2.9"', False),
        ('torch >= "2.10"', False),
        ('te >= "2.6"', None),
    ],
)
def test_versions(text: str, answer: bool | None) -> None:
    """A range answers where all of it agrees, and equality takes the width that is written."""
    assert evaluate(text, SCOPE).answer is answer


@pytest.mark.parametrize(
    "text",
    [
        "foo",
        "__import__('os').system('true')",
        "config",
        "(lambda: 1)()",
        "config.tp[0]",
        "[x for x in (1, 2)]",
        "open('x')",
        "os.path",
        "config.tp is None",
        "2 ** 99999",
        "f'{config.tp}'",
        "",
        "config.tp >",
        "a" * 3000,
        "not " * 60 + "True",
    ],
)
def test_refused(text: str) -> None:
    """Nothing but the closed list of names, functions and operators is accepted, and the error has a column."""
    with pytest.raises(ConditionError) as caught:
        parse(text)
    assert caught.value.column >= 1
    assert caught.value.message


def test_used_and_missing() -> None:
    """An outcome names the facts that it used and those that nobody saw."""
    outcome = evaluate("config.tp > 1 and config.pp > 1", SCOPE)
    assert list(outcome.used) == ["config.tp"]
    assert outcome.missing == ["config.pp"]


@given(st.text(max_size=80))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_any_text(text: str) -> None:
    """Any text is read as a condition or refused with ConditionError."""
    try:
        condition = parse(text)
    except ConditionError:
        return
    evaluate(condition, SCOPE)


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("1 KiB", 1024), ("2.00 MiB", 2**21), ("1.5 GB", 1.5e9), ("7", 7), ("1,024 MiB", 2**30), (12, 12)],
)
def test_size(text: str | int, bytes_: float) -> None:
    """Sizes are read with binary and decimal units."""
    assert size(text) == bytes_


def test_no_size() -> None:
    """What is no size is unknown."""
    assert size("large") is UNKNOWN
