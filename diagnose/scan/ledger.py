"""What one anchor found in one source: the first and the last lines, and a count of all of them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from diagnose.read.labels import LABEL, LONGEST
from diagnose.scan.block import WINDOW, Block
from diagnose.scan.engine import all_ends
from diagnose.scan.hidden import raw_position
from diagnose.scan.model import Anchor, Found, Hit
from diagnose.scan.verifier import Verifier

EXACT = 1_000  # accepted lines; after them an anchor's lines are counted, and only the last ones are verified
PATIENCE = 4_000  # refused lines; after them only a sample of an anchor's lines is verified
SAMPLE = 8  # lines of a block that are verified when patience has run out
_PIECE = 4_096  # bytes in which a line for the sample is looked for
SAMPLED = 4  # of so many blocks in which an anchor is only glanced at, a sample is taken of one, while hits are wanted
COUNTED = 16  # of so many blocks in which an anchor is only glanced at, the lines of one are counted
ASKED = 2  # blocks in which the line of a speaker who has no hit is looked at although the others' are put off
TRIES = 4  # times `keep` lines are verified at most, to find the last `keep` ones that count


class Ledger:
    """Takes an anchor's candidate lines block by block, in order, and keeps what counts.

    Args:
        anchor: whose lines they are.
        verifier: asks the anchor whether a line counts; shared between ledgers.
    """

    __slots__ = (
        *("_anchor", "_deferred", "_estimate", "_first", "_last", "_open_start", "_verifier", "_waiting"),
        *("_density", "_glances", "_rough", "_tries", "_waiting_lines", "accepted", "guessed", "refused"),
        *("_heard", "_speakers"),
    )

    def __init__(self, anchor: Anchor, verifier: Verifier) -> None:
        self._anchor = anchor
        self._verifier = verifier
        self._first: list[Hit] = []
        self._last: deque[Hit] = deque(maxlen=anchor.keep)
        self._open_start = -1  # source offset of the last accepted line, which may go on in the next block
        self._waiting: deque[tuple[Block, list[int] | None, int]] = deque()
        self._waiting_lines = 0
        self._tries = TRIES * max(1, anchor.keep)
        self._glances = 0
        self._density = 0.0  # lines a byte, in the last block whose lines were counted
        self._rough = False  # were lines since the last settlement not even counted?
        self._deferred = 0  # lines since the last settlement that nobody looked at
        self._estimate = 0
        self._speakers: dict[bytes, Hit] = {}  # line label -> its first hit
        self._heard: Counter[bytes] = Counter()  # line label -> how often it was asked for although lines are put off
        self.accepted = 0
        self.refused = 0
        self.guessed = 0  # lines that were counted by what their neighbours are like

    @property
    def count(self) -> int:
        """How many lines count, as far as it is known."""
        return self.accepted + self._estimate

    @property
    def found(self) -> Found:
        """All that is known. Complete after `settle`."""
        guessed = self.guessed > 0
        return Found(self._first, list(self._last), self._speakers, self.count, guessed, guessed and self.impatient)

    @property
    def hot(self) -> bool:
        """Were so many lines looked at that the rest is put off?"""
        enough = self._anchor.keep if self._anchor.verify is None else self._anchor.keep + EXACT
        return self.accepted >= enough or self.refused >= PATIENCE

    @property
    def impatient(self) -> bool:
        """Were so many lines refused that only a sample was looked at?"""
        return self.refused >= PATIENCE

    def offer(self, block: Block, ends: list[int]) -> list[Hit]:
        """Take the offsets behind the anchor's literals in a block, ascending.

        Returns the hits that are new.
        """
        new: list[Hit] = []
        if self.hot:
            return self._defer(block, self._distinct(block, ends))
        edge = -1  # up to here the line, or the window of a long line, is settled
        for index, end in enumerate(ends):
            at = end - 1
            if at <= edge:
                continue
            start, stop = block.line(at)
            edge = stop
            if block.source_start(start) == self._open_start:
                continue
            if self._counts(block, start, stop, at):
                new.append(self._accept(block, start, stop, at))
            else:
                self.refused += 1
                if block.is_long(start, stop):
                    edge = min(stop, at + WINDOW // 2)
            if self.hot:
                return new + self._defer(block, self._distinct(block, [e for e in ends[index + 1 :] if e - 1 > edge]))
        return new

    def glance(self, block: Block) -> list[Hit]:
        """Take a block of which only is known that the anchor's literals are in it; for hot ledgers.

        Returns the hits that are new.
        """
        self._glances += 1
        if self._glances % COUNTED == 1:
            ends = self._ends(block)
            lines = self._distinct(block, ends)
            self._density = len(lines) / len(block.data)
            return self._defer(block, lines)
        new: list[Hit] = []
        wanted = len(self._first) < self._anchor.keep and self._glances % SAMPLED == 0
        sample = self._sample(block) if wanted else []
        new.extend(self._verify(block, sample))
        self._rough = True
        self._put_off(block, None, max(0, round(self._density * len(block.data)) - len(sample)))
        return new

    def settle(self) -> list[Hit]:
        """Verify the last of the lines that were put off, and count the others by their share.

        Returns the hits that are new.
        """
        places: list[tuple[Block, int]] = []
        tried = 0
        for block, at in self._backwards():
            if len(places) >= max(1, self._anchor.keep) or tried >= self._tries:
                break
            tried += 1
            start, stop = block.line(at)
            if self._counts(block, start, stop, at):
                places.append((block, at))
        found = [self._hit(block, *block.line(at), at) for block, at in reversed(places)]
        self._last.extend(found)
        self.accepted += len(found)
        self.refused += tried - len(found)
        rest = self._deferred - tried
        if rest > 0:
            self._estimate += round(rest * len(found) / tried)
            self.guessed += rest if self._rough or self._anchor.verify is not None else 0
        self._waiting.clear()
        self._waiting_lines = self._deferred = 0
        self._rough = False
        return found

    def _backwards(self) -> Iterator[tuple[Block, int]]:
        for block, lines, _ in reversed(self._waiting):
            for at in reversed(self._distinct(block, self._ends(block)) if lines is None else lines):
                yield block, at

    def _counts(self, block: Block, start: int, stop: int, at: int) -> bool:
        verify = self._anchor.verify
        return verify is None or self._verifier.ask(self._anchor.key, verify, block.window(start, stop, at))

    def _hit(self, block: Block, start: int, stop: int, at: int) -> Hit:
        if block.moved:
            at = start + max(0, raw_position(block.data[start:stop], at + 1 - start) - 1)
        first = block.source_start(start)
        return Hit(first, block.base + stop, block.number(start), self._anchor.key, block.base + at)

    def _accept(self, block: Block, start: int, stop: int, at: int) -> Hit:
        self.accepted += 1
        hit = self._hit(block, start, stop, at)
        self._open_start = max(self._open_start, hit.start)
        (self._first if len(self._first) < self._anchor.keep else self._last).append(hit)
        if len(self._speakers) < self._anchor.speakers and (label := _label(block, start)):
            self._speakers.setdefault(label, hit)
        return hit

    def _defer(self, block: Block, lines: list[int]) -> list[Hit]:
        """Put lines off; where hits are still wanted, verify a few of them now."""
        new: list[Hit] = []
        if len(self._speakers) < self._anchor.speakers and not self.impatient:
            fresh = self._unheard(block, lines)
            new = self._verify(block, sorted(fresh))
            lines = [at for at in lines if at not in fresh] if fresh else lines
        if len(self._first) < self._anchor.keep:
            step = -(-len(lines) // SAMPLE) or 1
            new += self._verify(block, lines[::step])
            del lines[::step]
        if lines:
            self._put_off(block, lines, len(lines))
        return new

    def _unheard(self, block: Block, lines: list[int]) -> set[int]:
        """Of the lines of each speaker who has no hit yet the first."""
        fresh: dict[bytes, int] = {}
        for at in lines:
            label = _label(block, block.data.rfind(b"\n", 0, at) + 1)
            if label and label not in self._speakers and label not in fresh and self._heard[label] < ASKED:
                self._heard[label] += 1
                fresh[label] = at
        return set(fresh.values())

    def _verify(self, block: Block, lines: list[int]) -> list[Hit]:
        new: list[Hit] = []
        for at in lines:
            start, stop = block.line(at)
            if self._counts(block, start, stop, at):
                new.append(self._accept(block, start, stop, at))
            else:
                self.refused += 1
        return new

    def _put_off(self, block: Block, lines: list[int] | None, count: int) -> None:
        self._deferred += count
        self._waiting.append((block, lines, count))
        self._waiting_lines += count
        while self._waiting_lines - self._waiting[0][2] >= self._tries:
            self._waiting_lines -= self._waiting.popleft()[2]

    def _ends(self, block: Block, start: int = 0, stop: int | None = None) -> list[int]:
        """The offsets behind all literals in a block, or in a part of it."""
        data = block.data[start:stop]
        literals: Iterable[bytes] = self._anchor.literals
        if self._anchor.nocase:
            data, literals = data.lower(), {literal.lower() for literal in literals}
        return sorted({start + end for literal in literals for end in all_ends(data, literal)})

    def _sample(self, block: Block) -> list[int]:
        """Places on a few lines all over the block."""
        step = max(len(block.data) // SAMPLE, _PIECE)
        pieces = (self._ends(block, start, start + _PIECE) for start in range(0, len(block.data), step))
        return self._distinct(block, [ends[0] for ends in pieces if ends])

    def _distinct(self, block: Block, ends: list[int]) -> list[int]:
        """The first place on each line."""
        lines: list[int] = []
        find = block.data.find
        edge = -1
        for end in ends:
            if end - 1 > edge:
                lines.append(end - 1)
                edge = find(b"\n", end - 1)
                if edge < 0:
                    break
        if lines and self._open_start == block.source_start(0) and block.line(lines[0])[0] == 0:
            del lines[0]
        return lines


def _label(block: Block, start: int) -> bytes | None:
    """The label at a line's start; None where it has none, or its start is not in the block."""
    label = LABEL.match(block.data, start, start + LONGEST)
    return label.group() if label and (start or block.line_start == block.base) else None
