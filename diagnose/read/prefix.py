"""Takes launchers' and collectors' prefixes off a line: who said it, and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from diagnose.classes import dataclass
from diagnose.lazy import Lazy
from diagnose.read import structured
from diagnose.read import time as stamps
from diagnose.read.clean import clean
from diagnose.read.hosts import is_host
from diagnose.read.model import Clock


@dataclass(slots=True)
class Prefix:
    """What stands before a line's own words."""

    body_start: int = 0  # index in the text where the body begins
    body: str = ""  # the line's own words; for container JSON they are no part of the text as it stands
    lane: str = ""  # the labels that identify the speaker, joined by spaces
    rank: int | None = None  # global rank
    local_rank: int | None = None
    task: int | None = None  # `srun -l` label: the global rank, or the node's number with one task a node
    node: str | None = None
    stream: str | None = None
    time: float | None = None  # seconds; see clock
    clock: Clock = Clock.NONE
    pid: int | None = None
    unwrapped: bool = False  # the body was written out of a structured entry; it may have several lines


# `[default7]:` is a role and a local rank (torchrun --tee), `[rank19]:` a global rank (PyTorch itself).
_ROLE = Lazy(r"\[([A-Za-z][A-Za-z_-]*)(\d{1,6})\]:", re.ASCII)
_MPI = Lazy(r"\[(?:[\w.@-]{1,80}@)?\d+,(\d{1,7})\]<(stdout|stderr|stddiag)>:? ?", re.ASCII)  # Open MPI --tag-output
_POD = Lazy(r"\[pod/([\w.-]{1,253})/([\w.-]{1,63})\] ?", re.ASCII)  # kubectl logs --prefix
_LIGHTNING = Lazy(r"\[rank: (\d{1,6})\] ?", re.ASCII)
_DMESG = Lazy(r"\[ {0,8}(\d{1,10}\.\d{3,9})\](?:\[ *[TC]\d+\])? ?", re.ASCII)
# SkyPilot writes commas between, and its rank is that of the node.
_RAY = Lazy(
    r"\((?:([\w.<>:,-]{1,120}) )?(?:rank=(\d{1,7}) |rank=\d{1,7}, )?"
    r"pid=(\w{1,20})(?:, ip=([\w.:-]{1,64}))?(?:, [\w=.:-]{1,80})?\)"
    r"(?: \[repeated \d+x across cluster\])? ?",
    re.ASCII,
)
_TASK = Lazy(r"(\d{1,6}):(?: |$)", re.ASCII)
_ISO = Lazy(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?: |$)", re.ASCII)
# A stamp before a speaker's label is a collector's (`ts`, `logger`), not the program's.
_STAMPED_LABEL = Lazy(
    r"\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]? "
    r"(?=\d{1,6}: |\[(?:rank|default|trainer)\d{1,6}\]:)",
    re.ASCII,
)
# Determined writes its stamp, the container and the rank before each line of a trial.
_TRIAL = Lazy(
    r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z?\] {1,12}(?:([0-9a-f]{6,64}) )?(?:\[rank=(\d{1,7})\] )?\|\| ?",
    re.ASCII,
)
_CRI = Lazy(r"(stdout|stderr) [FP](?: |$)", re.ASCII)
# Tags of programs that speak for the job are taken off, those of daemons belong to the words.
_SYSLOG_TAG = Lazy(
    r" ?([\w.-]{1,253}) (kernel|(?:python[\d.]*|torchrun|bash|sh|srun|docker|podman|containerd)\[\d+\]): ?", re.ASCII
)
_SYSLOG_HOST = Lazy(r" ?([\w.-]{1,253}) (?=[\w./@-]{1,80}(?:\[\d+\])?: )", re.ASCII)
_REPLICA = Lazy(r"([A-Za-z][\w.-]{0,60})/(\d{1,5}) ", re.ASCII, needs=("/",))  # torchx, NeMo-Run
_NOT_REPLICA = frozenset(("step", "epoch", "iter", "iteration", "batch", "val", "eval", "test", "loss", "it", "n"))
_NCCL = Lazy(r"([\w.-]{1,253}):(\d{1,8}):(\d{1,8}) \[(\d{1,4})\] ", re.ASCII)
_RANK = Lazy(r"\[(?:PG (?:ID )?(\d+|\w+)[^\]]{0,120} )?[Rr]ank:? ?(\d{1,7})\]", re.ASCII)
_RANK_COLON = Lazy(r"[Rr]ank ?(\d{1,7}): ", re.ASCII)
_GLUED = Lazy(
    r"\[(?:rank|default|trainer)\d{1,6}\]:|\[[IWEF]\d{3,4} \d\d:\d\d:\d\d\.\d+ |\(\w+ pid=\d+(?:, ip=[\w.:]+)?\) ",
    re.ASCII,
)
# Words that announce a stamp inside a program's own line.
_ANNOUNCES = ("datetime: ", " AT ", "time      : ", "time : ")


