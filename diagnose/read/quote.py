"""Takes off what stands before every line of a quoted log: mail's `> `, an indented block, line numbers."""

from __future__ import annotations

from itertools import pairwise

from diagnose.classes import dataclass
from diagnose.lazy import Lazy

MOST = 256 * 1024  # bytes: nobody quotes more
_ROUNDS = 3  # a quotation in a quotation
_HINTS = (b"\n\n>", b"\n\r\n>", b":\n>", b":\r\n>", b"\n\n    ", b"\n\r\n    ", b"\n\n\t", b"\n\r\n\t")
_FIRST = b"> \t0123456789"
_NUMBERED = Lazy(r"[ \t]{0,8}(\d{1,7})(?: ?\| ?|\t|: ?|→)")
_FEWEST = 2  # lines that are numbered
_VALUE = Lazy(r"[-+.\d]|nan\b|inf\b")
_MARKED = Lazy(r">")
_INDENTED = Lazy(r"(?: {4}|\t)[ \t]*\S")
_MEGATRON = Lazy(r"> [a-z]+ [a-z]")  # `> building train, validation, and test datasets ...`: its own words


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A text without its margins, line for line, and the margins by line number (from 1)."""

    data: bytes
    margins: dict[int, str]


def may_be_quoted(data: bytes) -> bool:
    """Tell cheaply whether a text can have margins to take off."""
    return data[:1] in _FIRST or any(hint in data for hint in _HINTS)


def unquoted(data: bytes) -> Unquoted | None:
    """Take the margins off a quoted text; None where it has none.

    Line ends stay where they are, so that line numbers are those of the text as it was given.
    """
    if not data or len(data) > MOST or not may_be_quoted(data):
        return None
    given = data.decode("utf-8", "surrogateescape").split("\n")
    lines = given
    for _ in range(_ROUNDS):
        bare = _unmarked(_unnumbered(_undented(lines)))
        if bare == lines:
            break
        lines = bare
    if lines is given or lines == given:
        return None
    margins = {
        number: old[: len(old) - len(new)]
        for number, (old, new) in enumerate(zip(given, lines, strict=True), 1)
        if len(old) != len(new)
    }
    return Unquoted("\n".join(lines).encode("utf-8", "surrogateescape"), margins)


def _blocks(lines: list[str], inside: Lazy) -> list[tuple[int, int]]:
    """List the runs of lines that begin in one way, as [first, behind the last), with blank lines around."""
    found: list[tuple[int, int]] = []
    begin = -1
    for number, line in enumerate([*lines, ""]):
        if inside.match(line):
            begin = number if begin < 0 else begin
        elif begin >= 0:
            before = lines[begin - 1].strip() if begin else ""
            if not line.strip() and (not before or before.endswith(":")):
                found.append((begin, number))
            begin = -1
    return found


def _unmarked(lines: list[str]) -> list[str]:
    bare = list(lines)
    for begin, end in _blocks(lines, _MARKED):
        if all(_MEGATRON.match(line) for line in lines[begin:end]):
            continue
        for number in range(begin, end):
            bare[number] = lines[number][1:].removeprefix(" ")
    return bare


def _undented(lines: list[str]) -> list[str]:
    """Take the common indentation off: of all lines, or of blocks of them between blank lines."""
    said = [line for line in lines if line.strip()]
    common = min((_indent(line) for line in said), default=0)
    if common > 1 or (common and said[0][0] == "\t"):  # Megatron's own lines begin with one space
        return [line[common:] if line.strip() else line for line in lines]
    bare = list(lines)
    for begin, end in _blocks(lines, _INDENTED):
        least = min(_indent(line) for line in lines[begin:end])
        for number in range(begin, end):
            bare[number] = lines[number][least:]
    return bare


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _unnumbered(lines: list[str]) -> list[str]:
    """Take off numbers that count every line, as `cat -n`, `grep -n` and code listings put them."""
    matches = [_NUMBERED.match(line) for line in lines]
    numbers = [int(match[1]) for match in matches if match]
    said = sum(1 for line in lines if line.strip())
    if len(numbers) < max(_FEWEST, said) or any(b != a + 1 for a, b in pairwise(numbers)):
        return lines
    bare = [line[match.end() :] if match else line for match, line in zip(matches, lines, strict=True)]
    if all(_VALUE.match(line) for line in bare if line.strip()):
        return lines  # a table of steps and their values
    labels = all(":" in match[0] for match in matches if match)
    # `srun -l` may print the words of tasks 0, 1, 2 … in this order, but then no line belongs to the one before it.
    return lines if labels and not any(line[:1] in (" ", "\t") and line.strip() for line in bare) else bare
