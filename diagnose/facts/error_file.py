"""Reads torchrun's error.json: the exception of one worker, with the time of its death.

The shapes are those of torch/distributed/elastic/multiprocessing/errors/error_handler.py.
"""

from __future__ import annotations

import json
import math

from diagnose.classes import dataclass, replace
from diagnose.facts.model import Observation, SourceRecord
from diagnose.read.clean import clean
from diagnose.read.model import Clock, Evidence, Source, Traceback
from diagnose.read.time import show
from diagnose.typed import Any

LARGEST = 4 * 1024 * 1024  # bytes of a file that is read
ORIGIN = "error-file"
_LATEST = 1 << 34  # seconds: a number beyond it is no time


@dataclass(frozen=True, slots=True)
class ErrorFile:
    """What one error.json says."""

    source: Source  # the words as a process would have printed them, as a source in memory
    text: str  # the same
    size: int  # bytes of the file
    lines: int  # of the file
    line: int  # the line of the file on which the words stand
    time: float | None = None  # seconds since the epoch
    code: int | None = None  # exit code, where a launcher added it

    def placed(self, record: SourceRecord) -> SourceRecord:
        """Give a record of the words the places of the file, and the worker's time of death."""
        record.events = [
            replace(each, evidence=self._at(each.evidence), time=self._when(each.time)) for each in record.events
        ]
        record.tracebacks = [self._unit(each) for each in record.tracebacks]
        record.observations = [
            replace(each, evidence=self._at(each.evidence) if each.evidence else None) for each in record.observations
        ]
        record.steps = [
            replace(each, evidence=self._at(each.evidence), time=self._when(each.time)) for each in record.steps
        ]
        record.tail = [self._at(each) for each in record.tail]
        record.lanes = dict.fromkeys(record.lanes, self.line)
        record.bytes, record.lines = self.size, self.lines
        record.first_time, record.last_time = self._when(record.first_time), self._when(record.last_time)
        if self.code is not None:
            first = self.text.partition("\n")[0]
            evidence = self._at(Evidence(record.path, self.line, first, record.rank, record.node))
            record.observations.append(Observation("run.error_code", self.code, evidence, ORIGIN))
        return record

    def _when(self, time: float | None) -> float | None:
        return self.time if time is None else time

    def _at(self, evidence: Evidence) -> Evidence:
        time = evidence.time if self.time is None or evidence.time else show(self.time, Clock.UTC)
        return replace(evidence, line=self.line, time=time)

    def _unit(self, unit: Traceback) -> Traceback:
        here = (self.line, self.line)
        said = here if unit.message_lines[0] else (0, 0)
        return replace(
            unit,
            head=self._at(unit.head),
            final=self._at(unit.final),
            lines=here,
            message_lines=said,
            time=self._when(unit.time),
        )


def read_error_file(source: Source) -> ErrorFile | None:
    """Read an error.json; None where it is none: then it is text like any other."""
    raw = source.content if source.content is not None else _content(source.path)
    if not raw or len(raw) > LARGEST:
        return None
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    found = _words(data)
    if not found:
        return None
    message, stack, stamp, code = found
    text = stack if message.strip() in stack else "\n".join(filter(None, (stack.rstrip("\n"), message)))
    text = "\n".join(clean(line.encode("utf-8", "replace")) for line in text.split("\n"))
    place = max(raw.find(b'"py_callstack"'), raw.find(b'"message"')) if stack else raw.find(b'"message"')
    return ErrorFile(
        source=replace(source, content=text.encode("utf-8", "replace")),
        text=text,
        size=len(raw),
        lines=max(1, len(raw.splitlines())),
        line=raw[: max(0, place)].count(b"\n") + 1,
        time=_time(stamp),
        code=code if isinstance(code, int) and not isinstance(code, bool) else None,
    )


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError):
        return None


def _words(data: Any) -> tuple[str, str, Any, Any] | None:
    """Take message, stack, time and exit code from either shape; None where there are no words."""
    if not isinstance(data, dict):
        return None
    inner = data.get("message")
    if isinstance(inner, dict):
        extra = inner.get("extraInfo")
        extra = extra if isinstance(extra, dict) else {}
        message, stamp, code = inner.get("message"), extra.get("timestamp"), inner.get("errorCode")
        stack = extra.get("py_callstack")
    else:
        message, stamp, code, stack = inner, data.get("timestamp"), data.get("errorCode"), data.get("py_callstack")
    texts = [each if isinstance(each, str) else "" for each in (message, stack)]
    return (texts[0], texts[1], stamp, code) if any(texts) else None


def _time(stamp: Any) -> float | None:
    try:
        seconds = float(stamp)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) and 0 < seconds < _LATEST else None
