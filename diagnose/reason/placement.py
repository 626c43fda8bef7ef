"""Finds out by how much global and local ranks differ in each source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from diagnose.classes import dataclass
from diagnose.facts.model import SourceRecord
from diagnose.facts.placement import KEY
from diagnose.lazy import Lazy
from diagnose.read.model import Kind

_NUMBERED = Lazy(r"(?:^|[-_])(?:node|worker|host|nid)s?[-_]?(\d{1,4})$")
_LAST_NUMBER = Lazy(r"(.*?)(\d{1,6})(\D*(?:/\d+)?\D*)")
_HOST_AND_TASK = Lazy(r"(.*/|)([A-Za-z][\w.-]{0,80}?)[_.](\d{1,6})(\.(?:log|out|err|txt))")  # srun's %N_%t
_WITNESSES = 2  # logs that must speak of their rank before the numbers of the others are believed


@dataclass(slots=True)
class Worker:
    """One row of torchrun's table of failed workers."""

    start: int  # offset of the row
    rank: int
    local_rank: int
    exitcode: str = ""
    pid: str = ""
    time: float | None = None  # when the launcher saw it end
    attempt: int = 0
    node: str = ""
    first: bool = False  # it stands under "Root Cause (first observed failure)"


def offsets_of(records: Sequence[SourceRecord], tables: Mapping[int, Sequence[Worker]]) -> dict[int, int]:
    """Return for each source what must be added to a local rank, where anything tells it.

    A source's own words count first (torchrun's table, its rendezvous, NCCL's lines, lines with both labels), then
    those of the launcher above it in the folders, or of any other source of the same node, then numbered nodes of
    equal size.
    """
    found: dict[int, int] = {}
    for index, record in enumerate(records):
        told = {row.rank - row.local_rank for row in tables.get(index, ())} or set(_told(record))
        if len(told) == 1 and (offset := told.pop()) >= 0:
            found[index] = offset
    lacking = [index for index in range(len(records)) if index not in found]
    if not lacking:
        return found
    folders = {_folder(records[index].path) for index in found}
    below: dict[tuple[str, ...], set[int]] = {}
    for index, offset in found.items():
        folder = _folder(records[index].path)
        for length in range(1, len(folder) + 1):
            below.setdefault(folder[:length], set()).add(offset)
    nodes = _one_each((records[index].node, offset) for index, offset in found.items())
    numbered = _numbered(records)
    for index in lacking:
        node = records[index].node
        near = _above(_folder(records[index].path), folders, below)
        if near is None and node is not None:
            near = nodes.get(node, numbered.get(node))
        if near is not None:
            found[index] = near
    return found


def gpus_of(records: Sequence[SourceRecord]) -> dict[tuple[str, str], int]:
    """Return which rank holds the GPU at a node's PCI address, as NCCL told it of the whole job's communicator."""
    held: dict[tuple[str, str], set[int]] = {}
    for record in records:
        for each in record.observations:
            value = each.value
            if each.key != KEY or not isinstance(value, dict) or "pci" not in value or not _is_world(record, value):
                continue
            if isinstance(rank := value.get("rank"), int):
                held.setdefault((str(value.get("node") or record.node or ""), str(value["pci"])), set()).add(rank)
    return {place: ranks.pop() for place, ranks in held.items() if len(ranks) == 1}


def _told(record: SourceRecord) -> Iterator[int]:
    for observation in record.observations:
        value = observation.value
        if observation.key == KEY and isinstance(value, dict):
            ranks = value.get("ranks")
            if isinstance(ranks, list) and ranks and isinstance(ranks[0], int):
                yield ranks[0]
            elif _is_world(record, value):
                rank, local = value["rank"], value["local"]
                if isinstance(rank, int) and isinstance(local, int) and value.get("node") == record.node:
                    yield rank - local
    labels = [(each.rank, each.local_rank) for each in record.events]
    labels += [(each.rank, each.local_rank) for each in record.tracebacks]
    for rank, local_rank in labels:
        if rank is not None and local_rank is not None and record.rank is None:
            yield rank - local_rank


def _is_world(record: SourceRecord, value: Mapping[str, object]) -> bool:
    """Tell whether a communicator is that of the whole job: the largest that is told of."""
    sizes = [
        size
        for each in record.observations
        if each.key == KEY and isinstance(each.value, dict) and isinstance(size := each.value.get("world"), int)
    ]
    return bool(sizes) and value.get("world") == max(sizes)


