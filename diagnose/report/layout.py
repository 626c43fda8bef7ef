"""Text in columns: widths, wrapping, shortening. Knows nothing of diagnoses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from diagnose.lazy import Lazy

_SENTENCE = Lazy(r"(.{12,}?[.:!?])\s+(?=[A-Z\[])", re.DOTALL)


def cells(text: str) -> int:
    """Count the terminal columns that `text` takes; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fit(text: str, width: int) -> str:
    """Give the longest beginning of `text` that takes at most `width` columns."""
    if text.isascii():
        return text[:width]
    cut = text[:width]
    while cells(cut) > width:
        cut = cut[:-1]
    return cut


def brief(text: str) -> str:
    """Give the first sentence of a text; a dot inside a number, a version or a name does not end it."""
    found = _SENTENCE.match(text)
    return found.group(1) if found else text


def shorten(text: str, width: int) -> str:
    """Cut `text` to one line of `width` columns, in the middle: an error's name stands in front."""
    flat = " ".join(text.split())
    if cells(flat) <= width:
        return flat
    tail = max(0, min(24, (width - 3) // 4))
    head = fit(flat, max(1, width - 3 - tail)).rstrip()
    end = fit(flat[::-1], tail)[::-1].lstrip()
    return f"{head} … {end}" if end else f"{head} …"


def wrap(text: str, width: int) -> list[str]:
    """Break `text` at spaces into lines of at most `width` columns; a longer word is broken hard."""
    lines: list[str] = []
    current = ""
    for word in text.split():
        joined = f"{current} {word}" if current else word
        if cells(joined) <= width:
            current = joined
            continue
        if current:
            lines.append(current)
        while cells(word) > width:
            piece = fit(word, width)
            lines.append(piece)
            word = word[len(piece) :]
        current = word
    if current or not lines:
        lines.append(current)
    return lines


def pad(text: str, width: int) -> str:
    """Fill `text` with spaces up to `width` columns."""
    return text + " " * max(0, width - cells(text))


def columns(rows: Sequence[Sequence[str]], gap: int = 2) -> list[str]:
    """Set short cells in aligned columns, one line a row; the last column is left as it is."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)] if rows else []
    lines = []
    for row in rows:
        padded = [pad(cell, width + gap) for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append("".join([*padded, row[-1]]).rstrip())
    return lines


def spans(numbers: Iterable[int]) -> str:
    """Write whole numbers as ranges: `0-3, 7`."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)
