"""Finds out which rank and node spoke where the line itself does not say: from paths, and from torchrun's own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnose.classes import replace
from diagnose.facts.model import SourceRecord
from diagnose.facts.placement import pci_of
from diagnose.reason.incident import Incident
from diagnose.reason.placement import Worker, gpus_of, numbered_ranks, offsets_of, spread_tasks

STOPPED = ("-15", "143")  # torchrun stopped these itself


def workers_of(incidents: Sequence[Incident]) -> dict[int, list[Worker]]:
    """Read the tables of failed workers, a list for each source."""
    tables: dict[int, list[Worker]] = {}
    first: dict[int, bool] = {}
    hosts: dict[int, str] = {}
    for each in incidents:
        captures = each.event.captures if each.event and each.role == "wrapper" else None
        if captures is None:
            continue
        table = tables.setdefault(each.source, [])
        if "rank" in captures and "local_rank" in captures:
            rank, local_rank = int(captures["rank"]), int(captures["local_rank"])
            row = Worker(
                each.start, rank, local_rank, time=each.time, attempt=each.attempt, first=first.get(each.source, False)
            )
            row.node = hosts.pop(each.source, "")
            table.append(row)
        elif captures.keys() == {"host"}:
            hosts[each.source] = captures["host"]
        elif "exitcode" in captures and "local_rank" not in captures and table and not table[-1].exitcode:
            table[-1].exitcode, table[-1].pid = captures["exitcode"], captures.get("pid", "")
        elif each.evidence.text.lstrip().startswith("Root Cause"):
            first[each.source] = True
    return tables


def identify(incidents: Sequence[Incident], records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """Fill in rank and node of incidents that lack them, where they can be known; return the records with theirs."""
    tables = workers_of(incidents)
    nodes = {record.node for record in records if record.node} | {each.node for each in incidents if each.node}
    records = [_at_home(record, nodes) for record in records]
    spread = spread_tasks(records)
    records = [
        replace(record, node=spread[at][0], rank=spread[at][1]) if at in spread else record
        for at, record in enumerate(records)
    ]
    offsets = offsets_of(records, tables)
    numbered = numbered_ranks(records)
    records = [replace(record, rank=numbered[at]) if at in numbered else record for at, record in enumerate(records)]
    everyone = [row for table in tables.values() for row in table]
    gpus = gpus_of(records)
    for each in incidents:
        rank, node = each.rank, each.node
        record = records[each.source]
        if node is None:
            node = _captured(each, "node") or _captured(each, "host") or record.node
        named = _captured(each, "named_rank")
        if named is not None and named.isdigit():
            rank = int(named)  # the line tells of another rank than the one that speaks
        elif rank is None:
            table, offset = tables.get(each.source, []), offsets.get(each.source)
            rank = _rank(each, record, table, everyone, len(nodes) <= 1, offset)
            rank = _holder(each, node, gpus) if rank is None else rank
        if (rank, node) != (each.rank, each.node):
            each.evidence = replace(each.evidence, rank=rank, node=node)
    _settle(incidents, everyone)
    _date(incidents, everyone)
    return [_placed(record, offsets.get(index), len(nodes) <= 1) for index, record in enumerate(records)]


def _at_home(record: SourceRecord, nodes: set[str]) -> SourceRecord:
    """Give a record the node that its file is named after, where another source names that node."""
    stem = record.path.replace("\\", "/").rpartition("/")[2].partition(".")[0]
    return replace(record, node=stem) if record.node is None and stem in nodes else record


def _holder(each: Incident, node: str | None, gpus: Mapping[tuple[str, str], int]) -> int | None:
    """Return the rank whose GPU a kernel's record names by its PCI address."""
    address = _captured(each, "pci") if each.daemon and gpus else None
    if not address:
        return None
    pci = pci_of(address)
    places = {place: rank for place, rank in gpus.items() if place[1] == pci and (not node or place[0] in ("", node))}
    return next(iter(places.values())) if len(places) == 1 else None


