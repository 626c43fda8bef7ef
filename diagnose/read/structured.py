"""Unwraps structured log lines: one JSON object, or logfmt pairs, a line, with level, rank, time, message, exception.

Key names are those of Docker, Fluent Bit, Google Cloud Logging, the systemd journal, python-json-logger, structlog,
loguru (`serialize=True`), Ray and zap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from diagnose.classes import dataclass
from diagnose.lazy import Lazy
from diagnose.read import time as stamps
from diagnose.read.model import Clock
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

LONGEST = 256 * 1024  # bytes of one entry
_HEAD = "Traceback (most recent call last)"
_MOST = 64  # keys of one object that are looked at
_DEPTH = 3
_LONGEST_NAME = 253

_MESSAGE = ("message", "msg", "log", "event", "textpayload", "line", "text", "body")
_THROWN = (
    "exc_info",
    "exception",
    "exc_text",
    "traceback",
    "stack_trace",
    "stacktrace",
    "error.stack_trace",
    "error.stack",
    "stack",
    "stack_info",
    "text",
)
_LEVEL = ("level", "levelname", "severity", "log.level", "loglevel", "lvl", "priority", "level.name")
_TIME = (
    "timestamp",
    "time",
    "asctime",
    "ts",
    "datetime",
    "date",
    "time.timestamp",
    "realtime_timestamp",
    "timestamp_ns",
    "t",
)
_RANK = ("rank", "global_rank", "dist_rank", "process_rank", "extra.rank", "rank_id")
_LOCAL = ("local_rank", "extra.local_rank")
_NODE = ("pod_name", "hostname", "host", "host.name", "node", "node_name", "nodename", "pod", "host_name")
_PID = ("pid", "process", "process.id", "process_id")
# Objects whose keys count as if they stood outside, and those that keep their name.
_OPENED = frozenset(
    ("jsonpayload", "record", "extra", "fields", "kubernetes", "resource", "labels", "attributes", "context", "data")
)
_NAMED = frozenset(("host", "log", "error", "process", "level", "time", "exception"))
# Data sets have records with a text and a date too; a log entry with such a weak name of its message tells its level.
_WEAK = frozenset(("text", "body", "line", "event"))
_UNITS = MappingProxyType({10: 1.0, 13: 1e3, 16: 1e6, 19: 1e9})  # digits of an epoch in s, ms, µs, ns
_STREAMS = frozenset(("stdout", "stderr"))
_PAIR = Lazy(r'([A-Za-z_@][\w.@-]{0,60})=(?:"((?:[^"\\]|\\.){0,65536})"|([^\s"]{0,400}))(?:\s|$)', re.ASCII)
_LOGFMT = Lazy(r"(?:ts|time|timestamp|t|level|lvl|severity|rank)=")
_ESCAPED = Lazy(r"\\(.)", re.DOTALL)


@dataclass(slots=True)
class Entry:
    """What one structured line says."""

    words: str  # the message; behind a newline the traceback that the entry carries
    stamp: stamps.Stamp | None = None
    rank: int | None = None
    local_rank: int | None = None
    node: str | None = None
    pid: int | None = None
    stream: str | None = None

    def speaker(self) -> Iterator[tuple[str, object]]:
        """Yield what tells its speaker from others."""
        told = {"node": self.node, "rank": self.rank, "local_rank": self.local_rank, "pid": self.pid}
        yield from ((name, value) for name, value in told.items() if value is not None)


def unwrap(text: str) -> Entry | None:
    """Read a line that is one JSON object, or logfmt pairs; None where it is no log entry."""
    if text.startswith("{"):
        return _from_json(text)
    return _from_pairs(text) if _LOGFMT.match(text) else None


def is_structured(head: bytes) -> bool:
    """Do these first bytes of a file begin with a log entry in JSON?"""
    line = head.lstrip().partition(b"\n")[0]
    return line.startswith(b"{") and unwrap(line.decode("utf-8", "replace").rstrip()) is not None


def _from_json(text: str) -> Entry | None:
    if len(text) > LONGEST or not text.rstrip().endswith("}"):
        return None
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _entry(dict(_flat(found, "", 0))) if isinstance(found, dict) else None


def _from_pairs(text: str) -> Entry | None:
    found: dict[str, Any] = {}
    at = 0
    while len(found) < _MOST and (match := _PAIR.match(text, at)):
        quoted = match[2]
        value = match[3] if quoted is None else _ESCAPED.sub(lambda each: {"n": "\n"}.get(each[1], each[1]), quoted)
        found.setdefault(match[1].lower(), value)
        at = match.end()
    return _entry(found) if at >= len(text.rstrip()) and found.keys() & {"msg", "message"} else None


def _flat(found: Mapping[str, Any], name: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield an object's values by lower-case keys, outer ones last, so that they win."""
    inner = [(key, value) for key, value in list(found.items())[:_MOST] if isinstance(value, dict)]
    for key, value in inner:
        plain = key.lower().strip("_@").rpartition("/")[2]
        if depth < _DEPTH and plain in _NAMED:
            yield from _flat(value, f"{plain}.", depth + 1)
        elif depth < _DEPTH and plain in _OPENED:
            yield from _flat(value, "", depth + 1)
    for key, value in list(found.items())[:_MOST]:
        if not isinstance(value, dict):
            yield name + key.lower().strip("_@"), value


