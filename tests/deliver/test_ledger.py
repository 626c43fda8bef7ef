"""The ledger lets everything be done once."""

from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path

import pytest

from diagnose.deliver import ledger as module
from diagnose.deliver.ledger import Ledger


def test_claimed_once(tmp_path: Path) -> None:
    """An entry is claimed once, also by another ledger on the same file, and after a restart."""
    path = str(tmp_path / "state" / "ledger")
    first, second = Ledger(path), Ledger(path)
    assert first.claim("7 0 end")
    assert not first.claim("7 0 end")
    assert not second.claim("7 0 end")
    assert second.claim("8 0\nend")
    assert "8 0 end" in Ledger(path)


def _claim(path: str, count: int) -> int:
    ledger = Ledger(path)
    return sum(ledger.claim(str(number)) for number in range(count))


def test_several_processes(tmp_path: Path) -> None:
    """Of several processes that claim the same entries each entry goes to one."""
    path = str(tmp_path / "ledger")
    with get_context("spawn").Pool(2) as pool:
        assert sum(pool.starmap(_claim, [(path, 200)] * 2)) == 200


def test_old_entries_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file does not grow for ever, and those who share it notice."""
    monkeypatch.setattr(module, "_MOST", 10)
    path = tmp_path / "ledger"
    other = Ledger(str(path))
    ledger = Ledger(str(path))
    for number in range(25):
        assert ledger.claim(f"job {number}")
        assert not other.claim(f"job {number}")
    assert len(path.read_text().splitlines()) <= 10


def test_damaged_file(tmp_path: Path) -> None:
    """A file that holds anything is read."""
    path = tmp_path / "ledger"
    path.write_bytes(b"\xff\xfe\nhalf")
    assert Ledger(str(path)).claim("a")