def _folder(path: str) -> tuple[str, ...]:
    return tuple(path.replace("\\", "/").split("/")[:-1])


def _above(
    folder: tuple[str, ...], folders: Collection[tuple[str, ...]], below: Mapping[tuple[str, ...], set[int]]
) -> int | None:
    """Return what the nearest folder at or above this one tells; a folder that several nodes share tells nothing."""
    for length in range(len(folder), 0, -1):
        if folder[:length] in folders:
            told = below[folder[:length]]
            return next(iter(told)) if len(told) == 1 else None
    return None


def _one_each(pairs: Iterator[tuple[str | None, int]]) -> dict[str, int]:
    found: dict[str, set[int]] = {}
    for node, offset in pairs:
        if node is not None:
            found.setdefault(node, set()).add(offset)
    return {node: offsets.pop() for node, offsets in found.items() if len(offsets) == 1}


def _numbered(records: Sequence[SourceRecord]) -> dict[str, int]:
    """Place nodes by the numbers in their names, where these count from 0 and all nodes have as many ranks."""
    ranks: dict[str, set[int]] = {}
    for record in records:
        if record.node is not None and record.kind is Kind.LOG:
            locals_ = {record.local_rank, *(each.local_rank for each in record.events)}
            ranks.setdefault(record.node, set()).update(each for each in locals_ if each is not None)
    numbers = {node: int(match[1]) for node in ranks if (match := _NUMBERED.search(node))}
    if len(numbers) != len(ranks) or sorted(numbers.values()) != list(range(len(ranks))):
        return {}
    world = _world(records)
    size = max((max(each) + 1 for each in ranks.values() if each), default=0)
    if not size or world != size * len(ranks):
        return {}
    return {node: number * size for node, number in numbers.items()}


def _world(records: Sequence[SourceRecord]) -> int | None:
    told = (each.value for record in records for each in record.observations if each.key == "run.world_size")
    return next((value for value in told if isinstance(value, int)), None)


def numbered_ranks(records: Sequence[SourceRecord]) -> dict[int, int]:
    """Return the ranks of logs that name none, from the numbers in their names, by the source's index.

    Numbers count where as many logs as the job has ranks are numbered from 0 on. Else a number counts
    (`train-worker-2`) where two other logs of the same name that speak of one rank each differ from it by the same
    amount.
    """
    parts: dict[str, list[tuple[int, int]]] = {}
    for index, record in enumerate(records):
        found = _LAST_NUMBER.fullmatch(record.path)
        if found and record.kind is Kind.LOG and record.rank is None:
            parts.setdefault(f"{found[1]}#{found[3]}", []).append((index, int(found[2])))
    ranks: dict[int, int] = {}
    world = _world(records)
    for files in parts.values():
        if sorted(number for _, number in files) == list(range(world or 0)) and all(
            records[index].ranks in ([], [number]) for index, number in files
        ):
            ranks |= dict(files)
            continue
        alone = [(records[index].ranks[0], number) for index, number in files if len(records[index].ranks) == 1]
        away = {rank - number for rank, number in alone}
        if len(away) != 1 or len(alone) < _WITNESSES or len({rank for rank, _ in alone}) != len(alone):
            continue
        shift = away.pop()
        ranks |= {
            index: number + shift for index, number in files if len(records[index].ranks) <= 1 and number + shift >= 0
        }
    return ranks


def spread_tasks(records: Sequence[SourceRecord]) -> dict[int, tuple[str, int]]:
    """Return node and rank of logs named after host and task (srun's `%N_%t`), by the source's index.

    Names count where the tasks of two or more hosts are numbered on from one to the next without a gap, and each host
    has more than one: a single task on each host is a launcher.
    """
    folders: dict[tuple[str, str], dict[int, tuple[str, int]]] = {}
    for index, record in enumerate(records):
        found = _HOST_AND_TASK.fullmatch(record.path) if record.kind is Kind.LOG and record.rank is None else None
        if found and record.ranks in ([], [int(found[3])]) and record.node in (None, found[2]):
            folders.setdefault((found[1], found[4]), {})[index] = (found[2], int(found[3]))
    spread: dict[int, tuple[str, int]] = {}
    for files in folders.values():
        told = sorted((task, host) for host, task in files.values())
        hosts = Counter(host for _, host in told)
        runs = 1 + sum(a[1] != b[1] for a, b in pairwise(told))
        numbered = [task for task, _ in told] == list(range(len(told)))
        if numbered and len(hosts) == runs > 1 and min(hosts.values()) > 1:
            spread |= files
    return spread
