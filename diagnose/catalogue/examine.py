"""Checks of the regular expressions in pattern files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from diagnose.expressions import search_within
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

RUNAWAY_SECONDS = 0.2
_HOSTILE_LENGTH = 3000  # a text that long shows cubic and exponential searches, and lets quadratic ones pass
_ADJACENT = re.compile(r"(?<!\\)((?:\\\\)*)\.[*+]\??\.[*+]")
_NESTED = re.compile(r"\((?:\?:|\?P?<\w+>)?(?:\\.|\[[^\]]*\]|[^\\()\[\]])[*+]\)(?:[*+]|\{\d*,\})")
_FILLERS = ("a", " ", "1", "a ", "1.", "-", ": ", "a_", "/a")
_WORD_START = re.compile(r"\b\w|(?<=[^\s\w])[^\s\w]")
_WORDS = re.compile(r"[A-Za-z0-9 _:=,'/-]{3,}")
_ESCAPE = re.compile(r"\\[A-Za-z]|[?*+]|\{[^}]*\}|\[[^\]]*\]|\(\?P?<\w+>|\(\?(?:[imsx-]+[:)]|[:=!>|]|<[=!])|[()|^$]")


class Fault(NamedTuple):
    """What is wrong with an expression; `column` counts from 1 in it, 0 where it cannot be told."""

    message: str
    column: int = 0
    hint: str = ""


def compile_expression(text: str) -> regex.Pattern[str]:
    """Compile an expression as the program does; raises regex.error."""
    import regex

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return regex.compile(text)


def examine(text: str) -> tuple[frozenset[str], list[Fault]]:
    """Check one expression. Returns its named groups and its faults."""
    import regex

    try:
        compiled = compile_expression(text)
    except regex.error as error:
        position = getattr(error, "pos", None)
        message = getattr(error, "msg", str(error))
        return frozenset(), [Fault(f"the expression is wrong: {message}", 0 if position is None else position + 1)]
    except (RecursionError, OverflowError, MemoryError, ValueError) as error:
        return frozenset(), [Fault(f"the expression cannot be compiled: {type(error).__name__}")]
    faults = list(_faults(text, compiled))
    return frozenset(compiled.groupindex), faults


def _faults(text: str, compiled: regex.Pattern[str]) -> Iterator[Fault]:
    if compiled.groups > len(compiled.groupindex):
        yield Fault("the expression has a group without a name", 0, "write (?:…), or (?P<name>…) for a capture")
    if found := _ADJACENT.search(text):
        yield Fault("two unbounded repeats stand side by side", found.end(1) + 1, "one `.*` is enough")
    if found := _NESTED.search(text):
        yield Fault("a repeat inside a repeat can run away", found.start() + 1, "repeat once, or use a possessive `*+`")


def runaway(text: str, samples: Sequence[str] = ()) -> str | None:
    """Search hostile texts for one on which the expression runs away.

    Arguments: an expression that compiles, and texts that it is meant for. Returns the start of a text on which a
    search takes longer than 0.2 s, twice; None where there is none.
    """
    compiled = compile_expression(text)
    for hostile in _hostile(text, samples):
        if _slow(compiled, hostile) and _slow(compiled, hostile):
            return hostile[:40]
    return None


def _slow(compiled: regex.Pattern[str], text: str) -> bool:
    try:
        search_within(compiled, text, RUNAWAY_SECONDS)
    except TimeoutError:
        return True
    return False


def _hostile(text: str, samples: Sequence[str]) -> Iterator[str]:
    fixed = _ESCAPE.sub("\0", re.sub(r"\\([^A-Za-z0-9])", r"\1", text))
    words = _WORDS.findall(fixed)
    # A search gives up at once where a fixed part of the expression is missing, so all of them stand at the end,
    # behind a line end that `.*` does not cross.
    tail = "\n" + fixed.replace("\0", "")
    own = list(dict.fromkeys(fixed.replace("\0", "")))[:12]
    for head in ("", "".join(words[:1])):
        for filler in (*_FILLERS, *own):
            yield _repeat(head, filler) + tail
    for word in [*words, "".join(words), "".join(words[:-1]), *(sample[:200] for sample in samples)]:
        yield _repeat("", word) + tail
    for head, word in pairwise(words):
        yield _repeat(head, word) + tail
    for sample in list(samples)[:2]:
        for start in islice(_WORD_START.finditer(sample), 24):
            yield _repeat(sample[: start.start()], sample[start.start()]) + tail


def _repeat(head: str, filler: str) -> str:
    return head + filler * (_HOSTILE_LENGTH // max(1, len(filler)))
