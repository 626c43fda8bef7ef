"""Tests of the kept modules."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import diagnose

LOOK = """
from diagnose.modules import install
modules = install()
import diagnose.catalogue.version as version
import diagnose.report.words
print(type(version.__loader__).__name__, version.__file__, version.release("core_v0.16.1")[:2])
modules.keep()
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Copy the package."""
    shutil.copytree(Path(diagnose.__file__).parent, tmp_path / "diagnose", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def look(root: Path, **more: str) -> list[str]:
    """Run a process that imports two modules and keeps them; returns what it tells of one of them."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(root), "XDG_CACHE_HOME": str(root / "cache"), **more}
    run = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert run.stderr == ""
    return run.stdout.split(" ", 2)


def kept(root: Path) -> Path:
    """Return the only file that was kept."""
    (found,) = (root / "cache" / "diagnose").glob("*.code")
    return found


def test_second_run_takes_them_from_the_file(package: Path) -> None:
    """What one run imported, the next takes from the file; the modules are the same, their file's name too."""
    first, second = look(package), look(package)
    assert [first[0], second[0]] == ["SourceFileLoader", "Modules"]
    assert first[1:] == second[1:] == [str(package / "diagnose" / "catalogue" / "version.py"), "(0, 16)\n"]
    before = kept(package).stat().st_ino
    look(package)
    assert kept(package).stat().st_ino == before


def test_edited_module_is_imported_from_its_source(package: Path) -> None:
    """An edit is seen at once, and kept for the next run."""
    look(package)
    source = package / "diagnose" / "catalogue" / "version.py"
    source.write_text(source.read_text() + "\n\ndef release(text):\n    return (7, 7, len(text))\n")
    assert look(package)[0::2] == ["SourceFileLoader", "(7, 7)\n"]
    assert look(package)[0::2] == ["Modules", "(7, 7)\n"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "others may write"])
def test_damaged_file_is_passed_over(damage: str, package: Path) -> None:
    """Nothing is taken from a file that is damaged, or that somebody else may have written, and nothing is said."""
    look(package)
    path = kept(package)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[:300])
    elif damage == "flipped":
        data[60] ^= 255
        path.write_bytes(data)
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.chmod(0o666)
    assert look(package)[0] == "SourceFileLoader"
    assert look(package)[0] == "Modules"


def test_damaged_code_is_imported_from_its_source(package: Path) -> None:
    """Where only a module's code is damaged, that module alone is imported from its source."""
    look(package)
    path = kept(package)
    data = path.read_bytes()
    place = data.index(b"Versions as ranges")
    path.write_bytes(data[:place] + b"w" + data[place + 1 :])
    assert look(package)[0] == "SourceFileLoader"


def test_nothing_is_kept_where_python_keeps_nothing(package: Path) -> None:
    """Who asks Python to write no compiled files gets none from here either."""
    look(package, PYTHONDONTWRITEBYTECODE="1")
    assert not (package / "cache").exists()


def test_a_home_that_cannot_be_written_costs_nothing(package: Path) -> None:
    """Without a cache folder every run imports as always."""
    (package / "cache").write_text("not a folder")
    assert [look(package)[0], look(package)[0]] == ["SourceFileLoader"] * 2
