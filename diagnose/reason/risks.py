"""Finds conflicts in the configuration that have not failed (yet)."""

from __future__ import annotations

from collections.abc import Callable

from diagnose.catalogue.condition import evaluate
from diagnose.catalogue.model import Catalogue
from diagnose.reason import words
from diagnose.reason.finding import make_finding
from diagnose.reason.result import Finding, Run
from diagnose.reason.scope import EventScope


def risks_of(
    catalogue: Catalogue, scope: Callable[[str], EventScope], framework: str, run: Run, root: Finding | None
) -> tuple[Finding, ...]:
    """List the patterns whose condition on the configuration holds; `scope` gives what that of a pattern can ask for.

    A run that has finished an iteration has passed its validation, so after that only what concerns speed and memory
    is still a risk.
    """
    if not run.config and not run.environment:
        return ()
    found: list[Finding] = []
    for name, condition in (*catalogue.predictions.items(), *catalogue.later.items()):
        if any(name == each.pattern for each in (root, *found) if each is not None):
            continue
        outcome = evaluate(condition, scope(name))
        if not outcome.answer:
            continue
        pattern = catalogue.patterns[name]
        if run.last_iteration is not None and pattern.category not in ("performance", "gpu-memory"):
            continue
        evidence = words.lines(outcome.used.values())
        why = f"The configuration holds it: {words.facts(outcome)}."
        found.append(make_finding(pattern, scope(name), evidence, "medium", why, framework))
    return tuple(found)
