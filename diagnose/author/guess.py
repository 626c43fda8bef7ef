"""First guesses about a new failure, which its author corrects."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# What a line without an exception speaks of: the first that stands in it wins.
_BY_WORD = (
    ("checkpoint", "checkpoint"),
    ("cuda", "cuda-error"),
    ("nvrm", "gpu-hardware"),
    ("nccl", "collective"),
    ("collective", "collective"),
    ("slurm", "scheduler"),
    ("kubelet", "kubernetes"),
    ("disk", "storage"),
    ("quota", "storage"),
    ("dataset", "data"),
    ("token", "data"),
    ("connection", "network"),
    (" nan", "numerical"),
    ("must be", "config"),
    ("divisible", "config"),
)
_FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "gpu-memory": "memory",
        "host-memory": "memory",
        "cuda-error": "cuda",
        "gpu-hardware": "gpu",
        "scheduler": "launcher",
    }
)


def category_of_line(message: str) -> str:
    """Guess the category of a failure from the words of a line that is no exception."""
    words = f" {message.lower()} "
    return next((category for word, category in _BY_WORD if word in words), "code")


def family_of(category: str) -> str:
    """Name the folder that failures of a category usually lie in."""
    return _FAMILIES.get(category, category)