class _Peeler:
    __slots__ = ("labels", "near", "node_only", "prefix", "text")

    def __init__(self, text: str, near: float | None) -> None:
        self.text = text
        self.near = near
        self.prefix = Prefix()
        self.labels: list[str] = []
        self.node_only = True  # no label yet tells one process of a node from another

    def bracket(self, at: int) -> int:
        text, prefix = self.text, self.prefix
        if match := _ROLE.match(text, at):
            self.node_only = False
            end = match.end()
            self.labels.append(match[0])
            if match[1] == "rank":
                prefix.rank = int(match[2])
                return end + 1 if text[end : end + 1] == " " else end
            prefix.local_rank = int(match[2])
            return end
        third = text[at + 1 : at + 2]
        if (third.isdigit() or third in "p") and (match := _MPI.match(text, at)):
            self.node_only = False
            prefix.rank = int(match[1])
            prefix.stream = "stdout" if match[2] == "stdout" else "stderr"
            self.labels.append(match[0].partition("<")[0])
            return match.end()
        if third == "p" and (match := _POD.match(text, at)):
            prefix.node = match[1]
            self.labels.append(match[0].rstrip())
            return match.end()
        if third == "r" and (match := _LIGHTNING.match(text, at)):
            prefix.rank = int(match[1])
            return match.end()
        if third.isdigit() and (end := self.stamped_label(at)) != at:
            return end
        if third.isdigit() and (end := self.trial(at)) != at:
            return end
        if (third.isdigit() or third == " ") and (match := _DMESG.match(text, at)):
            if prefix.time is None:
                prefix.time, prefix.clock = float(match[1]), Clock.MONOTONIC
            return match.end()
        if (
            third.isalpha()
            and (match := stamps.WEEKDAY.match(text, at + 1))
            and text[match.end() : match.end() + 1] == "]"
        ):
            self.stamp(stamps.weekday(match))
            end = match.end() + 1
            return end + 1 if text[end : end + 1] == " " else end
        return at

    def ray(self, at: int) -> int:
        match = _RAY.match(self.text, at)
        if match is None:
            return at
        prefix = self.prefix
        self.node_only = False
        if match[2]:
            prefix.rank = int(match[2])
        if match[3].isdigit():
            prefix.pid = int(match[3])
        prefix.node = match[4] or prefix.node
        self.labels.append(match[0].partition(")")[0] + ")")
        return match.end()

    def number(self, at: int) -> int:
        text, prefix = self.text, self.prefix
        if text[at + 4 : at + 5] == "-" and (match := _ISO.match(text, at)):
            full = stamps.DATED.match(text, at)
            self.stamp(stamps.dated(full) if full else None)
            at = match.end()
            if cri := _CRI.match(text, at):
                prefix.stream = cri[1]
                return cri.end()
            return self.logger(at)
        if (end := self.stamped_label(at)) != at:
            return end
        if self.node_only and prefix.task is None and (match := _TASK.match(text, at)):
            self.node_only = False
            prefix.task = int(match[1])
            self.labels.append(match[1] + ":")
            return match.end()
        return self.host(at) if text[at : at + 16].count(".") >= 3 else at

    def stamped_label(self, at: int) -> int:
        match = _STAMPED_LABEL.match(self.text, at)
        if match is None:
            return at
        full = stamps.DATED.match(self.text, at + (self.text[at] == "["))
        self.stamp(stamps.dated(full) if full else None)
        return match.end()

    def trial(self, at: int) -> int:
        match = _TRIAL.match(self.text, at)
        if match is None:
            return at
        full = stamps.DATED.match(self.text, at + 1)
        self.stamp(stamps.dated(full) if full else None)
        if match[2]:
            self.node_only = False
            self.prefix.rank = int(match[2])
        if label := " ".join(part for part in (match[1], match[2] and f"[rank={match[2]}]") if part):
            self.labels.append(label)
        return match.end()

    def word(self, at: int) -> int:
        text = self.text
        if "=" in text[at : at + 10] and (after := self.container(at)) != at:
            return after
        colon = text.find(":", at, at + 72)
        space = text.find(" ", at, at + 72)
        if colon > 0 and space in (colon + 1, -1):
            return self.host(at)
        if 0 < colon < space and text[colon + 1 : colon + 2].isdigit():
            if (match := _NCCL.match(text, at)) and "NCCL" in text[match.end() : match.end() + 200]:
                self.prefix.node = self.prefix.node or match[1]
                self.prefix.pid = int(match[2])
                self.prefix.local_rank = int(match[4])
            return at
        if space == at + 3 and text[at:space] in stamps.MONTHS and (match := stamps.SYSLOG.match(text, at)):
            end = self.logger(match.end())
            if end != match.end():
                self.stamp(stamps.syslog(match, self.near))
                return end
            return at
        if space > 0 and (match := _REPLICA.match(text, at)) and match[1].lower() not in _NOT_REPLICA:
            self.labels.append(match[0].rstrip())
            return match.end()
        return at

    def host(self, at: int) -> int:
        text = self.text
        colon = text.find(":", at, at + 72)
        if colon < 0 or text[colon + 1 : colon + 2] not in ("", " ") or not is_host(text[at:colon]):
            return at
        self.prefix.node = text[at:colon]
        self.labels.append(text[at : colon + 1])
        return min(colon + 2, len(text))

    def logger(self, at: int) -> int:
        """Host and tag as syslog and the journal write them behind their stamp."""
        if match := _SYSLOG_TAG.match(self.text, at):
            self.prefix.node = match[1]
            self.labels.append(f"{match[1]} {match[2]}:")
            return match.end()
        if match := _SYSLOG_HOST.match(self.text, at):
            name = match[1]
            # A logger's `LEVEL module: text` looks the same, but a level is no host.
            if name != "-" and not name.isupper() and (is_host(name) or self.text[at : at + 1] == " "):
                self.prefix.node = name
                self.labels.append(name)
                return match.end()
        return at

    def container(self, at: int) -> int:
        entry = structured.unwrap(self.text[at:]) if not self.prefix.unwrapped or self.text[at] == "{" else None
        if entry is None:
            return at
        prefix = self.prefix
        prefix.stream = entry.stream or prefix.stream
        prefix.rank = entry.rank if prefix.rank is None else prefix.rank
        prefix.local_rank = entry.local_rank if prefix.local_rank is None else prefix.local_rank
        prefix.node = prefix.node or entry.node
        prefix.pid = entry.pid if prefix.pid is None else prefix.pid
        self.labels += [f"{name}={value}" for name, value in entry.speaker()]
        self.stamp(entry.stamp)
        self.text = clean(entry.words.encode("utf-8", "replace"))
        prefix.unwrapped = True
        return 0

    def stamp(self, found: stamps.Stamp | None) -> None:
        if found is not None and self.prefix.time is None:
            self.prefix.time, self.prefix.clock = found


