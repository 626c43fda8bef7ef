"""Tells when a log was written where its file's date cannot be right: copying a file changes it."""

from __future__ import annotations

from diagnose.read.time import DATED, DAY, dated

_BEGIN = 64  # characters of a line in which its own stamp begins
_COPIED = 30 * DAY  # a file that was changed so long after its last stamp is a copy
_AHEAD = 180 * DAY  # a stamp without a year may be so much later than the last one that has a year


def last_dated(begin: bytes, end: bytes) -> float | None:
    """Return the last full date that a log's lines begin with, in seconds since the epoch; None where there is none.

    Arguments: some kilobytes of its begin and of its end.
    """
    for piece in (end, begin):
        text = piece.decode("latin-1")
        for match in reversed(list(DATED.finditer(text))):
            if match.start() - text.rfind("\n", 0, match.start()) <= _BEGIN:
                stamp = dated(match)
                if stamp is not None:
                    return stamp[0]
    return None


def existed_at(modified: float | None, last: float | None) -> float | None:
    """Return a time close to the log's last line: the file's last change, or its last stamp where it is a copy."""
    return last if last is not None and (modified is None or modified - last > _COPIED) else modified


def not_later_than(modified: float | None, last: float | None) -> float | None:
    """Return a time before which all stamps without a year lie."""
    if last is None:
        return modified
    return last + _AHEAD if modified is None else min(modified, last + _AHEAD)
