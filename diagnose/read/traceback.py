"""Takes the printed Python exceptions out of a log, each rank's for itself, however they interleave."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnose.classes import replace
from diagnose.lazy import Lazy
from diagnose.read import exceptions as words
from diagnose.read.model import Line, Traceback
from diagnose.read.text import Text
from diagnose.read.unit import Unit, Verdict

_PATIENCE_FRAMES = 2000  # lines of others that may stand inside a traceback
_PATIENCE_MESSAGE = 200  # the same behind its `Type: message` line
_MAX_HEADS = 1000  # of one speaker, without a pause between them
_MAX_UNITS = 4000  # tracebacks inside other ones count up to here
_MAX_OWED = 64
_LOGGED = Lazy(
    r"(?:^|[\s\[|:-])(?:ERROR|WARNING|WARN|EXCEPTION)(?:$|[\s\]|:])"
    r"|^\[?[WEF]\d{3,4} \d\d:\d\d:|^\[NeMo [WE] "
)
# The feeder of a queue is a thread whose pipe is closed under it when a program ends.
# What a logging handler raises, Python prints and goes on.
_IGNORED = Lazy(r"Exception (?:ignored (?:in|on|while)\b|in thread QueueFeederThread)|--- Logging error ---")
_TABLE_RANK = Lazy(r"\s*rank\s*: (\d+) \(local_rank: (\d+)\)")
_TABLE_HOST = Lazy(r"\s*host\s*: (\S+)")


class _Speaker:
    """What is being read of one lane."""

    __slots__ = ("depth", "groups", "last", "owed", "pending", "unit", "waited")

    def __init__(self, line: Line) -> None:
        self.unit: Unit | None = None
        self.pending: tuple[str, Unit] | None = None  # how the next exception follows which one
        self.owed: list[Unit] = []  # heads whose frames another rank's head cut off
        self.groups: list[Unit] = []
        self.last = line.number
        self.waited = 0
        self.depth = 0

    def patience(self) -> int:
        return _PATIENCE_MESSAGE if self.unit is None or self.unit.final else _PATIENCE_FRAMES


class _Reader:
    def __init__(self, text: Text, heads: Sequence[Line]) -> None:
        self.text = text
        self.wanted = {head.start for head in heads}
        self.units: list[Unit] = []
        self.speakers: dict[str, _Speaker] = {}
        self.seen = -1  # offset of the last line that was looked at
        self.lane = ""  # its lane
        self.checked = 0

    def feed(self, line: Line) -> None:
        self.seen = line.start
        lane = line.lane
        if "\n" in line.body:
            self._packed(line)
            return
        if lane not in self.speakers and not line.body.strip() and self.lane in self.speakers:
            lane = self.lane
        self.lane = lane
        head = words.HEAD.match(line.body) if words.HEAD_WORDS in line.body else None
        speaker = self.speakers.get(lane)
        if speaker is None:
            if head is not None and line.start in self.wanted:
                self.speakers[lane] = speaker = _Speaker(line)
                self._look_back(speaker, line)
                if head["kind"] == "Original " and self._carrier(speaker, line, head):
                    self._head(speaker, lane, line, head)
                else:
                    self._open(speaker, line, head)
        elif head is not None:
            speaker.last = line.number
            self._head(speaker, lane, line, head)
        else:
            self._line(speaker, lane, line)
        if line.number - self.checked >= 64:
            self._drop_silent(line.number)

    def _packed(self, line: Line) -> None:
        """Read the exceptions that a structured entry carries: all their lines are one line of the log."""
        lane, known = line.lane, len(self.units)
        if lane in self.speakers:
            self._close(lane)
        for body in line.body.split("\n") if line.start in self.wanted else ():
            part = replace(line, body=body, end=line.start + len(body))
            head = words.HEAD.match(body) if words.HEAD_WORDS in body else None
            speaker = self.speakers.get(lane)
            if head is not None:
                speaker = speaker or self.speakers.setdefault(lane, _Speaker(line))
                if speaker.unit is not None:
                    self._finish(speaker.unit)
                self._open(speaker, part, head)
            elif speaker is not None:
                self._line(speaker, lane, part)
        if lane in self.speakers:
            self._close(lane)
        for unit in self.units[known:]:
            unit.logged = True

    def _drop_silent(self, number: int) -> None:
        self.checked = number
        for lane, speaker in list(self.speakers.items()):
            if number - speaker.last > speaker.patience():
                self._close(lane)

    def _open(self, speaker: _Speaker, line: Line, head: re.Match[str]) -> Unit:
        before = head["before"] or ""
        unit = Unit(
            line,
            before=before,
            notebook=(head["notebook"] or "").strip(),
            group=bool(head["kind"]) and head["kind"].startswith("+"),
            rich="─" in before,
        )
        if speaker.pending is not None:
            unit.chain, earlier = speaker.pending
            earlier.caused = unit
            speaker.pending = None
        self._circumstances(unit, line, before)
        if unit.margin >= 0:
            if head["kind"] and head["kind"].startswith("+"):
                speaker.groups.append(unit)
            elif speaker.groups and unit.chain:
                unit.caused = speaker.groups[-1]
            elif speaker.groups:
                self._nest(unit, speaker.groups[-1])
        self.units.append(unit)
        speaker.unit = unit
        if (head["after"] or "").startswith("\\n"):  # else the rest of a progress bar that it was written over
            self._escaped(speaker, unit, line)
        return unit

    def _nest(self, inner: Unit, outer: Unit) -> None:
        inner.chain, inner.caused, inner.nested = "cause", outer, True
        inner.ignored, inner.logged = outer.ignored, outer.logged

    def _circumstances(self, unit: Unit, line: Line, before: str) -> None:
        if before.rstrip(" ").endswith("traceback :"):
            self._table(unit, line)
            return
        if before.strip(" |│+╭─"):
            unit.logged = _LOGGED.search(before) is not None
            return
        for earlier in self.text.before(line, 6):
            if earlier.lane != line.lane:
                if earlier.body.strip():
                    continue
            elif earlier.body.strip():
                unit.ignored = _IGNORED.match(earlier.body.lstrip()) is not None
                # torchrun's agent logs a worker's exit just before its own exception ends it.
                agent = "torch/distributed/elastic" in earlier.body or "failed (exitcode" in earlier.body
                unit.logged = not agent and _LOGGED.search(earlier.body[:160]) is not None
                return

    def _table(self, unit: Unit, line: Line) -> None:
        """torchrun's summary names rank and host of the traceback that it copies."""
        for earlier in self.text.before(line, 8):
            if match := _TABLE_RANK.match(earlier.body):
                unit.rank, unit.local_rank = int(match[1]), int(match[2])
            elif match := _TABLE_HOST.match(earlier.body):
                unit.node = match[1]
                return

    def _escaped(self, speaker: _Speaker, unit: Unit, line: Line) -> None:
        """A traceback inside a JSON text: all of it on one line, its newlines written as a backslash and an n."""
        whole = self.text.whole(line)
        inner = whole[whole.find(words.HEAD_WORDS) :]
        inner = re.split(r'(?<!\\)"', inner, maxsplit=1)[0].replace('\\"', '"')
        for part in inner.split("\\n")[1:]:
            if unit.feed(line, part) in (Verdict.OVER, Verdict.CAUSE, Verdict.CONTEXT):
                break
        self._finish(unit)
        speaker.unit = None

    def _head(self, speaker: _Speaker, lane: str, line: Line, head: re.Match[str]) -> None:
        unit = speaker.unit
        speaker.depth += 1
        if speaker.depth > _MAX_HEADS:
            self._close(lane)
            return
        if unit is None or speaker.pending is not None:
            if speaker.pending is not None or line.start in self.wanted or speaker.groups:
                self._open(speaker, line, head)
            else:
                self._close(lane)
            return
        outer = _outermost(unit)
        inside = unit.final is not None and (head["kind"] == "Original " or head["rank"] is not None)
        inside = inside and len(self.units) < _MAX_UNITS
        self._finish(unit)
        if inside:
            inner = self._open(speaker, line, head)
            self._nest(inner, outer)
            if head["rank"] is not None:
                inner.rank, inner.local_rank, inner.node = int(head["rank"]), None, None
            return
        if unit.final is None and not lane and len(speaker.owed) < _MAX_OWED:
            speaker.owed.append(unit)
        if line.start in self.wanted or speaker.groups:
            self._open(speaker, line, head)
        else:
            self._close(lane)

    def _line(self, speaker: _Speaker, lane: str, line: Line) -> None:
        unit = speaker.unit
        if unit is None or speaker.pending is not None:
            self._between(speaker, lane, line)
            return
        if unit.final is not None and speaker.owed and (found := words.exception_of(line.body.strip(), sure=True)):
            self._finish(unit)
            unit.complete = False
            speaker.unit = speaker.owed.pop()
            speaker.unit.start_message(line, *found)
            speaker.unit.complete = False
            return
        verdict = unit.feed(line, line.body)
        if verdict in (Verdict.TAKEN, Verdict.SKIPPED):
            if verdict is Verdict.TAKEN:
                speaker.last = line.number
        elif verdict is Verdict.OVER:
            self._close(lane)
        elif verdict is Verdict.REMOTE and unit.final is not None:
            self._finish(unit)
            inner = Unit(unit.final)
            self._nest(inner, unit)
            self.units.append(inner)
            speaker.unit = inner
            inner.feed(line, line.body)
        else:
            speaker.last = line.number
            self._finish(unit)
            if verdict is Verdict.MEMBER:
                depth = len(line.body) - len(line.body.lstrip())
                while len(speaker.groups) > 1 and speaker.groups[-1].margin > depth:
                    speaker.groups.pop()
                speaker.unit = None
            else:
                speaker.pending = (verdict.value, unit)
            speaker.waited = 0

    def _between(self, speaker: _Speaker, lane: str, line: Line) -> None:
        """Behind "The above exception was …": a head comes, or an exception that was never raised and has none."""
        said = line.body.strip(" |│")
        speaker.waited += 1
        if said and speaker.pending is not None and (found := words.exception_of(said, sure=True)):
            unit = Unit(line)
            unit.chain, earlier = speaker.pending
            earlier.caused = unit
            speaker.pending = None
            unit.start_message(line, *found)
            self.units.append(unit)
            speaker.unit = unit
            speaker.last = line.number
        elif speaker.waited > 6 or (said and words.is_other(said)):
            self._close(lane)

    def _look_back(self, speaker: _Speaker, head: Line) -> None:
        """Read exceptions without a head of their own that stand before the first head and led to it."""
        block: list[Line] = []
        joined = False
        for line in self.text.before(head, 200):
            said = line.body.strip()
            if said and (line.lane != head.lane or words.is_other(said) or words.HEAD_WORDS in said):
                break
            block.append(line)
            if len(block) <= 4:
                joined = joined or said.startswith((words.CAUSE, words.CONTEXT))
            elif not joined:
                return
        block.reverse()
        begin = next((at for at, line in enumerate(block) if words.exception_of(line.body.strip(), sure=True)), None)
        if begin is None or not joined:
            return
        unit = Unit(block[begin])
        unit.start_message(block[begin], *(words.exception_of(block[begin].body.strip(), sure=True) or ("", "")))
        self.units.append(unit)
        speaker.unit = unit
        for line in block[begin + 1 :]:
            self._line(speaker, head.lane, line)

    def _carrier(self, speaker: _Speaker, line: Line, head: re.Match[str]) -> bool:
        """Read the exception whose message an "Original Traceback" is, where its own head was cut off."""
        for earlier in self.text.before(line, 1):
            said = earlier.body.removeprefix(head["before"]).strip()
            if earlier.lane == line.lane and (found := words.headless(said)):
                speaker.unit = Unit(earlier, before=head["before"])
                speaker.unit.start_message(earlier, *found)
                self.units.append(speaker.unit)
                return True
        return False

    def _finish(self, unit: Unit) -> None:
        if unit.final is None:
            unit.complete = False
            unit.name_by_head()

    def _close(self, lane: str) -> None:
        speaker = self.speakers.pop(lane)
        if speaker.unit is not None:
            self._finish(speaker.unit)

    def finish(self) -> list[Traceback]:
        """Close what is open and give the tracebacks in the order of their heads."""
        open_units = {id(speaker.unit) for speaker in self.speakers.values()}
        for lane in list(self.speakers):
            self._close(lane)
        kept = [unit for unit in self.units if unit.final or unit.frames or id(unit) in open_units]
        kept.sort(key=lambda unit: unit.head.start)
        places = {id(unit): at for at, unit in enumerate(kept)}
        return [as_traceback(self.text, unit, places) for unit in kept]