_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_INDENTS = frozenset((" ", "\t", ""))
_HANDLERS: Mapping[str, Callable[[_Peeler, int], int]] = MappingProxyType(
    {"[": _Peeler.bracket, "(": _Peeler.ray, "{": _Peeler.container}
    | dict.fromkeys("0123456789", _Peeler.number)
    | dict.fromkeys(_LETTERS, _Peeler.word)
)
_STAMP_HEADS = frozenset(" [0123456789IWEFCDV")


def split(text: str, *, near: float | None = None) -> Prefix:
    """Find where a line's own words begin, and what the prefixes before them tell.

    `near` is a time when the log existed, in seconds since the epoch, for stamps without a year.
    """
    if _is_plain(text):
        return Prefix(body=text)
    peeler = _Peeler(text, near)
    prefix = peeler.prefix
    at = 0
    for _ in range(8):
        handler = _HANDLERS.get(peeler.text[at : at + 1])
        if handler is None:
            break
        before, words = at, peeler.text
        at = handler(peeler, at)
        if at == before and peeler.text is words:
            break
    text = peeler.text
    prefix.body_start = 0 if prefix.unwrapped else at
    prefix.body = text[at:] if at else text
    prefix.lane = " ".join(peeler.labels)
    if prefix.time is None:
        peeler.stamp(own_stamp(text, at, near))
    if prefix.rank is None:
        prefix.rank = _own_rank(text, at)
    if prefix.rank is None and prefix.local_rank is None:
        prefix.rank = prefix.task
    return prefix


