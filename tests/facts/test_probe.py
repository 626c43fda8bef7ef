"""The database of all literals, kept between starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.catalogue import load
from diagnose.catalogue.model import Catalogue
from diagnose.facts import probe as module
from diagnose.facts.collect import collect
from diagnose.facts.probe import prepare
from diagnose.read import Source
from diagnose.scan import Database

LOG = (
    b"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of\n"
)


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    """The shipped patterns, cached under the test's own folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("diagnose.catalogue.cache._SETTLED_NS", 0)
    return load(layers=False)


def _kept(folder: Path) -> Path:
    (path,) = (folder / "diagnose").glob("*.scan")
    return path


def test_the_kept_database_finds_the_same(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second start builds nothing and finds what the first one finds."""
    first = collect(Source("x", content=LOG), prepare(catalogue))
    assert _kept(tmp_path).stat().st_size > 10_000

    def fail(*_: object) -> None:
        raise AssertionError("it was built anew")

    monkeypatch.setattr(Database, "__init__", fail)
    second = collect(Source("x", content=LOG), prepare(catalogue))
    assert repr(second) == repr(first)
    assert [event.pattern for event in second.events] == ["cuda-oom"]


@pytest.mark.parametrize("damage", ["cut", "other", "version"])
def test_a_kept_database_that_does_not_fit_is_made_anew(
    damage: str, tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged file, one of another catalogue, and one of another program are passed over and written anew."""
    prepare(catalogue)
    path = _kept(tmp_path)
    data = path.read_bytes()
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "other":
        path.write_bytes(b"00000000\n")
    else:
        monkeypatch.setattr(module, "_SCHEMA", -1)
    assert collect(Source("x", content=LOG), prepare(catalogue)).events
    assert len(path.read_bytes()) > len(data) // 2
    assert collect(Source("x", content=LOG), prepare(catalogue)).events
