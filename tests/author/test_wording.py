"""A message becomes an expression."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.author.wording import wording
from diagnose.catalogue.examine import compile_expression, examine

MESSAGES = (
    ("number of heads (30) must be divisible by size (4)", {"heads": "30", "size": "4"}),
    ("Tried to allocate 320.00 MiB on GPU 3", {"allocate": "320.00 MiB", "gpu": "3"}),
    ("cannot open '/data/a b.bin' for reading", {"open": "/data/a b.bin"}),
    ("connect to 10.0.0.1:29500 failed after 30 seconds", {"address": "10.0.0.1:29500", "seconds": "30"}),
    ("shape is torch.Size([4, 8]) at 0x7f12ab", {"size": "[4, 8]"}),
    ("quota on /scratch/fleet is used up", {"path": "/scratch/fleet"}),
    ("loss is 1.5e-4 on cuda:0, int8 stays", {"loss": "1.5e-4", "cuda": "0"}),
)


@pytest.mark.parametrize(("message", "captures"), MESSAGES)
def test_what_varies_is_captured(message: str, captures: dict[str, str]) -> None:
    """Numbers, sizes, paths, addresses, lists and quoted texts become groups, named after the word before them."""
    made = wording(message)
    found = compile_expression(made.regex).search(message)
    assert found is not None
    assert found.groupdict() == captures == made.captures


def test_types_and_stamps_are_taken_off() -> None:
    """A stamp, a logger's name and an exception's type are no part of the expression; the type stands for itself."""
    made = wording("2026-01-01 10:00:00,123 - root - ERROR - fleet.QuotaError: quota of project is used up")
    assert (made.regex, made.exception) == ("quota of project is used up", "QuotaError")


def test_the_type_of_a_traceback_wins_where_the_line_has_none() -> None:
    """A later line of a message has no type of its own."""
    assert wording("of project fleet", "fleet.QuotaError").exception == "QuotaError"


def test_error_numbers_stay() -> None:
    """The number of a system error says what failed."""
    assert wording("OSError: [Errno 28] No space left on device").regex == r"\[Errno 28\] No space left on device"


def test_long_messages_are_cut() -> None:
    """A first sentence that says enough stands for the message; a word is never cut."""
    made = wording("The quota of the project is used up. Ask the owner for more " + "and more " * 80)
    assert (made.regex, made.cut) == ("The quota of the project is used up", True)
    assert wording("word " * 100).regex.endswith("word")


def test_masked_secrets_vary() -> None:
    """What was masked is not looked for."""
    assert "masked" not in wording("login with token [masked] was refused").regex


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=300))
def test_any_message_is_matched_by_its_own_expression(message: str) -> None:
    """Whatever the text, its expression is one that a pattern may have, and finds the text."""
    made = wording(message)
    _, faults = examine(made.regex)
    assert not [fault for fault in faults if "wrong" in fault.message]
    assert compile_expression(made.regex).search(message) is not None
