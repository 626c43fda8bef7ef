from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from diagnose import shelf
from diagnose.catalogue import assemble, load
from diagnose.catalogue.cache import SHIPPED, cache_path, ship, store
from diagnose.catalogue.layers import find_layers
from diagnose.catalogue.rows import pack, unpack
from diagnose.shelf import KEEP


@pytest.fixture
def no_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reading pattern files impossible."""

    def fail(*_: object) -> None:
        raise AssertionError("the files were read")

    monkeypatch.setattr(assemble, "assemble", fail)


def cached(world: Path) -> Path:
    """Return the only cache file."""
    (path,) = (world / "cache" / "diagnose").iterdir()
    return path


def test_same_catalogue(packaged: Path, write: Any) -> None:
    """The cached catalogue equals the one that was read, troubles included."""
    write("site/broken.yaml", "id: broken\n")
    fresh = load()
    again = load()
    assert type(again.patterns) is not type(fresh.patterns)
    assert dict(again.patterns) == dict(fresh.patterns)
    assert list(again.wordings) == list(fresh.wordings)
    assert list(again.placement) == list(fresh.placement)
    empty = replace(again, patterns={}, wordings=(), placement=())
    assert empty == replace(fresh, patterns={}, wordings=(), placement=())
    assert again.troubles


def test_files_are_not_read(packaged: Path, request: pytest.FixtureRequest) -> None:
    """The second load reads no pattern file."""
    load()
    request.getfixturevalue("no_yaml")
    assert "heads-not-divisible" in load().patterns
    assert "nowhere" not in load().patterns


def test_no_slow_imports(packaged: Path, world: Path) -> None:
    """The cached path imports neither yaml nor regex."""
    code = (
        "import sys\nfrom diagnose.catalogue import layers\n"
        f"layers.data_folder = lambda name: {str(packaged.parents[1])!r}\nlayers.SITE = '/nonexistent'\n"
        "from diagnose.catalogue import load\nfound = load()\nassert list(found.patterns.values())\n"
        "print(type(found.patterns).__name__, *sorted({'yaml', 'regex', 'hashlib', 'pathlib'} & set(sys.modules)))"
    )
    root = str(Path(__file__).parents[2])
    run = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": root}
    outputs = [subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout for _ in "ab"]
    assert outputs[0].startswith("dict")
    assert outputs[1].split() == ["LazyPatterns"]


@pytest.mark.parametrize("change", ["edit", "add", "remove", "layer"])
def test_stale(change: str, packaged: Path, write: Any, good: str) -> None:
    """An edited, added or removed file, or a new layer, is seen at once."""
    other = write(
        "packaged/config/other.yaml", good.replace("heads-not-divisible\n", "other\n").replace("old-heads", "o")
    )
    before = load()
    if change == "edit":
        write("packaged/config/other.yaml", other.read_text().replace("cannot", "can not"))
    elif change == "add":
        write("packaged/config/third.yaml", "id: third\n")
    elif change == "remove":
        other.unlink()
    else:
        write("site/third.yaml", "id: third\n")
    after = load()
    assert (before.digest, dict(before.patterns), before.troubles) != (
        after.digest,
        dict(after.patterns),
        after.troubles,
    )


@pytest.mark.parametrize("damage", [b"", b"x", b"00000000\n{}", None])
def test_damage(damage: bytes | None, packaged: Path, world: Path) -> None:
    """A damaged cache is passed over silently and written anew."""
    fresh = load()
    path = cached(world)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + b"#" + data[len(data) // 2 + 1 :] if damage is None else damage)
    assert dict(load().patterns) == dict(fresh.patterns)
    assert path.read_bytes() == data


def test_just_edited(packaged: Path, world: Path) -> None:
    """Files edited a moment ago are not cached: their next edit could bear the same time."""
    os.utime(packaged)
    load()
    assert not (world / "cache").exists()


def test_read_only_home(packaged: Path, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written the catalogue is read every time."""
    (world / "cache").write_text("not a folder")
    assert "heads-not-divisible" in load().patterns
    assert "heads-not-divisible" in load().patterns


def test_concurrent_writers(packaged: Path, world: Path) -> None:
    """Writers at the same time leave one whole file and no scratch files."""
    catalogue = load(cache=False)
    found = find_layers()
    threads = [threading.Thread(target=store, args=(found, catalogue)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cached(world) == Path(cache_path(found))
    assert dict(load().patterns) == dict(catalogue.patterns)


def test_pruned(packaged: Path, world: Path) -> None:
    """Caches of other sets of layers do not pile up."""
    folder = world / "cache" / "diagnose"
    folder.mkdir(parents=True)
    for number in range(40):
        (folder / f"catalogue-{number:08x}.kept").write_text("")
        os.utime(folder / f"catalogue-{number:08x}.kept", (number, number))
    load()
    assert len(list(folder.iterdir())) == KEEP
    assert Path(cache_path(find_layers())).exists()


def test_pack(packaged: Path) -> None:
    """Packing loses nothing."""
    pattern = load(cache=False).patterns["heads-not-divisible"]
    assert unpack(pack(pattern)) == pattern
    assert "specificity" in pack(pattern)
    assert "conclusive" not in pack(pattern)


def test_workers(packaged: Path) -> None:
    """A cached catalogue can be handed to a worker process."""
    load()
    assert dict(pickle.loads(pickle.dumps(load())).patterns) == dict(load(cache=False).patterns)


def test_shipped(packaged: Path, world: Path, write: Any, request: pytest.FixtureRequest) -> None:
    """A catalogue that was compiled with the package is used on the first start, and no longer once a file differs."""
    found = find_layers(layers=False)
    fresh = assemble.assemble(found).catalogue()
    ship(found, fresh, str(Path(found.roots[0]).parent / SHIPPED))
    request.getfixturevalue("no_yaml")
    first = load()
    assert dict(first.patterns) == dict(fresh.patterns)
    assert first.kept is not None
    assert Path(first.kept[0]).parent == world / "cache" / "diagnose"
    (Path(found.roots[0]).parent / SHIPPED).unlink()
    again = load()
    assert dict(again.patterns) == dict(fresh.patterns)
    ship(found, fresh, str(Path(found.roots[0]).parent / SHIPPED))
    file = Path(fresh.patterns["heads-not-divisible"].origin)
    write(str(file.relative_to(world)), file.read_text().replace("cannot", "can not"))
    with pytest.raises(AssertionError, match="the files were read"):
        load()


def test_only_our_own_files_are_believed(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that others can write, or that is another user's, is made anew: it holds programs for native engines."""
    load()
    path = cache_path(find_layers())
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert shelf.fetch(path) is not None
    os.chmod(path, 0o620)
    assert shelf.fetch(path) is None
    assert shelf.fetch(path, shipped=True) is not None
    os.chmod(path, 0o600)
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(path).st_uid + 1)
    assert shelf.fetch(path) is None
