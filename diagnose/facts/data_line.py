"""Knows the lines that print training data: what they say is no event."""

from __future__ import annotations

from diagnose.lazy import Lazy

_KEYS = (
    "prompt|completion|instruction|question|answer|response|conversations|messages|input_ids|chosen|rejected|"
    "text|content|url|role"
)
_DATA = Lazy(rf'\{{["\'](?:{_KEYS})["\']: |\{{.{{1,200}}?, ?["\'](?:{_KEYS})["\']: ')


def is_data(body: str) -> bool:
    """Tell whether a line is a sample of a data set, printed as JSON or as a dictionary; `body` is without prefixes."""
    return body.startswith("{") and '"level"' not in body[:400] and _DATA.match(body[:400]) is not None
