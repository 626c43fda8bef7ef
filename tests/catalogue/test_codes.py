"""Tests of the tables of codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diagnose.catalogue import load
from diagnose.catalogue.code_files import is_code_table, read_codes
from diagnose.catalogue.codes import find_code
from diagnose.catalogue.condition import Seen, evaluate
from diagnose.catalogue.document import read_document
from diagnose.catalogue.form import Report

GOOD = """\
source: a manual
date: 2025-10
codes:
  13: {meaning: exception, kind: application}
  70-72, 75: {meaning: copy engine, date: '2024-01'}
  invalid argument (x.y): {number: '1'}
"""


class CodeScope:
    """A scope that knows one table and one capture."""

    text = None

    def __init__(self, codes: dict[str, dict[str, dict[str, str]]]) -> None:
        self.codes = codes

    def lookup(self, key: str) -> Seen | None:
        """Return a code's field, or the capture `xid`."""
        if key.startswith("code."):
            found = find_code(self.codes, key.removeprefix("code."))
            return None if found is None else Seen(found)
        return Seen("13") if key == "capture.xid" else None

    def found(self, name: str) -> bool:
        """No other pattern was found."""
        return False

    def frame(self, expression: str) -> bool | None:
        """There is no traceback."""
        return None


def table(text: str) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Read a table; return it with the messages of what is wrong."""
    node, troubles = read_document("xid.yaml", text.encode())
    assert node is not None
    assert not troubles
    report = Report()
    return read_codes(report, node), [each.message for each in report.troubles]


def test_codes_ranges_and_names() -> None:
    """Numbers, ranges and texts are codes; what a code does not say of itself is said of the table."""
    codes, troubles = table(GOOD)
    assert troubles == []
    book = {"xid": codes}
    assert find_code(book, "xid.13.meaning") == "exception"
    assert find_code(book, "xid.71.meaning") == find_code(book, "xid.75.meaning") == "copy engine"
    assert find_code(book, "xid.invalid argument (x.y).number") == "1"
    assert find_code(book, "xid.13.date") == "2025-10"
    assert find_code(book, "xid.70.date") == "2024-01"


@pytest.mark.parametrize("key", ["xid.14.meaning", "xid.13.colour", "sxid.13.meaning", "xid", ""])
def test_unknown_codes(key: str) -> None:
    """A table, code or field that is not there is unknown."""
    assert find_code({"xid": table(GOOD)[0]}, key) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "a table of codes is a mapping"),
        ("source: a\ncodes: {}", "a table of codes needs `date`"),
        ("source: a\ndate: b\ncodes: [1]", "`codes` must be a mapping of codes to their fields"),
        ("source: a\ndate: b\ncodes: {1: x}", "the code `1` must be a mapping"),
        ("source: a\ndate: b\ncodes: {1-3: {m: a}, 2: {m: b}}", "the code `2` is given twice"),
        ("source: a\ndate: b\ncodes: {1: {m: [a]}}", "`m` must be a text, not a list"),
        ("source: a\ndate: b\ncodes: {1-999999999: {m: a}}", "a table holds at most 5000 codes"),
    ],
)
def test_broken_tables(text: str, message: str) -> None:
    """What is wrong with a table is said."""
    assert message in table(text)[1]


def test_condition_asks_the_table() -> None:
    """`code(table, code, field)` gives the field, and unknown where there is none."""
    scope = CodeScope({"xid": table(GOOD)[0]})
    assert evaluate('code("xid", capture.xid, "kind") == "application"', scope).answer is True
    assert evaluate('code("xid", capture.xid, "colour")', scope).answer is None
    assert evaluate('code("xid", capture.nothing, "kind")', scope).answer is None
    assert evaluate('code("xid", "13")', scope).answer is None


@pytest.mark.parametrize(
    ("relative", "is_table"),
    [("_shared/codes/xid.yaml", True), ("_shared/checks.yaml", False), ("_shared/other/xid.yaml", False)],
)
def test_is_code_table(relative: str, is_table: bool) -> None:
    """Tables lie in one folder below the shared entries."""
    assert is_code_table(relative) is is_table


def test_layers_and_cache(packaged: Path, write: Any) -> None:
    """A later layer changes single fields of a code, and the tables come through the cache."""
    write("packaged/_shared/codes/xid.yaml", GOOD)
    write("site/_shared/codes/xid.yaml", "source: ours\ndate: 2026-01\ncodes:\n  13: {meaning: ours}\n")
    for _ in range(2):
        catalogue = load()
        assert catalogue.troubles == ()
        assert find_code(catalogue.codes, "xid.13.meaning") == "ours"
        assert find_code(catalogue.codes, "xid.13.kind") == "application"


def test_unknown_table_is_reported(packaged: Path, write: Any) -> None:
    """A condition that asks a table which no layer has is a fault of its file."""
    text = packaged.read_text().replace("heads-not-divisible", "other-heads")
    text = text.replace(
        "checks:\n", 'checks:\n  - {id: table, question: Which?, when: \'code("sxid", "1", "m") == "a"\'}\n', 1
    )
    write("packaged/config/other-heads.yaml", text)
    assert "no table of codes is called `sxid`" in [each.message for each in load().troubles]