def _entry(found: Mapping[str, Any]) -> Entry | None:
    name = next((key for key in _MESSAGE if isinstance(found.get(key), str)), None)
    level, time = _first(found, _LEVEL), _first(found, _TIME)
    thrown = _thrown(found)
    if name is None or not _is_entry(name, found, level, time or thrown):
        return None
    message = str(found[name]).rstrip("\r\n")
    stream = found.get("stream")
    return Entry(
        f"{message}\n{thrown}" if thrown and thrown not in message else message,
        _stamp(time),
        _number(_first(found, _RANK)),
        _number(_first(found, _LOCAL)),
        next((found[key] for key in _NODE if _is_name(found.get(key))), None),
        _number(_first(found, _PID)),
        stream if isinstance(stream, str) and stream in _STREAMS else None,
    )


def _is_entry(name: str, found: Mapping[str, Any], level: Any, other: Any) -> bool:
    """Tell a log entry from a record of a data set, by what stands beside its message."""
    if name == "log" and "stream" in found:
        return True
    return level is not None or (name not in _WEAK and bool(other))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME


def _first(found: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value for key in keys if (value := found.get(key)) is not None and value != ""), None)


def _thrown(found: Mapping[str, Any]) -> str:
    """Return the traceback that an entry carries beside its message; "" where there is none."""
    for key in _THROWN:
        value = found.get(key)
        if isinstance(value, list):
            value = _raised(value)
        if isinstance(value, str) and (at := value.find(_HEAD)) >= 0:
            return value[value.rfind("\n", 0, at) + 1 :].rstrip()
    return ""


def _raised(parts: list[Any]) -> str:
    """Write out a traceback that is given as a list of lines, or of structlog's objects."""
    if all(isinstance(each, str) for each in parts):
        return "\n".join(each.rstrip("\n") for each in parts)
    lines: list[str] = []
    for each in parts[:8]:
        if not isinstance(each, dict) or "exc_type" not in each:
            return ""
        frames = each.get("frames")
        lines.append(f"{_HEAD}:")
        for frame in frames[:60] if isinstance(frames, list) else ():
            if isinstance(frame, dict):
                lines.append(f'  File "{frame.get("filename")}", line {frame.get("lineno")}, in {frame.get("name")}')
                lines += [f"    {frame['line']}"] if frame.get("line") else []
        lines.append(f"{each['exc_type']}: {each.get('exc_value', '')}")
    return "\n".join(lines)


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 7 else None


def _stamp(value: Any) -> stamps.Stamp | None:
    if isinstance(value, str):
        if match := stamps.DATED.match(value):
            return stamps.dated(match)
        try:
            value = float(value) if len(value) <= 24 else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1e9 <= value < 5e18:
        return None
    unit = _UNITS.get(len(str(int(value))))
    return (value / unit, Clock.UTC) if unit else None
