"""Rewrites expressions for tools whose syntax knows neither lookarounds nor references: ripgrep, RE2, Hyperscan."""

from __future__ import annotations

import re

_COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}")
_FLAGS = re.compile(r"\(\?[ims]+(?:-[ims]+)?[:)]")
_NAME = re.compile(r"\(\?P?<[A-Za-z_]\w*>")
_CODE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})")
_CLASSES = "dDwWsStnrfv"
_PLACES = {"b": r"\b", "B": r"\B", "A": r"\A", "Z": r"\z", "z": r"\z"}
_SPECIAL = "\\.+*?()|[]{}^$&-~#"


class _OtherSyntaxError(Exception):
    """It cannot be said in the simpler syntax."""


def portable(expression: str) -> str | None:
    """Return an expression on one line that finds the same lines; None where the simpler syntax cannot say it."""
    try:
        return _Rewriter(expression).whole()
    except _OtherSyntaxError:
        return None


class _Rewriter:
    def __init__(self, expression: str) -> None:
        self.text = expression
        self.at = 0

    def whole(self) -> str:
        parts = []
        while self.at < len(self.text):
            parts.append(self._next())
        return "".join(parts)

    def _next(self) -> str:
        char = self.text[self.at]
        if char == "(":
            return self._group()
        if char == "[":
            return self._set()
        if char == "\\":
            return self._escape(inside=False)
        if char in "*+?" or (char == "{" and _COUNT.match(self.text, self.at)):
            return self._repeat(char)
        if char == "\n":
            raise _OtherSyntaxError
        self.at += 1
        return f"\\{char}" if char in "{}" else char

    def _group(self) -> str:
        if self.text[self.at + 1 : self.at + 2] not in ("?", "*"):
            return self._take(1, "(?:")
        if found := _NAME.match(self.text, self.at):
            return self._take(len(found[0]), "(?:")
        if found := _FLAGS.match(self.text, self.at):
            return self._take(len(found[0]), found[0])
        if self.text.startswith("(?:", self.at):
            return self._take(3, "(?:")
        raise _OtherSyntaxError

    def _repeat(self, char: str) -> str:
        count = _COUNT.match(self.text, self.at)
        if char == "{" and count:
            if not count[1] and not count[3]:
                raise _OtherSyntaxError
            written = self._take(len(count[0]), f"{{{count[1] or 0}{count[2]}{count[3]}}}")
        else:
            written = self._take(1, char)
        follows = self.text[self.at : self.at + 1]
        if follows == "+":
            raise _OtherSyntaxError  # possessive
        return written + self._take(1, "?") if follows == "?" else written

    def _escape(self, *, inside: bool) -> str:
        if found := _CODE.match(self.text, self.at):
            return self._take(len(found[0]), found[0])
        char = self.text[self.at + 1 : self.at + 2]
        if char in _CLASSES and char:
            return self._take(2, f"\\{char}")
        if char in _PLACES and not inside:
            return self._take(2, _PLACES[char])
        if not char or char.isalnum():
            raise _OtherSyntaxError
        return self._take(2, f"\\{char}" if char in _SPECIAL else char)

    def _set(self) -> str:
        begin = "[^" if self.text.startswith("[^", self.at) else "["
        parts = [self._take(len(begin), begin)]
        while (char := self.text[self.at : self.at + 1]) != "]" or len(parts) == 1:
            if not char or not char.isascii() or self.text.startswith("[:", self.at):
                raise _OtherSyntaxError
            if char == "\\":
                parts.append(self._escape(inside=True))
            else:
                parts.append(self._take(1, f"\\{char}" if char in "[]&~" else char))
        return "".join(parts) + self._take(1, "]")

    def _take(self, size: int, written: str) -> str:
        self.at += size
        return written
