"""Finds out which rank and node spoke where the line itself does not say: from paths, and from torchrun's own table."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.classes import dataclass, replace
from diagnose.facts.model import SourceRecord
from diagnose.reason.incident import Incident

_STOPPED = ("-15", "143")  # torchrun stopped these itself


@dataclass(slots=True)
class Worker:
    """One row of torchrun's table of failed workers."""

    start: int  # offset of the row
    rank: int
    local_rank: int
    exitcode: str = ""
    pid: str = ""
    first: bool = False  # it stands under "Root Cause (first observed failure)"


def workers_of(incidents: Sequence[Incident]) -> dict[int, list[Worker]]:
    """Read the tables of failed workers, a list for each source."""
    tables: dict[int, list[Worker]] = {}
    first: dict[int, bool] = {}
    for each in incidents:
        captures = each.event.captures if each.event and each.role == "wrapper" else None
        if captures is None:
            continue
        table = tables.setdefault(each.source, [])
        if "rank" in captures and "local_rank" in captures:
            row = Worker(
                each.start, int(captures["rank"]), int(captures["local_rank"]), first=first.get(each.source, False)
            )
            table.append(row)
        elif "exitcode" in captures and "local_rank" not in captures and table and not table[-1].exitcode:
            table[-1].exitcode, table[-1].pid = captures["exitcode"], captures.get("pid", "")
        elif each.evidence.text.lstrip().startswith("Root Cause"):
            first[each.source] = True
    return tables


def identify(incidents: Sequence[Incident], records: Sequence[SourceRecord]) -> None:
    """Fill in rank and node of the incidents that lack them, where they can be known."""
    tables = workers_of(incidents)
    nodes = {record.node for record in records if record.node} | {each.node for each in incidents if each.node}
    ranks_by_node = _offsets(records, tables)
    everyone = [row for table in tables.values() for row in table]
    for each in incidents:
        rank, node = each.rank, each.node
        record = records[each.source]
        if node is None:
            node = _captured(each, "node") or _captured(each, "host") or record.node
        if rank is None:
            table, offset = tables.get(each.source, []), ranks_by_node.get(each.source)
            rank = _rank(each, record, table, everyone, len(nodes) <= 1, offset)
        if (rank, node) != (each.rank, each.node):
            each.evidence = replace(each.evidence, rank=rank, node=node)


def _captured(each: Incident, name: str) -> str | None:
    return each.event.captures.get(name) if each.event else None


def _offsets(records: Sequence[SourceRecord], tables: dict[int, list[Worker]]) -> dict[int, int]:
    """Return for each source the difference between rank and local rank, where its table shows one."""
    found: dict[int, int] = {}
    for index in range(len(records)):
        differences = {row.rank - row.local_rank for row in tables.get(index, [])}
        if len(differences) == 1:
            found[index] = differences.pop()
    return found


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
    following = [row for row in table if row.start > each.start and row.exitcode not in _STOPPED]
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
