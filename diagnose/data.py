"""Where the data that ships with the program lies: patterns, samples and schemas."""

from __future__ import annotations

import os

from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def data_folder(name: str) -> str:
    """Return the folder of shipped data called `name` ("patterns", "samples", "schemas").

    An installed package carries it inside; a source checkout has it beside the package.
    """
    package = os.path.dirname(os.path.abspath(__file__))
    packaged = os.path.join(package, "_data", name)
    return packaged if os.path.isdir(packaged) else os.path.join(os.path.dirname(package), name)


def data_path(name: str) -> Path:
    """Return the same as a Path. Hot paths use `data_folder`: importing pathlib costs 10 ms."""
    from pathlib import Path

    return Path(data_folder(name))