def _outermost(unit: Unit) -> Unit:
    while unit.nested and unit.caused is not None:
        unit = unit.caused
    return unit


def as_traceback(text: Text, unit: Unit, places: dict[int, int]) -> Traceback:
    """Make what was read of one exception a value; `places` holds the positions of those it can point at."""
    head, final = unit.head, unit.final or unit.head
    return Traceback(
        head=text.evidence(head),
        final=text.evidence(final),
        type=unit.type,
        message="\n".join(unit.message).rstrip(),
        frames=tuple(unit.frames),
        lines=(head.number, max(unit.last, unit.message_last)),
        message_lines=(final.number, unit.message_last) if unit.final else (0, 0),
        start=head.start,
        lane=head.lane,
        rank=unit.rank,
        local_rank=unit.local_rank,
        node=unit.node,
        time=final.time if head.time is None else head.time,
        caused=places.get(id(unit.caused)) if unit.caused is not None else None,
        chain=unit.chain,
        ignored=unit.ignored,
        logged=unit.logged,
        complete=unit.complete,
    )


def read_tracebacks(text: Text, heads: Sequence[Line]) -> list[Traceback]:
    """Read the exceptions that begin at `heads`, and those chained to or nested in them, in the order of the log.

    `heads` are the lines that hold "Traceback (most recent call last)". Between two of them the log is not looked
    at, except where one is still open; a traceback ends after 2000 lines or 512 KB.
    """
    reader = _Reader(text, heads)
    for head in sorted(heads, key=lambda line: line.start):
        if head.start <= reader.seen:
            continue
        reader.feed(head)
        if not reader.speakers:
            continue
        for line in text.after(head, 1 << 40):
            reader.feed(line)
            if not reader.speakers:
                break
    return reader.finish()
