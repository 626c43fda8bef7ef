"""Leads back from a chunk without its escape codes: torchtitan and others print numbers in colors, into files too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def origins(data: bytes, plain: bytes, places: Iterable[int]) -> Iterator[int]:
    """Yield where the lines begin, in a chunk, of places in its text without escape codes; both in ascending order."""
    if plain is data:
        yield from places
        return
    start = counted = 0
    for place in places:
        for _ in range(plain.count(b"\n", counted, place)):
            start = data.index(b"\n", start) + 1
        counted = place
        yield start
