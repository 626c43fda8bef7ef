"""Chunks without their escape codes: torchtitan and others print their numbers in colors, into files too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.read.clean import strip_escapes


def uncolored(data: bytes) -> bytes:
    """Take the escape codes out of a chunk; the same object where there are none."""
    return strip_escapes(data) if b"\x1b" in data else data


def origins(data: bytes, plain: bytes, places: Iterable[int]) -> Iterator[int]:
    """Yield where in a chunk the places of its uncolored text are, in ascending order: where their lines begin."""
    if plain is data:
        yield from places
        return
    start = counted = 0
    for place in places:
        for _ in range(plain.count(b"\n", counted, place)):
            start = data.index(b"\n", start) + 1
        counted = place
        yield start
