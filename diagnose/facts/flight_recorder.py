"""Reads flight-recorder dumps of PyTorch's NCCL process groups (`nccl_trace_rank_3`): pickle files, or JSON.

A pickle is a program. These are read only where they hold nothing but containers, texts and numbers: the opcodes are
looked at first, and one that could call or import anything makes the file refused.

Source: torch/csrc/distributed/c10d/FlightRecorder.hpp and its Python reader torch/distributed/flight_recorder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from diagnose.classes import dataclass
from diagnose.facts.model import Observation, SourceRecord, Value
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Source
from diagnose.typed import Any

LARGEST = 256 * 1024 * 1024  # bytes of a dump that is read
KEY = "collective.trace"
ORIGIN = "flight-recorder"
_GROUPS = 256  # process groups of one rank that are told of
_ENTRIES = 200_000  # entries of one dump that are looked at
_RANK = Lazy(r"rank[-_]?(\d{1,7})$|[-_](\d{1,7})$|rank[-_]?(\d{1,7})\D")
# All that data needs: marks, containers, numbers, texts, memo, frames. Nothing that imports or calls.
_HARMLESS_WORDS = """
PROTO FRAME STOP MARK POP POP_MARK DUP NONE NEWTRUE NEWFALSE INT LONG LONG1 LONG4 BININT BININT1 BININT2
FLOAT BINFLOAT
STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE BINUNICODE8 SHORT_BINUNICODE BINBYTES BINBYTES8 SHORT_BINBYTES
LIST EMPTY_LIST APPEND APPENDS TUPLE EMPTY_TUPLE TUPLE1 TUPLE2 TUPLE3 DICT EMPTY_DICT SETITEM SETITEMS
GET BINGET LONG_BINGET PUT BINPUT LONG_BINPUT MEMOIZE
"""
_HARMLESS = frozenset(_HARMLESS_WORDS.split())


class DumpError(ValueError):
    """A dump that cannot be read, or must not be; the text says why."""


@dataclass(frozen=True, slots=True)
class Last:
    """How far a rank came in one process group."""

    group: str
    enqueued: int | None
    completed: int | None
    seq: int | None  # of the last entry that is not completed, else of the last one
    op: str
    sizes: str
    state: str  # scheduled | started | completed
    frame: str  # where the program called it
    ranks: tuple[int, ...]  # of the group


def read_flight_recorder(source: Source) -> SourceRecord:
    """Read one dump into a record: an observation `collective.trace` for each process group.

    What cannot be read, or is refused, stands in the record's problems.
    """
    record = SourceRecord(source.path, source.kind, rank=_rank_of(source), node=source.node)
    raw = b""
    try:
        raw = source.content if source.content is not None else _content(source.path)
        lasts = list(last_of(parse(raw)))
    except (DumpError, OSError) as error:
        record.problems.append(f"this flight-recorder dump is not read: {error}")
        lasts = []
    record.bytes, record.lines = len(raw), raw.count(b"\n") + 1 if raw[:1] in b"{[" else 1
    for last in lasts:
        text = _words(record.rank, last)
        evidence = Evidence(source.path, 1, text, record.rank, source.node)
        members: list[Value] = [*last.ranks]
        value: dict[str, Value] = {
            "rank": record.rank,
            "group": last.group,
            "enqueued": last.enqueued,
            "completed": last.completed,
            "seq": last.seq,
            "op": last.op,
            "sizes": last.sizes,
            "state": last.state,
            "frame": last.frame,
            "ranks": members,
        }
        record.observations.append(Observation(KEY, value, evidence, ORIGIN))
    return record


def _rank_of(source: Source) -> int | None:
    if source.rank is not None:
        return source.rank
    found = _RANK.search(source.path.rpartition("/")[2])
    return int(next(filter(None, found.groups()))) if found else None


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise DumpError("it is too large")
    return raw


def parse(raw: bytes) -> Mapping[str, Any]:
    """Turn a dump's bytes into plain data; raises DumpError where it is none, or holds more than data."""
    data = _from_json(raw) if raw[:1] in (b"{", b"[") else _from_pickle(raw)
    if not isinstance(data, dict) or not isinstance(data.get("entries"), list):
        raise DumpError("it holds no entries")
    return data


def _from_json(raw: bytes) -> Any:
    import json

    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise DumpError("it is no JSON") from error


