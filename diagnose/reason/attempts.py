"""Tells the attempts of a job apart: a restart begins a new search for the first failure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import SourceRecord
from diagnose.reason.incident import Incident


def last_attempt(found: Sequence[Incident], records: Sequence[SourceRecord]) -> list[Incident]:
    """Return the incidents of the last attempt.

    Attempts come from paths (torchrun's `attempt_1`) or, inside one log, from a pattern that marks a restart. When the
    last attempt reports nothing, the one before it is what is left to explain.
    """
    numbered = {index: record.attempt for index, record in enumerate(records) if record.attempt is not None}
    offset = max(numbered.values(), default=0)
    marks: dict[int, list[int]] = {}
    for each in found:
        if each.pattern and each.pattern.marks == "restart":
            marks.setdefault(each.source, []).append(each.start)
    for each in found:
        passed = sum(1 for start in marks.get(each.source, ()) if start < each.start)
        each.attempt = numbered.get(each.source, offset if not marks.get(each.source) else 0) + passed
    failed = [each for each in found if each.role not in ("advice", "progress")]
    last = max((each.attempt for each in failed), default=0)
    return [each for each in found if each.attempt == last]
