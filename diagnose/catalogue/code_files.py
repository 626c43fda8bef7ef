"""Reads tables of codes, files `_shared/codes/NAME.yaml`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from diagnose.catalogue.codes import TABLE
from diagnose.catalogue.document import Node, Table
from diagnose.catalogue.form import Form, Report, text_of

FOLDER = "codes"
MAX_CODES = 5000
_RANGES = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:, ?\d{1,9}(?:-\d{1,9})?)*")


def is_code_table(relative: str) -> bool:
    """Tell whether a shared file, by its path inside its layer, is a table of codes."""
    return relative.replace(os.sep, "/").split("/")[1:-1] == [FOLDER]


def read_codes(report: Report, node: Node) -> dict[str, dict[str, str]]:
    """Read one table: code to its fields. A broken entry is noted and left out.

    `source` and `date` say where the table is from and how old it is; a code may have its own.
    """
    if not isinstance(node, Table):
        report.add(node.where, "a table of codes is a mapping", "begin with `source: …`, `date: …` and `codes:`")
        return {}
    form = Form(report, node, "a table of codes", ("source", "date", "codes"))
    form.require("source", "date", "codes")
    found = {TABLE: {"source": form.text("source"), "date": form.text("date")}}
    codes = form.node("codes")
    if not isinstance(codes, Table):
        form.complain("codes", "`codes` must be a mapping of codes to their fields")
        return found
    for key, (where, entry) in codes.pairs.items():
        if not isinstance(entry, Table):
            report.add(where, f"the code `{key}` must be a mapping", "write {meaning: …, action: …}")
            continue
        fields = {name: text_of(report, value, f"`{name}`") for name, (_, value) in entry.pairs.items()}
        for code in _expand(key):
            if code in found:
                report.add(where, f"the code `{code}` is given twice")
            if len(found) > MAX_CODES:
                report.add(where, f"a table holds at most {MAX_CODES} codes")
                return found
            found[code] = fields
    return found


def _expand(key: str) -> Iterator[str]:
    """Yield the codes that a key stands for: `70-72, 75` is four of them, a name is itself."""
    if not _RANGES.fullmatch(key):
        yield key
        return
    for part in key.split(","):
        first, _, last = part.strip().partition("-")
        yield from (str(number) for number in range(int(first), int(last or first) + 1))
