"""Collects the records of many sources, or of large ones, with several processes, in the order of the sources."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from diagnose.classes import dataclass, field
from diagnose.expressions import EXPRESSIONS
from diagnose.facts.collect import LARGE, collect
from diagnose.facts.model import SourceRecord
from diagnose.facts.numbers import Metrics
from diagnose.facts.probe import Probe
from diagnose.read import Kind, Source, open_stream
from diagnose.scan import ALL_UP_TO, Stretch, parts_of, scan_stretch
from diagnose.typed import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from diagnose.ahead import Ahead

WORTH = 32_000_000  # bytes in all, below which starting processes costs more than it saves
MOST_JOBS = 8
_BATCH = 8_000_000  # bytes of small files that one task reads
_BATCH_FILES = 64
_METERED, _LEAST_METERED = 256_000_000, 512_000  # bytes whose numbers are read, of all sources, and of one at least
_CLOSELY = 32  # sources that are read with all their facts; of the others, those that are printed again count little
_MANY, _CLOSELY_OF_MANY = 256, 8
_BRIEFLY = 64_000  # bytes of those others whose numbers are read whole; of larger ones half as much, the end
_SETTINGS = ("config.", "env.", "version.")  # keys of facts; how often each was seen says nothing
_DIED = "the process that read it died (was memory short?); nothing of it is known"

Progress = Callable[[int, int], None]  # bytes that were read, bytes in all


def default_jobs() -> int:
    """Return how many processes are used where nobody says it: one a processor, at most eight."""
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:
        processors = os.cpu_count() or 1
    return min(processors, MOST_JOBS)


def collect_many(
    sources: Sequence[Source],
    probe: Probe,
    *,
    jobs: int | None = None,
    stdin: BinaryIO | None = None,
    metrics: Metrics = "sampled",
    progress: Progress | None = None,
    ahead: Ahead | None = None,
) -> list[SourceRecord]:
    """Collect all records; the result is the same with any number of processes.

    Arguments: `jobs`, the number of processes, None chooses; `progress` is told now and then how much was read; `ahead`
    may have read the numbers of the only source meanwhile.
    """
    sizes = [_size(source) for source in sources]
    jobs = default_jobs() if jobs is None else jobs
    if jobs < 2 or sum(sizes) < WORTH or not _can_fork():
        return _one_by_one(sources, sizes, probe, stdin, metrics, progress, ahead if len(sources) == 1 else None)
    plan = _planned(sources, sizes, probe, jobs, metrics)
    if len(plan.tasks) < 2:
        return _one_by_one(sources, sizes, probe, stdin, metrics, progress)
    return _together(sources, sizes, plan, probe, jobs, stdin, metrics, progress)


def _can_fork() -> bool:
    from diagnose.facts.workers import can_fork

    return can_fork()


def _most(sources: Sequence[Source]) -> int:
    return min(ALL_UP_TO, max(_LEAST_METERED, _METERED // max(1, len(sources))))


def _closely(count: int) -> int:
    return _CLOSELY if count <= _MANY else _CLOSELY_OF_MANY


def _size(source: Source) -> int:
    if source.content is not None:
        return len(source.content)
    try:
        return os.stat(source.path).st_size if source.path != "-" else 0
    except OSError:
        return 0


def _one_by_one(
    sources: Sequence[Source],
    sizes: Sequence[int],
    probe: Probe,
    stdin: BinaryIO | None,
    metrics: Metrics,
    progress: Progress | None,
    ahead: Ahead | None = None,
) -> list[SourceRecord]:
    records: list[SourceRecord] = []
    told = _Told()
    read = 0
    for source, size in zip(sources, sizes, strict=True):
        brief = len(records) >= _closely(len(sources))
        most = _BRIEFLY if brief else _most(sources)
        record = collect(source, probe, stdin=stdin, metrics=metrics, most=most, brief=brief, ahead=ahead)
        records.append(told.take(record, brief=brief))
        read += size
        if progress is not None:
            progress(read, sum(sizes))
    return records


@dataclass(slots=True)
class _Plan:
    """Who reads what."""

    tasks: list[Callable[[], object]] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)  # bytes of each task
    parts: dict[int, list[int]] = field(default_factory=dict)  # index of a large source -> its tasks, in order
    files: dict[int, tuple[int, int]] = field(default_factory=dict)  # index of a source -> its task, and place in it

    def add(self, task: Callable[[], object], weight: int) -> int:
        self.tasks.append(task)
        self.weights.append(weight)
        return len(self.tasks) - 1


def _planned(sources: Sequence[Source], sizes: Sequence[int], probe: Probe, jobs: int, metrics: Metrics) -> _Plan:
    plan = _Plan()
    share = sum(sizes) // (2 * jobs)
    rest = []
    # The largest first, so that no process is left alone with one at the end.
    for index in sorted(range(len(sources)), key=lambda each: (-sizes[each], each)):
        source, size = sources[index], sizes[index]
        if size > max(LARGE, share) and source.kind is not Kind.FLIGHT_RECORDER and (borders := _borders(source)):
            tasks = [plan.add(partial(_part, source, probe, *each), each[1] - each[0]) for each in borders]
            plan.parts[index] = tasks
        elif source.path != "-" or source.content is not None:
            rest.append(index)
    batch: list[int] = []
    for index in rest:
        batch.append(index)
        weight = sum(sizes[each] for each in batch)
        if weight >= _BATCH or len(batch) >= _BATCH_FILES or index == rest[-1]:
            chosen = [(sources[each], each >= _closely(len(sources))) for each in batch]
            task = plan.add(partial(_batch, chosen, probe, metrics, _most(sources)), weight)
            plan.files.update({each: (task, place) for place, each in enumerate(batch)})
            batch = []
    return plan


def _borders(source: Source) -> list[tuple[int, int]]:
    with open_stream(source) as stream:
        return parts_of(stream) if stream.seekable and stream.size > LARGE else []


def _part(source: Source, probe: Probe, start: int, end: int) -> Stretch:
    with open_stream(source) as stream:
        return scan_stretch(stream, probe.database, start, end)


def _batch(sources: Sequence[tuple[Source, bool]], probe: Probe, metrics: Metrics, most: int) -> list[SourceRecord]:
    return [
        collect(source, probe, metrics=metrics, most=_BRIEFLY if brief else most, brief=brief)
        for source, brief in sources
    ]


def _together(
    sources: Sequence[Source],
    sizes: Sequence[int],
    plan: _Plan,
    probe: Probe,
    jobs: int,
    stdin: BinaryIO | None,
    metrics: Metrics,
    progress: Progress | None,
) -> list[SourceRecord]:
    read = [0]

    def done(task: int) -> None:
        read[0] += plan.weights[task]
        if progress is not None:
            progress(read[0], sum(sizes))

    from diagnose.facts.workers import Lost, Workers

    EXPRESSIONS.prepare()

    records: list[SourceRecord] = []
    told = _Told()
    batches: dict[int, object] = {}
    with Workers(plan.tasks, jobs, done) as workers:

        def stretches(tasks: Sequence[int]) -> list[Stretch]:
            found = [workers.result(task) for task in tasks]
            return [each if isinstance(each, Stretch) else Stretch(problems=[_DIED]) for each in found]

        for index, source in enumerate(sources):
            if index in plan.parts:
                scanned = partial(stretches, plan.parts[index])
                records.append(collect(source, probe, metrics=metrics, scanned=scanned))
            elif index in plan.files:
                task, place = plan.files[index]
                if task not in batches:
                    batches[task] = workers.result(task)
                batch = batches[task]
                record = _dead(source) if isinstance(batch, Lost) else batch[place]  # type: ignore[index]
                records.append(told.take(record, brief=index >= _closely(len(sources))))
            else:
                records.append(collect(source, probe, stdin=stdin, metrics=metrics))
    return records


class _Told:
    """What many sources say alike: thousands of ranks that print one configuration are remembered with it once."""

    def __init__(self) -> None:
        self._last: dict[str, list[tuple[str, str]]] = {}  # key -> origins and values, of the last source that had it

    def take(self, record: SourceRecord, *, brief: bool) -> SourceRecord:
        """Note a record's settings; of one that was read briefly, drop those that the source before it had alike.

        Alike with the one before, not with any: of what sources say differently, the last word counts.
        """
        said: dict[str, list[tuple[str, str]]] = {}
        for each in record.observations:
            if each.key.startswith(_SETTINGS):
                said.setdefault(each.key, []).append((each.origin, repr(each.value)))
        if brief:
            record.observations = [
                each
                for each in record.observations
                if each.key not in said or self._last.get(each.key) != said[each.key]
            ]
        self._last.update(said)
        return record


def _dead(source: Source) -> SourceRecord:
    return SourceRecord(source.path, source.kind, rank=source.rank, node=source.node, problems=[_DIED])
