"""An empty world: no layer but what a test writes, and a cache of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnose.catalogue import layers

DATA = Path(__file__).parent / "data"
Write = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put all layers and the cache under one folder and stand in it."""
    monkeypatch.setattr(layers, "data_folder", lambda name: str(tmp_path / "packaged"))
    monkeypatch.setattr(layers, "SITE", str(tmp_path / "site"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path


@pytest.fixture
def write(world: Path) -> Write:
    """Return a function that writes a file under the world's folder, old enough to be cached."""

    def one(relative: str, text: str) -> Path:
        path = world / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        old = path.stat().st_mtime_ns - 10**10
        os.utime(path, ns=(old, old))
        return path

    return one


@pytest.fixture
def good() -> str:
    """Return a pattern file without faults that uses most of the format."""
    return (DATA / "heads-not-divisible.yaml").read_text()


@pytest.fixture
def packaged(write: Write, good: str) -> Path:
    """Write the good pattern and the shared entries it uses as the shipped layer."""
    write("packaged/_shared/checks.yaml", "- {id: pipeline, question: Is it on?, when: config.pipeline > 1}\n")
    return write("packaged/config/heads-not-divisible.yaml", good)
