"""Reads exceptions that stand in a log without a traceback's head: cut out of a report, or printed by themselves."""

from __future__ import annotations

from diagnose.lazy import LazyBytes
from diagnose.read import exceptions as words
from diagnose.read.clean import strip_escapes
from diagnose.read.model import Line, Traceback
from diagnose.read.text import Text
from diagnose.read.traceback import as_traceback
from diagnose.read.unit import Unit, Verdict

_TAIL = 64 * 1024
_BEGINS = LazyBytes(
    rb'File "|Error *[\r\n]|\.(?:exceptions|errorfactory|errors|exc)\.'
    rb"|(?:Error|Exception|Failed|Iteration|error)(?:(?:\([\w.]{1,200}\))?:|\()"
)
_GOES_ON = (Verdict.TAKEN, Verdict.SKIPPED)


def read_headless(text: Text, before: Line | None = None, limit: int = 120) -> list[Traceback]:
    """Read the exceptions among the last `limit` lines of a log that holds no head of a traceback.

    The frames that are left above an exception are read with it. With `before`, the first head of a log, the lines
    above it are read: a report may be cut out inside the first traceback. Only an exception with frames counts there.
    """
    if before is None and _holds_none(text, limit):
        return []
    units: list[Unit] = []
    open_units: dict[str, Unit] = {}
    announced: dict[str, str] = {}  # by lane, the type of an exception whose text comes next
    for line in text.last(limit) if before is None else reversed(list(text.before(before, limit))):
        unit = open_units.pop(line.lane, None)
        verdict = unit.feed(line, line.body) if unit is not None else Verdict.OVER
        if unit is not None and verdict in _GOES_ON:
            open_units[line.lane] = unit
            continue
        if kind := words.debugged(line.body.strip()):
            announced[line.lane] = kind
            continue
        begun = _begin(line, announced.pop(line.lane, ""))
        if begun is None:
            continue
        units.append(begun)
        if unit is not None and verdict is Verdict.REMOTE:
            begun.chain, begun.caused = "cause", unit
        if begun.final is None or words.headless(line.body.strip()):  # what `repr` wrote ends with its line
            open_units[line.lane] = begun
    kept = [unit for unit in units if unit.final and (unit.frames or before is None)]
    if before is None and units and len(units[-1].frames) > 1 and units[-1] in open_units.values():
        units[-1].complete = False  # the log ends inside a traceback whose head is lost too
        kept += [units[-1]] if units[-1].final is None else []
    places = {id(unit): at for at, unit in enumerate(kept)}
    return [as_traceback(text, unit, places) for unit in kept]


def _holds_none(text: Text, limit: int) -> bool:
    """Is it plain, from the bytes alone, that the last lines hold no exception and no frame?"""
    data = text.end(_TAIL)
    if data.count(b"\n") <= limit:
        return False
    lines = data.rsplit(b"\n", limit + 1)
    data = b"\n".join(lines[1:])
    return _BEGINS.search(strip_escapes(data) if b"\x1b" in data else data) is None


def _begin(line: Line, announced: str) -> Unit | None:
    said = line.body.strip()
    if said.startswith("E   "):  # as pytest shows it
        said = said[1:].lstrip()
    found = words.headless(said) or words.reported(said) or words.glued(said)
    if announced and not words.FILE.match(said):
        found = announced, said
    if found is None and words.FILE.match(said) is None:
        return None
    unit = Unit(line)
    if found is not None:
        unit.start_message(line, *found)
    else:
        unit.feed(line, line.body)
    return unit
