"""Remembers where each speaker of a merged log was heard, so that a rank that fell silent can be named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from diagnose.facts.model import Held
from diagnose.facts.reader import TextView
from diagnose.lazy import LazyBytes
from diagnose.read.clean import clean
from diagnose.read.labels import LABEL_BEHIND_NEWLINE, LONGEST
from diagnose.read.model import Evidence
from diagnose.read.prefix import split
from diagnose.read.time import show

_DIGITS = LazyBytes(rb"\d+")
_FEWEST = 3  # speakers, to tell a file put together of their words from one where each spoke once
_RANK = b"\n[rank"
_PLAIN = 8000  # bytes of a line that is kept as it is
_MOST = 20_000  # speakers that are remembered; a job has no more ranks than this


Chunk = tuple[int, int]  # offset and size
_Words = tuple[int, bytes]  # a line's number and its bytes


class VoiceMeter:
    """A scan meter that keeps the first and the last chunk of each line label."""

    def __init__(self) -> None:
        # Labels with the newline before them. Where they stand in the chunk is looked up at the end, for the few that
        # matter: where many ranks talk, all of them are heard in every chunk.
        self._first: dict[bytes, Chunk] = {}
        self.last: dict[bytes, Chunk] = {}

    @property
    def eager(self) -> bool:
        """A sample is enough: who talks is heard in it, and the last words stand at the end."""
        return False

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Note the labels of one chunk of whole lines that starts at byte `offset`."""
        data = bytes(chunk)
        if b"]:" not in data and b": " not in data and b"]<std" not in data:
            return
        labels = set(LABEL_BEHIND_NEWLINE.findall(data))
        if head := LABEL_BEHIND_NEWLINE.match(b"\n" + data[:LONGEST]):
            labels.add(head.group())
        if len(self.last) + len(labels) > _MOST:
            labels &= self.last.keys()
        here = dict.fromkeys(labels, (offset, len(data)))
        self._first = {**here, **self._first}
        self.last.update(here)

    def held(self, text: TextView) -> Held:
        """Tell whether the words of three speakers or more stand one after another, as `srun` and `cat` leave them."""
        # Most often the chunks alone show that they do not.
        if _entangled([(chunk, self.last[label], label) for label, chunk in self._first.items()]):
            return "no"
        first, last = _places(self._first, text, last=False), _places(self.last, text, last=True)
        spans = [(first[label], last[label], label) for label in first.keys() & last.keys()]
        if _entangled(spans):
            return "no"
        numbers = [int(digits[0]) for _, _, label in sorted(spans) if (digits := _DIGITS.findall(label))]
        return "sorted" if numbers == sorted(numbers) else "apart"


class Voices(Mapping[int, Evidence]):
    """The last words of each rank; a line is taken apart when it is asked for: most never are."""

    def __init__(self, path: str, node: str | None, near: float | None, heard: dict[int, Evidence | _Words]) -> None:
        self._path = path
        self._node = node
        self._near = near
        self._heard = heard

    def __getitem__(self, rank: int) -> Evidence:
        """Return the line of a rank."""
        said = self._heard[rank]
        if isinstance(said, tuple):
            text = clean(said[1])
            found = split(text, near=self._near)
            when = show(found.time, found.clock)
            said = self._heard[rank] = Evidence(self._path, said[0], text, rank, found.node or self._node, when)
        return said

    def __iter__(self) -> Iterator[int]:
        """Yield the ranks in their order."""
        return iter(self._heard)

    def __len__(self) -> int:
        """Count the ranks."""
        return len(self._heard)

    def __repr__(self) -> str:
        """Show all words."""
        return repr(dict(self))


def voices_of(meter: VoiceMeter, text: TextView, node: str | None = None, near: float | None = None) -> Voices:
    """Return the last words of each rank; a local rank counts as the rank where no global one is printed.

    Arguments: the meter, after the whole source was fed; the text; the host that its path names; a time when it
    existed, for stamps without a year.
    """
    heard: dict[int, Evidence | _Words] = {}
    unclear: list[tuple[bytes, int, Evidence]] = []
    path, plain, tasks = "", False, False
    for offset, label, number, raw in _last_lines(meter.last, text):
        rank = _rank_in(label, raw, tasks=tasks) if plain else None
        if rank is not None:
            heard[rank] = number, raw
            continue
        line = text.line_at(offset)
        rank = line.rank if line.rank is not None else line.local_rank
        shown = text.evidence(line)
        # Of a log that was quoted, a line shows what was taken off it, too.
        path, plain = shown.path, shown.text == clean(raw)
        if rank is None:
            continue
        if line.rank is None and _is_task(label, raw):
            unclear.append((label, rank, shown))  # a line of NCCL, which names the GPU
            continue
        heard[rank] = shown
        tasks = tasks or (_is_task(label, raw) and rank == int(label[:-2]))
    for label, rank, shown in unclear:
        heard.setdefault(int(label[:-2]) if tasks else rank, shown)
    return Voices(path, node, near, dict(sorted(heard.items())))


def _rank_in(label: bytes, raw: bytes, *, tasks: bool) -> int | None:
    """Read a rank off its label; None where the whole line must be taken apart to know it."""
    if len(raw) > _PLAIN or b"\r" in raw:
        return None
    if label.startswith(_RANK):
        return int(label[len(_RANK) : -2])
    return int(label[:-2]) if tasks and _is_task(label, raw) else None


def _is_task(label: bytes, raw: bytes) -> bool:
    """Is the label a number of `srun -l`, and the only one that can tell a rank: no bracket stands behind it?"""
    return label[1:2].isdigit() and raw[len(label) - 1 :].lstrip()[:1] not in (b"[", b"(")


def _last_lines(last: dict[bytes, Chunk], text: TextView) -> Iterator[tuple[int, bytes, int, bytes]]:
    """Yield each label's last line: offset, label, line number, and the line's bytes."""
    for (offset, size), labels in sorted(_by_chunk(last).items()):
        data = b"\n" + text.read(offset, offset + size)
        places = {found.group(): found.start() for found in LABEL_BEHIND_NEWLINE.finditer(data)}
        here, number = 0, 0
        for at, label in sorted((places[label], label) for label in labels & places.keys()):
            number = number + data.count(b"\n", here, at) if number else text.line_at(offset + at).number
            here = at
            end = data.find(b"\n", at + 1)
            yield offset + at, label, number, data[at + 1 : end if end >= 0 else len(data)]


def _by_chunk(chunks: dict[bytes, Chunk]) -> dict[Chunk, set[bytes]]:
    found: dict[Chunk, set[bytes]] = {}
    for label, chunk in chunks.items():
        found.setdefault(chunk, set()).add(label)
    return found


def _entangled(spans: Sequence[tuple[Chunk, Chunk, bytes]] | Sequence[tuple[int, int, bytes]]) -> bool:
    """Are there fewer than three speakers, or do two of them take turns? Chunks that are one say nothing of that."""
    return len(spans) < _FEWEST or any(a[1] > b[0] for a, b in pairwise(sorted(spans)))  # type: ignore[operator]


def _places(chunks: dict[bytes, Chunk], text: TextView, *, last: bool) -> dict[bytes, int]:
    """Where in their chunks the labels stand first or last."""
    found: dict[bytes, int] = {}
    for (offset, size), labels in _by_chunk(chunks).items():
        data = b"\n" + text.read(offset, offset + size)
        for match in LABEL_BEHIND_NEWLINE.finditer(data):
            label = match.group()
            if label in labels and (last or label not in found):
                found[label] = offset + match.start()
    return found
