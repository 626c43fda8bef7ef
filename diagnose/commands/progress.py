"""Shows on a terminal how much was read, when that takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_QUIET = 1.0  # seconds
_EVERY = 0.2


def meter() -> Callable[[int, int], None] | None:
    """Return what is to be told how many bytes were read, and how many there are; None where nobody would see it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    begun = shown = time.monotonic()

    def show(read: int, size: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if read >= size:
            if shown > begun:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
        elif now - begun > _QUIET and now - shown > _EVERY:
            shown = now
            sys.stderr.write(f"\rreading: {100 * read // size} % of {size / 1e6:,.0f} MB\x1b[K")
            sys.stderr.flush()

    return show
