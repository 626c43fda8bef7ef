"""Puts a message together again that a terminal broke into several lines, so that its wording can be known."""

from __future__ import annotations

import re

from diagnose.read.model import Traceback

_WIDTHS = range(60, 260)  # columns of terminals and of boxes that tracebacks are drawn in
_MOST = 30  # lines of one message that are joined
_LONGEST = 8_000  # characters of a joined message


def joined(unit: Traceback) -> list[str]:
    """Return the ways in which the lines of an exception's message may belong together, the likelier first.

    Only a message whose lines but the last are about equally long was wrapped; a wrap may eat a space or not.
    """
    lines = unit.message.split("\n")[:_MOST]
    if len(lines) < 2 or not _wrapped(lines, len(unit.type) + 2):
        return []
    texts = [re.sub(r"  +", " ", " ".join(line.strip() for line in lines)), "".join(lines)]
    return [f"{unit.type}: {text}"[:_LONGEST] for text in texts]


def _wrapped(lines: list[str], before: int) -> bool:
    """Tell whether a terminal broke the text: the first line fills a usual width, and the next ones fill it too."""
    width = before + len(lines[0])
    if width not in _WIDTHS:
        return False
    return all(width - 20 <= len(line) <= width + 20 for line in lines[1:-1]) and len(lines[1]) > 0
