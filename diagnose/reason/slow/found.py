"""One finding about speed or numbers, before its pattern is asked."""

from __future__ import annotations

from diagnose.catalogue.model import Catalogue
from diagnose.classes import dataclass, field
from diagnose.facts.model import Event
from diagnose.read.model import Evidence
from diagnose.reason.incident import Group, Incident
from diagnose.reason.result import Confidence


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, for which pattern, and on which lines."""

    pattern: str  # id of the pattern file that describes it
    evidence: tuple[Evidence, ...]  # [0] is the line at which it begins
    why: str  # in words a person can verify
    captures: dict[str, str] = field(default_factory=dict)
    confidence: Confidence = "medium"
    root: bool = True  # a run that did not fail is degraded by it; else it is a risk

    def group(self, catalogue: Catalogue) -> Group | None:
        """Return it as the group of one incident; None where the pattern is switched off."""
        pattern = catalogue.patterns.get(self.pattern)
        if pattern is None or not self.evidence:
            return None
        line = self.evidence[0]
        event = Event(pattern.id, 0, self.captures, line, 0, rank=line.rank, node=line.node)
        return Group([Incident(-1, 0, line, pattern, event)])


def percent(value: float) -> str:
    """Write a percentage as a condition can read it: "-16.4"."""
    return f"{value:.1f}"


def milliseconds(value: float) -> str:
    """Write a time: "223.4 ms", "3.62 s"."""
    return f"{value / 1000:.2f} s" if value >= 10_000 else f"{value:.1f} ms"
