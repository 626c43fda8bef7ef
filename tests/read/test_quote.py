"""Logs as people quote them: mail, issues, listings with line numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.quote import MOST, unquoted
from tests.conftest import Diagnose
from tests.read.reading import lines_of, text_of

LOG = [
    "usage: pretrain_gpt.py [-h] [--micro-batch-size N]",
    "                       [--train-iters N]",
    "pretrain_gpt.py: error: unrecognized arguments: --recompute-module core_attn",
]
FORMS = {
    "mail": ["Hi, it fails:", *(f"> {line}" for line in LOG), "", "Any idea?"],
    "mail quoted again": [f"> > {line}" for line in LOG],
    "issue, indented": ["It fails with", "", *(f"    {line}" for line in LOG), "", "What now?"],
    "all indented": [f"  {line}" for line in LOG],
    "tabs": [f"\t{line}" for line in LOG],
    "listing": [f"{number:5} | {line}" for number, line in enumerate(LOG, 120)],
    "cat -n": [f"{number:6}\t{line}" for number, line in enumerate(LOG, 1)],
    "grep -n": [f"{number}:{line}" for number, line in enumerate(LOG, 98)],
    "mail with numbers": [f"> {number:5} | {line}" for number, line in enumerate(LOG, 1)],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted(form: str, end: str, diagnose_logs: Diagnose) -> None:
    """What is quoted is read as if it were not; the line is shown as it stands, with its own number."""
    lines = FORMS[form]
    number, line = next((number, line) for number, line in enumerate(lines, 1) if "unrecognized" in line)
    diagnosis = diagnose_logs({"pasted.txt": end.join(lines) + end})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "argument-rejected"
    evidence = diagnosis.root_cause.evidence[0]
    assert (evidence.line, evidence.text, evidence.rank) == (number, line, None)


def test_standard_input() -> None:
    """Standard input that is short enough to be a quotation is looked at too."""
    lines = lines_of(text_of("\n".join(FORMS["mail"]).encode()))
    assert [(line.number, line.text, line.body) for line in lines[3:4]] == [(4, f"> {LOG[2]}", LOG[2])]


@pytest.mark.parametrize(
    "log",
    [
        "> building train, validation, and test datasets ...\n> finished creating GPT datasets ...\n",
        " iteration 1/ 10 | loss 2\n iteration 2/ 10 | loss 1\n",
        "0: ready\n1: ready\n2: ready\n",
        "1\t2.31\n2\t2.29\n3\t2.27\n",
        "model:\n    hidden: 1\n    layers: 2\n",
        "12: step 4\n13: step 5\n15: step 6\n",
        "x\n> y\nz\n",
    ],
)
def test_not_quoted(log: str) -> None:
    """What programs print by themselves stays as it is."""
    assert unquoted(log.encode()) is None


def test_long_input_is_no_quotation() -> None:
    """Only what is short enough for somebody to quote is looked at."""
    assert unquoted(b"> a\n" * MOST) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="> \t12:|a\r", max_size=12), max_size=12))
def test_line_for_line(lines: list[str]) -> None:
    """Margins and what is left give the text back, and no line gets lost."""
    text = "\n".join(lines)
    found = unquoted(text.encode())
    if found is not None:
        bare = found.data.decode().split("\n")
        assert [found.margins.get(number, "") + line for number, line in enumerate(bare, 1)] == text.split("\n")
