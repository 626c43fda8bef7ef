"""What a pattern's conditions can ask for: the run's facts, and what belongs to this one event."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from diagnose.catalogue.codes import Codes, find_code
from diagnose.catalogue.condition import UNKNOWN, Outcome, Scope, Seen, evaluate
from diagnose.catalogue.model import Pattern
from diagnose.expressions import EXPRESSIONS, search_within
from diagnose.facts.model import Event
from diagnose.facts.run import Facts
from diagnose.reason.incident import Incident
from diagnose.typed import Any

_FRAMES = 12  # innermost frames that a condition may look at


class EventScope:
    """The facts of the run with one event's captures, named values and answered checks on top.

    A pattern may be given as a function: most conditions name no value of its own, and building it takes time.
    """

    def __init__(
        self,
        facts: Facts,
        pattern: Pattern | Callable[[], Pattern],
        incident: Incident | None,
        found: frozenset[str],
        extra: Mapping[str, Any],
        codes: Codes | None = None,
    ) -> None:
        self._facts = facts
        self._pattern = pattern
        self._incident = incident
        self._found = found
        self._extra = extra
        self._codes = codes or {}
        self._let: dict[str, Seen | None] = {}
        self.answers: dict[str, Seen] = {}  # check id -> its answer, filled as checks are asked

    def lookup(self, key: str) -> Seen | None:
        """Return a fact: a capture, a named value, an answered check, or one of the run."""
        space, _, name = key.partition(".")
        if space == "capture":
            event = self._incident.event if self._incident else None
            text = event.captures.get(name) if event else None
            return None if text is None or event is None else Seen(text, event.evidence)
        if space == "let":
            return self._named(name)
        if space == "check":
            return self.answers.get(name)
        if space == "code":
            meaning = find_code(self._codes, name)
            return None if meaning is None else Seen(meaning, None, f"table of {name.partition('.')[0]} codes")
        if key in self._extra:
            value = self._extra[key]
            return value if isinstance(value, Seen) else Seen(value)
        return self._facts.lookup(key)

    def _named(self, name: str) -> Seen | None:
        if name not in self._let:
            self._let[name] = None  # a value that names itself is unknown
            pattern = self._pattern if isinstance(self._pattern, Pattern) else self._pattern()
            condition = pattern.let.get(name)
            outcome = evaluate(condition, self) if condition else Outcome(UNKNOWN)
            if outcome.value is not UNKNOWN:
                evidence = next((seen.evidence for seen in outcome.used.values() if seen.evidence), None)
                self._let[name] = Seen(outcome.value, evidence)
        return self._let[name]

    @property
    def event(self) -> Event | None:
        """The event that is asked about; None for a prediction."""
        return self._incident.event if self._incident else None

    def found(self, name: str) -> bool:
        """Tell whether a pattern, or one of a category, matched in this job."""
        return name in self._found

    def frame(self, expression: str) -> bool | None:
        """Tell whether one of the innermost frames matches; None without a traceback."""
        unit = self._incident.traceback if self._incident else None
        if unit is None or not unit.frames:
            return None
        compiled = EXPRESSIONS.compiled(expression)
        if compiled is None:
            return None
        texts = (f"{f.file}:{f.line} in {f.function}: {f.code}" for f in unit.frames[-_FRAMES:])
        try:
            return any(search_within(compiled, text, 0.1) for text in texts)
        except TimeoutError:
            return None

    @property
    def text(self) -> str | None:
        """The evidence line, or the whole message where it stands in a traceback."""
        if self._incident is None:
            return None
        unit = self._incident.traceback
        return f"{unit.type}: {unit.message}" if unit else self._incident.evidence.text


def as_scope(scope: EventScope) -> Scope:
    """Let the type checker prove that EventScope is a Scope."""
    return scope
