"""Marks what this program prints into a job's own output, so that it is never read back as the job's words."""

from __future__ import annotations

MARK = "diagnose| "


def marked(text: str) -> str:
    """Put the mark before every line of a report that goes into a job's output."""
    return "\n".join(f"{MARK}{line}".rstrip() for line in text.rstrip("\n").split("\n"))


def is_own(text: str) -> bool:
    """Tell whether a line, its prefixes taken off or not, is one that this program printed."""
    return MARK.rstrip() in text[:200]
