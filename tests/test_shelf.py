"""Tests of the files that can be made again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from diagnose import shelf


def test_what_was_stored_is_fetched(tmp_path: Path) -> None:
    """A file comes back with its head and its parts."""
    places, rest = shelf.lay_out([b"one", b"two"])
    assert shelf.store(str(tmp_path / "new" / "a.kept"), b"head", rest) is not None
    kept = shelf.fetch(str(tmp_path / "new" / "a.kept"))
    assert kept is not None
    assert (kept.head, [kept.part(*place) for place in places]) == (b"head", [b"one", b"two"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A named pipe in a file's place is none, and a new file takes its place."""
    path = tmp_path / "a.kept"
    os.mkfifo(path, 0o600)
    assert shelf.fetch(str(path)) is None
    assert shelf.store(str(path), b"head") is not None
    assert shelf.fetch(str(path)) is not None


def test_a_link_to_nothing_does_not_hinder(tmp_path: Path) -> None:
    """A file that cannot be looked at when old ones are removed does not make the new one worthless."""
    (tmp_path / "b.kept").symlink_to(tmp_path / "gone")
    assert shelf.store(str(tmp_path / "a.kept"), b"head") is not None


def test_files_that_vanish_do_not_hinder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another process removes old files at the same time, the new one is stored all the same."""

    def gone(_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(os, "scandir", gone)
    assert shelf.store(str(tmp_path / "a.kept"), b"head") is not None


def test_stale_handle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that a network file system has lost is none, and no handle is left open."""
    path = str(tmp_path / "a.kept")
    shelf.store(path, b"head")
    opened: list[int] = []

    def stale(handle: int) -> None:
        opened.append(handle)
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", stale)
        assert shelf.fetch(path) is None
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written to the current folder where the user has no home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    path = os.path.join(shelf.folder(), "a.kept")
    assert shelf.store(path, b"head") is None
    assert shelf.fetch(path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no users")
def test_root_leaves_nothing_in_the_home_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `sudo` would leave in a home, its owner could neither use nor replace."""
    real = os.stat
    owner = 1000

    def stat(path: str, **more: bool) -> os.stat_result:
        found = list(real(path, **more))
        found[4] = owner
        return os.stat_result(found)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "stat", stat)
    path = str(tmp_path / "new" / "diagnose" / "a.kept")
    assert shelf.store(path, b"head") is None
    assert list(tmp_path.iterdir()) == []
    owner = 0
    assert shelf.store(path, b"head") is not None