def _is_plain(text: str) -> bool:
    """Can this line neither have a prefix nor name a time or a rank? True answers most lines cheaply."""
    first = text[:1]
    if first in _INDENTS:
        first = text[:5].lstrip()[:1]
        if first in _STAMP_HEADS:
            return first == ""
    elif first in _HANDLERS and (
        first not in _LETTERS or text.find(":", 0, 72) > 0 or text.find("/", 0, 64) > 0 or text[1:2].isdigit()
    ):
        return False
    return text.find("20", 0, 96) < 0 and text.find("ank", 0, 120) < 0


def own_stamp(text: str, at: int = 0, near: float | None = None) -> stamps.Stamp | None:
    """Read the stamp that the program itself put on its line, from `at` on."""
    found = text.find("20", at, at + 96)
    while found >= 0:
        if text[found + 4 : found + 5] == "-" and (match := stamps.DATED.match(text, found)):
            before = text[at:found]
            if (
                found - at < 3
                or before.endswith(_ANNOUNCES)
                or (before[0] == "[" and len(before) < 60)
                or not before.strip(" [")
            ):
                return stamps.dated(match)
        found = text.find("20", found + 1, at + 96)
    if text[at : at + 1] not in _STAMP_HEADS:
        return None
    start = at
    while start < at + 4 and text[start : start + 1] == " ":
        start += 1
    if match := stamps.GLOG.match(text, start):
        return stamps.glog(match, near)
    if match := stamps.AMERICAN.match(text, start):
        return stamps.american(match)
    if match := stamps.UNDATED.match(text, start):
        return stamps.undated(match)
    return None


def own_stamp_end(body: str) -> int:
    """Return where the words begin behind a date and time at a body's very beginning; 0 where there is none."""
    at = len(body) - len(body[:4].lstrip()) - len(body[4:])
    bracket = body[at : at + 1] == "["
    at += bracket
    if not body[at : at + 4].isdigit() or (match := stamps.DATED.match(body, at)) is None:
        return 0
    end = match.start() + len(match[0].rstrip())
    if bracket and body[end : end + 1] == "]":
        end += 1
    return end + 1 if body[end : end + 1] == " " else 0


def _own_rank(text: str, at: int) -> int | None:
    """A rank that the program itself names; a rank inside a process group only where the group is the default one."""
    if text.find("ank", at, at + 120) < 0:
        return None
    if match := _RANK_COLON.match(text, at):
        return int(match[1])
    match = _RANK.search(text, at, at + 240)
    if match is None or match[1] not in (None, "0", "default", "default_pg"):
        return None
    return int(match[2])


def find_glued(text: str) -> list[int]:
    """Find where a second speaker's prefix begins in mid-line, because two ranks wrote without a newline between."""
    start = split(text).body_start
    return [match.start() for match in _GLUED.finditer(text, start) if match.start() > start]
