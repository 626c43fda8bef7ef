"""What is left to say where only consequences are visible: what the ranks that speak were hit by."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.catalogue.model import Catalogue
from diagnose.facts.model import Event
from diagnose.reason import words
from diagnose.reason.incident import Incident

# The pattern that describes each kind of victim, where nothing says what hit them.
_DESCRIBED = {"waiting": "collective-timed-out", "peer-gone": "peer-lost"}


def consequence(incidents: Sequence[Incident], catalogue: Catalogue) -> Incident | None:
    """Make an incident of the first rank that says it was hit; None where no rank says so.

    Its cause is in another log: the finding is never conclusive.
    """
    victims = [each for each in incidents if each.pattern and each.pattern.victim and not each.recovered]
    if not victims:
        return None
    first = min(victims, key=lambda each: (each.time is None, each.time or 0.0, each.source, each.start))
    assert first.pattern is not None
    pattern = catalogue.patterns.get(_DESCRIBED[first.pattern.victim])
    if pattern is None:
        return None
    ranks = sorted({each.rank for each in victims if each.rank is not None})
    captures = {**(first.event.captures if first.event else {}), "count": str(len(victims))}
    if ranks:
        captures["ranks"] = words.ranks(ranks)
    event = Event(pattern.id, 0, captures, first.evidence, first.start, first.lane, first.rank, time=first.time)
    return Incident(first.source, first.start, first.evidence, pattern, event, time=first.time)
