"""Finds the pattern files: the shipped ones, and the layers that a site, a user and a project put over them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from diagnose.catalogue.model import Trouble
from diagnose.classes import dataclass, field
from diagnose.data import data_folder
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SITE = "/etc/diagnose/patterns.d"
PROJECT = ".diagnose/patterns"
SHARED = "_shared"
MAX_FILES = 20_000
_MAX_DEPTH = 4
_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class PatternFile:
    """One file of one layer, with what tells cheaply whether it changed."""

    path: str  # as shown to the user
    layer: int  # position of its layer; later ones win
    relative: str  # inside its layer
    mtime_ns: int
    size: int

    @property
    def family(self) -> str:
        """The folder it lies in, "" at the top of a layer."""
        return os.path.dirname(self.relative).replace(os.sep, "/").partition("/")[0]

    @property
    def stem(self) -> str:
        """The file's name without its ending: the id it must have."""
        return os.path.basename(self.relative).rpartition(".")[0]


@dataclass(slots=True)
class Layers:
    """All pattern files, in the order in which they are read."""

    roots: list[str] = field(default_factory=list)  # folders, as shown
    stamp: list[tuple[int, str, int, int]] = field(default_factory=list)  # changes with each file: its fields but path
    troubles: list[Trouble] = field(default_factory=list)

    @property
    def files(self) -> list[PatternFile]:
        """The files themselves; a start whose catalogue is kept does not look at them."""
        return [PatternFile(f"{self.roots[row[0]] or '.'}{os.sep}{row[1]}", *row) for row in self.stamp]


def find_layers(extra: Sequence[Path | str] = (), *, layers: bool = True) -> Layers:
    """List the files of all layers: shipped, site, user, project, then `extra` folders or files.

    Without `layers`, site, user and project are left out. A file that is reached twice counts once, where it is first.
    """
    found = Layers()
    seen: set[tuple[int, int]] = set()
    standing = [data_folder("patterns")]
    if layers:
        standing += [SITE, os.path.join(_config_home(), "diagnose", "patterns"), PROJECT]
    for root in standing:
        _add(found, root, seen, must=False)
    for path in extra:
        _add(found, str(path), seen, must=True)
    return found


def _config_home() -> str:
    home = os.environ.get("XDG_CONFIG_HOME", "")
    return home if os.path.isabs(home) else os.path.join(os.path.expanduser("~"), ".config")


def _add(found: Layers, root: str, seen: set[tuple[int, int]], *, must: bool) -> None:
    layer = len(found.roots)
    try:
        if os.path.isfile(root):
            found.roots.append(os.path.dirname(root))
            entries = [(os.path.basename(root), os.stat(root))]
        else:
            found.roots.append(root)
            entries = sorted(_walk(root, "", 0), key=lambda entry: entry[0])
    except FileNotFoundError:
        if must:
            found.troubles.append(Trouble(root, 1, 1, "there is no such file or folder of patterns"))
        return
    except OSError as error:
        found.troubles.append(Trouble(root, 1, 1, f"the patterns cannot be read: {error.strerror}"))
        return
    for relative, status in entries[:MAX_FILES]:
        file = (status.st_dev, status.st_ino)
        if file not in seen:
            seen.add(file)
            found.stamp.append((layer, relative, status.st_mtime_ns, status.st_size))


def _walk(folder: str, relative: str, depth: int) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith("."):
                continue
            if name.endswith(_ENDINGS):
                if entry.is_file():
                    yield relative + name, entry.stat()
            elif depth < _MAX_DEPTH and entry.is_dir():
                yield from _walk(entry.path, relative + name + os.sep, depth + 1)
