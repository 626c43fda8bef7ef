"""Tables of codes: what a driver's or a library's numbers mean, as data beside the patterns.

Conditions ask a table with `code("xid", capture.xid, "meaning")`.
"""

from __future__ import annotations

from collections.abc import Mapping

TABLE = ""  # the entry that holds what is said of the whole table

Codes = Mapping[str, Mapping[str, Mapping[str, str]]]  # table -> code -> field -> text


def find_code(codes: Codes, key: str) -> str | None:
    """Look up `TABLE.CODE.FIELD`; None where the table does not say."""
    name, _, rest = key.partition(".")
    code, _, field = rest.rpartition(".")
    table = codes.get(name, {})
    entry = table.get(code)
    return None if entry is None else entry.get(field, table.get(TABLE, {}).get(field))
