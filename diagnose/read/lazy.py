"""Regular expressions that are compiled when they are first used: starting the program costs nothing for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any


class Lazy:
    """Stands for a compiled expression over text and becomes one at the first call."""

    fullmatch: Callable[..., re.Match[str] | None]
    match: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    findall: Callable[..., list[Any]]
    sub: Callable[..., str]

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Compile; afterwards the methods are plain attributes and this is not called again."""
        if name not in ("fullmatch", "match", "search", "finditer", "findall", "sub"):
            raise AttributeError(name)
        compiled = re.compile(self._pattern, self._flags)
        self.fullmatch = compiled.fullmatch
        self.match = compiled.match
        self.search = compiled.search
        self.finditer = compiled.finditer
        self.findall = compiled.findall
        self.sub = compiled.sub
        return getattr(compiled, name)
