"""A tolerant parser for the syntax of the `regex` module, as far as literals have to be known.

It yields a small tree in which everything that is not fixed text is a `Gap`. What it does not understand for certain is
an `UnknownSyntaxError`, never a guess.
"""

from __future__ import annotations

import re
import sys

from diagnose.classes import dataclass
from diagnose.typed import NoReturn

MAX_DEPTH = 40
_SMALL_CLASS = 8
_COUNT = re.compile(r"\{(?:(\d+)(,?)(\d*)|,(\d+))\}")
_FUZZY = re.compile(r"\{[^}]*[A-Za-z][^}]*\}")
_GROUP_FLAGS = re.compile(r"\(\?([aiLmsuxw]*)(?:-([imsx]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<[A-Za-z_]\w*>")
_BACKREFERENCE = re.compile(r"\(\?P=\w+\)")
_CALL = re.compile(r"\(\?(?:R|\d+|[+-]\d+|&\w+|P>\w+)\)")
_CONDITION = re.compile(r"\(\?\(\w+\)")
_HEX = {"x": 2, "u": 4, "U": 8}
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_ZERO_WIDTH = frozenset("bBAZzGmMK")
_GAP_ESCAPES = frozenset("dDwWsSXRhafvnrt")


class UnknownSyntaxError(Exception):
    """The expression uses syntax that this parser cannot read for certain."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not fixed text, of any length."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a few."""

    choices: tuple[str, ...]
    nocase: bool = False


@dataclass(frozen=True, slots=True)
class Seq:
    """Nodes one after the other; without any it matches the empty text."""

    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Alt:
    """One of several nodes."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A node some number of times; `most` None is without limit."""

    body: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Ahead:
    """A positive lookaround: its text must stand there, but takes no place in the sequence."""

    body: Node


Node = Gap | Chars | Seq | Alt | Repeat | Ahead


class _MoreFlagsError(Exception):
    """A flag that holds for the whole expression was met in its midst."""


def parse(pattern: str, *, nocase: bool = False) -> Node:
    """Read an expression.

    Raises UnknownSyntaxError where a part of it cannot be read for certain.
    """
    flags = {"i"} if nocase else set()
    while True:
        parser = _Parser(pattern, flags)
        try:
            return parser.whole()
        except _MoreFlagsError:
            flags = parser.flags


