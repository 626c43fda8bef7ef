"""Reports what no pattern knows as what it is: its type, its words, and whose code raised it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from diagnose.catalogue.model import PlacementRule
from diagnose.classes import replace
from diagnose.facts.model import SourceRecord
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Frame, Traceback
from diagnose.reason import words
from diagnose.reason.incident import Group, Incident
from diagnose.reason.kind import LIBRARY, category_of
from diagnose.reason.result import Cause, Check, Finding, Fix

_BARE = (
    "AttributeError", "IndentationError", "IndexError", "KeyError", "NameError", "RecursionError", "SyntaxError",
    "TabError", "TypeError", "UnboundLocalError",
)  # fmt: skip
_LOOKUPS = ("KeyError", "IndexError")
_FAILED = Lazy(r"(?i)\b(?:error|critical|fatal|fail(?:ed|ure)?|crash(?:ed)?|exception)\b[^:]{0,120}: ?\S.{8}")
_RAISED = Lazy(r"raise (?:\w{1,80}\.){0,5}(\w{1,80})\(f?['\"](.{4,300})")  # a line of code that says what it raises
_WORDS = 12  # last lines that are told of a failure that nothing explains
_FRAMEWORK = Lazy(r"(?i)/(?:megatron|nemo|transformer_engine|deepspeed|lightning)(?:[-_][^/]*)?/")


def own_frame(frames: Sequence[Frame]) -> Frame | None:
    """Return the innermost frame of the user's own code: no library, and no framework where something else is left."""
    own = [frame for frame in frames if not LIBRARY.search(frame.file)]
    return next((frame for frame in reversed(own) if not _FRAMEWORK.search(frame.file)), own[-1] if own else None)


def unknown_exception(group: Group, rules: Iterable[PlacementRule]) -> Finding:
    """Write the finding of an exception that no pattern knows; the rules place it."""
    incident = group.first
    unit = incident.traceback
    assert unit is not None
    message = unit.message.strip().splitlines()
    shown = f"{unit.type}: {message[0]}" if message else unit.type
    frame = own_frame(unit.frames) or (unit.frames[-1] if unit.frames else None)
    where = f"{frame.file}:{frame.line}, in {frame.function}" if frame else ""
    category = category_of(unit, rules)
    at = f", raised at {where}" if where else ""
    code = f": {frame.code.strip()}" if frame and frame.code else ""
    checks = (
        (Check("own-frame", "Where in the user's own code was it raised?", "unknown", f"{where}{code}"),)
        if where
        else ()
    )
    return Finding(
        pattern="unknown-exception",
        title=shown[:300],
        category=category,
        role="root",
        confidence="low",
        why=f"No pattern knows this exception{at}. Its words and its place suggest {category}.",
        evidence=tuple(each.evidence for each in group.incidents[:8]),
        summary=_sentence(shown, where, incident.evidence),
        captures={"type": unit.type, "message": unit.message[:2000], **({"frame": where} if where else {})},
        causes=(Cause("not-known", "The exception's own words are all that is known.", "possible"),),
        checks=checks,
        fixes=(Fix("read-the-frame", 1, f"Read the code at {where}.", state="unknown"),) if where else (),
    )


def place_bare(finding: Finding, incident: Incident, rules: Iterable[PlacementRule]) -> Finding:
    """Say less of an exception that only a generic pattern of faults of the code knows.

    It is a fault of the code where the user's own code raised it. A key that is not there may be missing in the data
    or in the configuration, and what a library raises in itself is often a release that does not fit.
    """
    unit = incident.traceback
    if unit is None:
        bare = str(finding.captures.get("what", "")).startswith(_LOOKUPS)  # nothing tells what was looked into
        return replace(finding, confidence="low") if bare else finding
    name = unit.type.partition("(")[0].rpartition(".")[2]
    if name not in _BARE:
        return finding
    own = bool(unit.frames) and not LIBRARY.search(unit.frames[-1].file)
    category = category_of(unit, rules)
    sure = own and name not in _LOOKUPS and category == finding.category
    return replace(finding, category=category, confidence=finding.confidence if sure else "low")


def cut_exception(record: SourceRecord, rules: Iterable[PlacementRule]) -> Finding:
    """Write the finding of a log that ends inside a traceback: where it was raised is all that it tells."""
    unit = record.tracebacks[-1]
    announced = _announced(record, unit)
    inside = [line for line in record.tail if unit.head.line < line.line <= unit.lines[1]]
    last = next((line for line in reversed(inside) if line.text.strip(" ^~")), unit.final)
    frame = unit.frames[-1]
    code = f": {frame.code.strip()[:200]}" if frame.code else ""
    where = f"{frame.file}:{frame.line}, in {frame.function}"
    raised = _RAISED.match(frame.code.strip())
    told = replace(unit, type=raised[1], message=raised[2]) if raised else unit
    category = category_of(replace(unit, message=announced.text) if announced else told, rules)
    announced = announced or _wrapping(record, unit)
    said = f"{words.clipped(announced.text.strip(), 200)}; the" if announced else "the"
    return Finding(
        pattern="unknown-exception",
        title=f"The log ends inside a traceback, at {where}"[:300],
        category=category,
        role="root",
        confidence="low",
        why=f"The line with the exception itself is missing. Its place suggests {category}.",
        evidence=(announced, last) if announced else (last,),
        summary=f"Unknown failure: {said} log ends inside a traceback, at {where}{code}",
        captures={"frame": where},
        causes=(Cause("not-known", "The log was cut before the exception's own words.", "possible"),),
        checks=(Check("last-frame", "Where was it raised?", "unknown", f"{where}{code}"),),
        fixes=(Fix("whole-log", 1, "Look for the rest of the traceback in the log of that process.", state="unknown"),),
    )


def _announced(record: SourceRecord, unit: Traceback) -> Evidence | None:
    """Return the logger's line above a traceback that says what failed; None without one."""
    near = [line for line in record.tail if unit.head.line - 3 <= line.line < unit.head.line and line.text.strip()]
    return near[-1] if near and _FAILED.search(near[-1].text) else None


def _wrapping(record: SourceRecord, unit: Traceback) -> Evidence | None:
    """Return the line of the exception in whose message the cut traceback stands, as Ray passes one on, if any."""
    outer = record.tracebacks[unit.caused] if unit.caused is not None and unit.caused < len(record.tracebacks) else None
    return outer.final if outer is not None and outer.type and outer.start <= unit.start else None


def _sentence(shown: str, where: str, evidence: Evidence) -> str:
    by = words.speaker(evidence)
    said = words.clipped(shown, 200)
    return f"Unknown failure{f' on {by}' if by else ''}: {said}{f', raised at {where}' if where else ''}"


def last_words(records: Sequence[SourceRecord]) -> tuple[Evidence, ...]:
    """Return the last telling lines of the logs, for a failure that nothing explains."""
    telling = re.compile(
        r"(?i)error|fail|fatal|abort|exception|killed|terminat|signal|cannot|unable|denied|refused|exit"
    )
    lines = [line for record in records for line in record.tail]
    found = list(islice((line for line in reversed(lines) if telling.search(line.text)), _WORDS))
    return tuple(reversed(found)) or tuple(lines[-_WORDS:])
