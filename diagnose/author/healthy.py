"""What logs of healthy runs say about a pattern: how rare its literals are, and whether it fires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from diagnose.catalogue.model import Catalogue, Pattern, Wording
from diagnose.classes import dataclass
from diagnose.data import data_folder
from diagnose.facts.collect import collect, prepare
from diagnose.facts.model import Event
from diagnose.read import LineIndex, Source, find_sources, open_stream
from diagnose.reason import reason
from diagnose.scan import Anchor, Database, scan

COMMON = 3.0  # lines in a megabyte of healthy logs: more often, a literal makes the scan look too often
# One log in so many: words that one log is full of may be its own, and most of these are made of words of failures.
_SPREAD = 8
_FLOOD = 20.0  # lines in a megabyte that are too many wherever they stand


@dataclass(frozen=True, slots=True)
class Rarity:
    """How often literals stand in the logs of healthy runs."""

    lines: int
    logs: int  # logs with such a line
    total_logs: int
    size: int  # bytes of all logs

    @property
    def rate(self) -> float:
        """Lines in a megabyte."""
        return self.lines * 1e6 / self.size if self.size else 0.0

    @property
    def common(self) -> bool:
        """Whether that is often enough to cost time in every job."""
        return self.rate > _FLOOD or (self.rate > COMMON and self.logs * _SPREAD >= self.total_logs)


def healthy_sources() -> list[Source]:
    """List the packaged logs of healthy runs."""
    return find_sources([f"{data_folder('samples')}/healthy"])[0]


def rarity_of(literals: Sequence[str], *, nocase: bool = False) -> Rarity:
    """Count the lines of healthy logs on which one of the literals stands."""
    return rarities([Anchor("", tuple(text.encode() for text in literals), nocase=nocase, keep=1)])[""]


def rarities_of(wordings: Sequence[Wording]) -> dict[tuple[str, int], Rarity]:
    """Do the same for many alternatives at once; keys are pattern id and number of the alternative."""
    anchors = [
        Anchor(f"{each.pattern}#{each.number}", tuple(text.encode() for text in each.literals), each.nocase, keep=1)
        for each in wordings
        if not each.framed
    ]
    found = rarities(anchors)
    return {(each.pattern, each.number): found[f"{each.pattern}#{each.number}"] for each in wordings if not each.framed}


def rarities(anchors: Sequence[Anchor]) -> dict[str, Rarity]:
    """Count the lines of healthy logs that each anchor's literals stand on, by the anchor's key."""
    if not anchors:
        return {}
    sources = healthy_sources()
    lines = dict.fromkeys((anchor.key for anchor in anchors), 0)
    logs = dict(lines)
    size = 0
    database = Database(anchors)
    for source in sources:
        with open_stream(source) as stream:
            result = scan(stream, LineIndex(), database)
        size += result.size
        for key, count in result.counts.items():
            lines[key] += count
            logs[key] += 1
    return {key: Rarity(lines[key], logs[key], len(sources), size) for key in lines}


def recovered_in(source: Source) -> frozenset[str]:
    """List the patterns of which a healthy log's header (`#: recovered: ID, ID`) says that the run got over them."""
    names: set[str] = set()
    with open(source.path, encoding="utf-8", errors="replace") as file:
        for line in takewhile(lambda each: each.startswith("#: "), file):
            key, _, value = line[3:].partition(": ")
            names |= {each.strip() for each in value.split(",")} if key == "recovered" else set()
    return frozenset(names)


@dataclass(frozen=True, slots=True)
class Alarm:
    """A root pattern that matches a line of a healthy log."""

    event: Event
    decided: bool  # True: the log is even called failed because of it


def alarms(catalogue: Catalogue, patterns: Sequence[Pattern]) -> Iterator[Alarm]:
    """Run the healthy logs through the whole program, and yield what the given patterns do there, the worst first."""
    roots = {each.id for each in patterns if each.role == "root"}
    if not roots:
        return
    probe = prepare(catalogue)
    found: list[Alarm] = []
    for source in healthy_sources():
        record = collect(source, probe, metrics="off")
        shown = recovered_in(source)
        events = [event for event in record.events if event.pattern in roots]
        if not events:
            continue
        answer = reason([record], catalogue)
        blamed = {each.pattern for each in (answer.root_cause, *answer.alternatives) if each is not None}
        failed = answer.verdict not in ("no_failure", "degraded")
        first: dict[str, Event] = {}
        for event in events:
            first.setdefault(event.pattern, event)
        told = [Alarm(event, failed and name in blamed) for name, event in first.items()]
        found += [each for each in told if each.decided or each.event.pattern not in shown]
    yield from sorted(found, key=lambda each: not each.decided)
