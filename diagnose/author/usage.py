"""Which alternatives of a pattern its own samples use."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

from diagnose.catalogue.model import Catalogue, Pattern
from diagnose.facts.collect import Probe, collect, prepare
from diagnose.facts.model import Event
from diagnose.read import Source


def matcher(catalogue: Catalogue, probe: Probe | None = None) -> Callable[[str], list[Event]]:
    """Return a function that runs a few lines through the pipeline and gives the events."""
    ready = probe or prepare(catalogue)

    def match(text: str) -> list[Event]:
        return collect(Source("-"), ready, stdin=BytesIO(text.encode()), metrics="off").events

    return match


def unused(pattern: Pattern, match: Callable[[str], list[Event]]) -> list[int]:
    """List the alternatives (counted from 0) by which no match sample of the pattern is recognised.

    Of several alternatives that match one line the first counts: one that never comes first is either shadowed or
    without a sample.
    """
    seen = {
        event.alternative
        for sample in pattern.samples_match
        for event in match(sample.text)
        if event.pattern == pattern.id
    }
    return [number for number, each in enumerate(pattern.match) if not each.inferred and number not in seen]