def _settle(incidents: Sequence[Incident], rows: Sequence[Worker]) -> None:
    """Fill in the node of what a rank said where a launcher told on which node that rank ran."""
    homes: dict[tuple[int, int], set[str]] = {}
    for row in rows:
        if row.node:
            homes.setdefault((row.attempt, row.rank), set()).add(row.node)
    for each in incidents:
        if each.role == "wrapper" and each.rank is not None and _captured(each, "host") and each.node:
            homes.setdefault((each.attempt, each.rank), set()).add(each.node)
    for each in incidents:
        told = homes.get((each.attempt, each.rank), set()) if each.rank is not None else set()
        if each.node is None and len(told) == 1:
            each.evidence = replace(each.evidence, node=next(iter(told)))


def _date(incidents: Sequence[Incident], rows: Sequence[Worker]) -> None:
    """Date what a rank said in a file without any stamp by the moment at which its launcher saw it fail first."""
    stamped = {each.source for each in incidents if each.time is not None}
    ends: dict[tuple[int, int], float] = {}
    for row in rows:
        if row.first and row.time is not None and row.exitcode not in STOPPED:
            key = (row.attempt, row.rank)
            ends[key] = min(row.time, ends.get(key, row.time))
    for each in incidents:
        if each.source not in stamped and each.rank is not None and not each.daemon:
            each.time, each.assumed = ends.get((each.attempt, each.rank)), False


def _placed(record: SourceRecord, offset: int | None, one_node: bool) -> SourceRecord:
    """Give a record its global rank, and the voices in it theirs."""
    if offset is None and not one_node:
        return record
    away = offset or 0
    rank = record.rank
    if rank is None and record.local_rank is not None:
        rank = record.local_rank + away
    voices = record.voices
    if away and voices and max(voices) < away:  # labels that counted local ranks
        voices = {voice + away: line for voice, line in voices.items()}
    return record if rank == record.rank and voices is record.voices else replace(record, rank=rank, voices=voices)


def _captured(each: Incident, name: str) -> str | None:
    return each.event.captures.get(name) if each.event else None


def _rank(
    each: Incident,
    record: SourceRecord,
    table: Sequence[Worker],
    everyone: Sequence[Worker],
    one_node: bool,
    offset: int | None,
) -> int | None:
    own = _captured(each, "rank")
    if own is not None and own.isdigit():
        return int(own)
    if record.rank is not None:
        return record.rank
    task = _captured(each, "tasks")
    if task is not None and task.isdigit() and record.voices and not everyone:
        return int(task)  # srun started the ranks themselves: there is no launcher between
    pid = _captured(each, "pid")
    rows = everyone if each.daemon else table
    row = next((row for row in rows if pid and row.pid == pid), None)
    if row is not None:
        return row.rank
    local = _local_rank(each, record)
    if local is not None:
        if offset is not None:
            return local + offset
        return local if one_node else None
    if each.role != "root" or each.lane:
        return None
    following = [row for row in table if row.start > each.start and row.exitcode not in STOPPED]
    wanted = next((row for row in following if row.first), following[0] if len(following) == 1 else None)
    return wanted.rank if wanted is not None and _dies_alike(each, wanted) else None


def _local_rank(each: Incident, record: SourceRecord) -> int | None:
    text = _captured(each, "local_rank")
    if text is not None and text.isdigit():
        return int(text)
    if each.event is not None and each.event.local_rank is not None:
        return each.event.local_rank
    if each.traceback is not None and each.traceback.local_rank is not None:
        return each.traceback.local_rank
    return record.local_rank


def _dies_alike(each: Incident, row: Worker) -> bool:
    """Tell whether a worker's exit code suits an incident: an exception exits with 1, a signal with its number."""
    return each.traceback is None or row.exitcode in ("", "1", "2")