class _Parser:
    def __init__(self, pattern: str, flags: set[str]) -> None:
        self.pattern = pattern
        self.flags = flags
        self.at = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self._alternation(frozenset(self.flags))
        if self.at < len(self.pattern):
            self._refuse("a closing bracket without its opening one")
        return node

    def _refuse(self, why: str) -> NoReturn:
        raise UnknownSyntaxError(f"{why} at position {self.at}")

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _alternation(self, flags: frozenset[str]) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self._refuse("brackets too deep")
        branches = [self._sequence(flags)]
        while self._peek() == "|":
            self.at += 1
            branches.append(self._sequence(flags))
        self.depth -= 1
        return branches[0] if len(branches) == 1 else Alt(tuple(branches))

    def _sequence(self, flags: frozenset[str]) -> Node:
        items: list[Node] = []
        while (char := self._peek()) and char not in "|)":
            if "x" in flags and self._skip_blank(char):
                continue
            node = self._repeated(self._atom(char, flags), flags)
            items.extend(node.items if isinstance(node, Seq) else (node,))
        return items[0] if len(items) == 1 else Seq(tuple(items))

    def _skip_blank(self, char: str) -> bool:
        if char == "#":
            end = self.pattern.find("\n", self.at)
            self.at = len(self.pattern) if end < 0 else end + 1
            return True
        if char.isspace():
            self.at += 1
            return True
        return False

    def _repeated(self, node: Node, flags: frozenset[str]) -> Node:
        while True:
            if "x" in flags:
                while (char := self._peek()) and self._skip_blank(char):
                    pass
            char = self._peek()
            if char and char in "*+?":
                self.at += 1
                least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
            elif char == "{" and (count := _COUNT.match(self.pattern, self.at)):
                self.at = count.end()
                least = int(count[1] or 0)
                most = int(count[4] or count[3] or 0) if count[3] or count[4] else None if count[2] else least
            elif char == "{" and (self.pattern.startswith(("{}", "{,}"), self.at) or self._spaced_or_fuzzy()):
                self._refuse("a fuzzy or unclear count")
            else:
                return node
            if self._peek() in ("?", "+"):
                self.at += 1
            node = Repeat(node, least, most)

    def _spaced_or_fuzzy(self) -> bool:
        end = self.pattern.find("}", self.at)
        inside = self.pattern[self.at + 1 : end] if end > 0 else ""
        return bool(_FUZZY.match(self.pattern, self.at) or (inside and not set(inside) - set("0123456789, \t<=+")))

    def _atom(self, char: str, flags: frozenset[str]) -> Node:
        if char == "(":
            return self._group(flags)
        if char == "[":
            return self._set("i" in flags)
        if char == "\\":
            return self._escape("i" in flags)
        self.at += 1
        if char in "^$":
            return Seq()
        if char == ".":
            return Gap()
        if char in "*+?":
            self._refuse("nothing to repeat")
        return _one((char,), "i" in flags)

    def _group(self, flags: frozenset[str]) -> Node:
        text, at = self.pattern, self.at
        if not text.startswith(("(?", "(*"), at):
            return self._inside(at + 1, flags)
        if text.startswith("(?#", at):
            self.at = text.find(")", at) + 1 or len(text)
            return Seq()
        if text.startswith(("(?=", "(?<="), at):
            return Ahead(self._inside(at + (3 if text[at + 2] == "=" else 4), flags))
        if text.startswith(("(?!", "(?<!"), at):
            self._inside(at + (3 if text[at + 2] == "!" else 4), flags)
            return Seq()
        if text.startswith(("(?>", "(?|"), at):
            return self._inside(at + 3, flags)
        if found := _NAMED.match(text, at):
            return self._inside(found.end(), flags)
        if found := _BACKREFERENCE.match(text, at) or _CALL.match(text, at):
            self.at = found.end()
            return Gap()
        if found := _CONDITION.match(text, at):
            return Alt((self._inside(found.end(), flags), Seq()))
        if not (found := _GROUP_FLAGS.match(text, at)):
            self._refuse("an unknown kind of group")
        return self._flagged(found, flags)

    def _inside(self, start: int, flags: frozenset[str]) -> Node:
        self.at = start
        node = self._alternation(flags)
        if self._peek() != ")":
            self._refuse("a bracket that is not closed")
        self.at += 1
        return node

    def _flagged(self, found: re.Match[str], flags: frozenset[str]) -> Node:
        on = set(found[1])
        if found[3] == ":":
            return self._inside(found.end(), (flags | on) - set(found[2] or ""))
        if found[2]:
            self._refuse("a flag switched off for the whole expression")
        self.at = found.end()
        if not on <= self.flags:
            self.flags = self.flags | on
            raise _MoreFlagsError
        return Seq()

    def _escape(self, nocase: bool) -> Node:
        char = self.pattern[self.at + 1 : self.at + 2]
        if char in _HEX:
            digits = self.pattern[self.at + 2 : self.at + 2 + _HEX[char]]
            if len(digits) < _HEX[char] or set(digits) - _HEX_DIGITS or int(digits, 16) > sys.maxunicode:
                self._refuse("an unclear code point")
            self.at += 2 + _HEX[char]
            return _one((chr(int(digits, 16)),), nocase)
        if char.isdigit():
            self.at += 2
            while self._peek().isdigit():
                self.at += 1
            return Gap()
        if char in ("p", "P", "N", "g", "L"):
            return self._braced(char)
        self.at += 2
        if char in _ZERO_WIDTH:
            return Seq()
        if char in _GAP_ESCAPES:
            return Gap()
        if not char or char.isalnum():
            self._refuse("an unknown escape")
        return _one((char,), nocase)

    def _braced(self, char: str) -> Node:
        opener = self.pattern[self.at + 2 : self.at + 3]
        if char in "pP" and opener.isalpha():
            self.at += 3
            return Gap()
        end = self.pattern.find({"{": "}", "<": ">"}.get(opener, "\0"), self.at)
        if end < 0:
            self._refuse("an unknown escape")
        self.at = end + 1
        return Gap()

    def _set(self, nocase: bool) -> Node:
        self.at += 1
        known = self._peek() != "^"
        self.at += not known
        chars: set[str] = set()
        first = True
        while (char := self._peek()) != "]" or first:
            first = False
            if not char:
                self._refuse("a set that is not closed")
            if self.pattern.startswith("[:", self.at) and (end := self.pattern.find(":]", self.at)) > 0:
                self.at, known = end + 2, False
                continue
            if self.pattern[self.at : self.at + 2] in ("--", "&&", "||", "~~") or char == "[":
                known = False
            low = self._set_member()
            high = low
            if self._peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._set_member()
            if low is None or high is None or ord(high) - ord(low) >= _SMALL_CLASS:
                known = False
            elif known:
                chars.update(map(chr, range(ord(low), ord(high) + 1)))
        self.at += 1
        return _one(tuple(sorted(chars)), nocase) if known and 0 < len(chars) <= _SMALL_CLASS else Gap()

    def _set_member(self) -> str | None:
        if self._peek() != "\\":
            self.at += 1
            return self.pattern[self.at - 1]
        if self.pattern[self.at + 1 : self.at + 2] == "b":
            self.at += 2
            return None
        node = self._escape(nocase=False)
        return node.choices[0] if isinstance(node, Chars) else None


def _one(choices: tuple[str, ...], nocase: bool) -> Node:
    """A character of a few; a gap where it ends a line or has other cases than ASCII's two."""
    if any(c in "\n\r" or (nocase and ord(c) > 127 and (c.lower() != c.upper())) for c in choices):
        return Gap()
    if not nocase:
        return Chars(choices)
    return Chars(tuple(sorted({c.lower() for c in choices})), nocase=True)