def _from_pickle(raw: bytes) -> Any:
    import pickle
    import pickletools

    class Plain(pickle.Unpickler):
        def find_class(self, module_name: str, global_name: str, /) -> Any:
            raise DumpError(f"it names {module_name}.{global_name}; only plain data is read")

    import io

    operations = 0
    try:
        for opcode, argument, _ in pickletools.genops(raw):
            operations += 1
            if opcode.name not in _HARMLESS:
                raise DumpError(f"it holds the pickle operation {opcode.name}; only plain data is read")
            # A memo slot far beyond the operations would only make the reader reserve memory.
            if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > operations + 256:
                raise DumpError("its memo numbers are out of range")
        return Plain(io.BytesIO(raw)).load()
    except DumpError:
        raise
    except Exception as error:  # a damaged pickle raises nearly anything
        raise DumpError(f"it is damaged or cut off ({type(error).__name__})") from error


def last_of(dump: Mapping[str, Any]) -> Iterator[Last]:
    """Yield how far the rank came, a process group at a time."""
    entries: dict[str, list[Mapping[str, Any]]] = {}
    for entry in dump["entries"][-_ENTRIES:]:
        if isinstance(entry, dict) and not entry.get("is_p2p"):
            entries.setdefault(_group(entry), []).append(entry)
    status = dump.get("pg_status")
    config = dump.get("pg_config")
    for name, told in list(entries.items())[:_GROUPS]:
        own = _of(status, told[-1])
        waiting = next((each for each in told if each.get("state") != "completed"), told[-1])
        done = [number for each in told if each.get("state") == "completed" and (number := _seq(each)) is not None]
        numbers = [number for each in told if (number := _seq(each)) is not None]
        yield Last(
            group=name,
            enqueued=_integer(own.get("last_enqueued_collective"), max(numbers, default=None)),
            completed=_integer(own.get("last_completed_collective"), max(done, default=None)),
            seq=_seq(waiting),
            op=str(waiting.get("profiling_name") or "").rpartition(":")[2][:80],
            sizes=_sizes(waiting),
            state=str(waiting.get("state") or "")[:20],
            frame=_frame(waiting.get("frames")),
            ranks=_members(_of(config, told[-1]).get("ranks")),
        )


def _group(entry: Mapping[str, Any]) -> str:
    named = entry.get("process_group")
    if isinstance(named, (list, tuple)) and named:
        name, kind = str(named[0])[:80], str(named[-1] or "")[:80]
        return f"{name} ({kind})" if kind and len(named) > 1 else name
    return str(named if named is not None else entry.get("pg_id", ""))[:80]


def _of(table: Any, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Find a group's row in `pg_status` or `pg_config`, which are keyed by the group's unique name or its number."""
    if not isinstance(table, dict):
        return {}
    named = entry.get("process_group")
    keys = [*(named if isinstance(named, (list, tuple)) else [named]), entry.get("pg_id")]
    for key in keys:
        for form in (key, str(key)):
            row = table.get(form) if isinstance(form, (str, int)) else None
            if isinstance(row, dict):
                return row
    return {}


def _seq(entry: Mapping[str, Any]) -> int | None:
    return _integer(entry.get("collective_seq_id"), _integer(entry.get("seq_id"), None))


def _integer(value: Any, otherwise: int | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _sizes(entry: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{str(entry[key])[:100]} {name}"
        for key, name in (("input_sizes", "in"), ("output_sizes", "out"))
        if isinstance(entry.get(key), (list, tuple))
    )


def _frame(frames: Any) -> str:
    if not isinstance(frames, (list, tuple)):
        return ""
    for frame in frames[:40]:
        file = str(frame.get("filename") or "") if isinstance(frame, dict) else ""
        if file and "/torch/" not in file:
            return f"{file[-200:]}:{frame.get('line')} in {str(frame.get('name'))[:80]}"
    return ""


def _members(ranks: Any) -> tuple[int, ...]:
    numbers: Sequence[Any] = re.findall(r"\d{1,7}", ranks[:1_000_000]) if isinstance(ranks, str) else ranks or ()
    if not isinstance(numbers, (list, tuple)):
        return ()
    return tuple(int(each) for each in numbers if isinstance(each, int) or (isinstance(each, str) and each.isdigit()))


def _words(rank: int | None, last: Last) -> str:
    who = f"rank {rank}" if rank is not None else "a rank"
    called = f", called at {last.frame}" if last.frame else ""
    sizes = f" ({last.sizes})" if last.sizes else ""
    return (
        f"flight recorder of {who}, group {last.group}: last enqueued {last.enqueued}, last completed "
        f"{last.completed}; {last.op or 'operation'} number {last.seq}{sizes} is {last.state or 'unknown'}{called}"
    )
