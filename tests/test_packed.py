"""Tests of packed rows."""

from __future__ import annotations

import marshal

from diagnose.packed import Packed, pack


def test_rows_come_back_as_they_were() -> None:
    """Every row is what was packed, by index, by slice and one after another, also through `marshal`."""
    rows = [("key#0", (b"ab", b""), False, 3), (), ["x", [1, 2]], b"\xff", {"a": None}]
    packed: Packed[object] = Packed(marshal.loads(marshal.dumps(pack(rows))))
    assert len(packed) == len(rows)
    assert list(packed) == rows
    assert packed[2] is packed[2]
    assert packed[1:4] == rows[1:4]
    assert list(Packed[object](pack([]))) == []
