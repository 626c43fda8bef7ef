"""Regular expressions that are compiled when they are first used: starting the program costs nothing for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from diagnose.typed import Any

_NOTHING: dict[str, Callable[[], Any]] = {
    "fullmatch": lambda: None,
    "match": lambda: None,
    "search": lambda: None,
    "finditer": lambda: iter(()),
    "findall": list,
}


class _Lazy:
    def __init__(self, pattern: Any, flags: int = 0, *, needs: tuple[Any, ...] = ()) -> None:
        self.pattern = pattern
        self.flags = flags
        self.needs = needs

    def __getattr__(self, name: str) -> Any:
        """Compile; afterwards the methods are plain attributes and this is not called again."""
        if self.needs and name in _NOTHING:
            return partial(self._ask, name)
        if name not in _NOTHING and name != "sub":
            raise AttributeError(name)
        return getattr(self._compile(), name)

    def _ask(self, name: str, text: Any, *rest: Any) -> Any:
        folded = text.lower() if self.flags & re.IGNORECASE else text
        if any(need in folded for need in self.needs):
            return getattr(self._compile(), name)(text, *rest)
        return _NOTHING[name]()

    def _compile(self) -> re.Pattern[Any]:
        from diagnose.expressions import EXPRESSIONS

        compiled = EXPRESSIONS.standard(self.pattern, self.flags)
        self.fullmatch = compiled.fullmatch
        self.match = compiled.match
        self.search = compiled.search
        self.finditer = compiled.finditer
        self.findall = compiled.findall
        self.sub = compiled.sub
        return compiled


class Lazy(_Lazy):
    """Stands for a compiled expression over text and becomes one at the first call.

    `needs` names what every match holds one of, in lower case where case does not count: text without it is answered
    without compiling anything.
    """

    fullmatch: Callable[..., re.Match[str] | None]
    match: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    findall: Callable[..., list[Any]]
    sub: Callable[..., str]


class LazyBytes(_Lazy):
    """The same over bytes."""

    fullmatch: Callable[..., re.Match[bytes] | None]
    match: Callable[..., re.Match[bytes] | None]
    search: Callable[..., re.Match[bytes] | None]
    finditer: Callable[..., Iterator[re.Match[bytes]]]
    findall: Callable[..., list[Any]]
    sub: Callable[..., bytes]
