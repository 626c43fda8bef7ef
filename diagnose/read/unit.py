"""Reads one printed exception, line by line."""

from __future__ import annotations

import re
from enum import Enum

from diagnose.lazy import Lazy
from diagnose.read import exceptions as words
from diagnose.read.model import Frame, Line

MAX_LINES = 2000
MAX_BYTES = 512 * 1024
MAX_MESSAGE = 200  # lines
MAX_FRAMES = 60
_MAX_JUNK = 40  # lines of others between two lines of a traceback without prefixes
_AT_BLANK = ("File", ",", " line", " in")  # a frame's line that was wrapped at a blank ends so
_BOX = Lazy(r" *[|│┃] ?", needs=("|", "│", "┃"))


class Verdict(Enum):
    """What a unit did with a line."""

    TAKEN = "taken"
    SKIPPED = "skipped"  # not part of it, but it goes on
    OVER = "over"  # not part of it, and it is finished
    CAUSE = "cause"  # it is finished, and caused what follows
    CONTEXT = "context"  # it is finished, and what follows came up while it was handled
    MEMBER = "member"  # the next member of an exception group follows
    REMOTE = "remote"  # a frame inside the message: Ray's copy of a traceback begins


class Unit:
    """One exception being read: first its frames, then its message."""

    def __init__(
        self, head: Line, *, before: str = "", group: bool = False, rich: bool = False, notebook: str = ""
    ) -> None:
        self.head = head
        self.final: Line | None = None
        self.type = ""
        self.message: list[str] = []
        self.frames: list[Frame] = []
        self.last = head.number
        self.message_last = head.number
        self.rank: int | None = head.rank
        self.local_rank: int | None = head.local_rank
        self.node: str | None = head.node
        self.caused: Unit | None = None
        self.chain = ""
        self.nested = False
        self.ignored = False
        self.logged = False
        self.complete = True
        self.margin = _margin(head.body) if group or _BOX.match(head.body) else -1
        self._rich = rich
        self._notebook = notebook  # the type that the head of a notebook's traceback names
        self._prefix = _shape(before)
        self._base: int | None = None
        self._flat = False  # all indentation was lost: code stands where frames do
        self._wrapped = ""
        self._bytes = 0
        self._lines = 0
        self._junk = 0
        self._blanks = 0
        # The excepthook's label stands on exceptions only, so all that follows under it belongs to the message.
        self._own_lane = "[rank" in head.lane

    def start_message(self, line: Line, kind: str, text: str) -> None:
        """Take `line` as the one that carries the type; that of an exception whose whole text is another one's."""
        self.final = line
        self.type, said = words.printed(text) or (kind, text)
        self.message = said.split("\n")[:MAX_MESSAGE]
        self.last = self.message_last = line.number
        self._blanks = 0

    def name_by_head(self) -> None:
        """Take the type that a notebook's head names, where the log was cut before the exception's own line."""
        if self._notebook and self.final is None and self.frames:
            last = self.last
            self.start_message(self.head, self._notebook, "")
            self.last = last

    def feed(self, line: Line, body: str) -> Verdict:
        """Look at the next line of the same speaker."""
        self._lines += 1
        self._bytes += line.end - line.start
        if self._lines > MAX_LINES or self._bytes > MAX_BYTES:
            return Verdict.OVER
        verdict = self._message(line, body) if self.final else self._frame(line, body)
        if verdict is Verdict.TAKEN:
            self.last = max(self.last, line.number) if not self._blanks else self.last
        return verdict

    def _bare(self, body: str) -> str:
        if self._prefix is not None and (match := self._prefix.match(body)):
            body = body[match.end() :]
        if self.margin >= 0 and (match := _BOX.match(body)):
            body = body[match.end() :]
        return body.rstrip()

    def _frame(self, line: Line, body: str) -> Verdict:
        text = self._bare(body)
        said = text.lstrip()
        if not said:
            self._blanks += 1
            return Verdict.TAKEN if self._blanks < 3 or self._notebook else self._stray()
        self._blanks = 0
        if self._rich and said[0] in "│╭╰":
            return self._rich_line(said)
        if self._notebook:
            return self._notebook_line(line, said)
        if self._wrapped and self._anew(text, said):
            self._wrapped = ""
        if self._wrapped or said.startswith('File "') or said == "File":
            return self._file(text, said)
        base = self._base or 0
        indent = len(text) - len(said)
        if words.MARKERS.match(said):
            return Verdict.TAKEN
        shifted = indent > base and self.frames and (indent <= base + 2 or self.frames[-1].code)
        if shifted and (found := words.headless(said)):
            self._base = indent  # a reporter indented lines, or shortened what stands before them
            self.start_message(line, *found)
            return Verdict.TAKEN
        if indent > base and self.frames:
            return self._stray() if words.is_other(said) else self._code(said)
        if indent < base:
            return Verdict.OVER
        flat = self._flat and bool(self.frames) and not self.frames[-1].code
        found = words.exception_of(said, sure=not self.frames or self._junk > 0 or flat)
        if found is not None:
            self.start_message(line, *found)
            return Verdict.TAKEN
        if flat and not words.is_other(said):
            return self._code(said)
        return self._stray()

    def _code(self, said: str) -> Verdict:
        if not self.frames[-1].code:
            last = self.frames[-1]
            self.frames[-1] = Frame(last.file, last.line, last.function, said[:500])
        return Verdict.TAKEN

    def _stray(self) -> Verdict:
        self._junk += 1
        return Verdict.SKIPPED if self._junk <= (_MAX_JUNK if self.frames else 3) else Verdict.OVER

    def _file(self, text: str, said: str) -> Verdict:
        """A frame's `File` line, which a terminal may have wrapped."""
        if self._wrapped:
            said = f"{self._wrapped} {said}" if self._wrapped.endswith(_AT_BLANK) else self._wrapped + text
        match = words.FILE.match(said)
        if match is None:
            self._wrapped = said if len(said) < 1000 and not self._wrapped.count("\0") else ""
            return Verdict.TAKEN if self._wrapped else self._stray()
        self._wrapped = ""
        if self._base is None:
            self._base = max(0, len(text) - len(text.lstrip()) - 2)
            self._flat = text == text.lstrip()
        self._add(Frame(match[1], int(match[2]), match[3] or ""))
        return Verdict.TAKEN

    def _anew(self, text: str, said: str) -> bool:
        """Tell whether a line is no rest of a wrapped frame: the rest has no label of its own and went astray."""
        if not self.frames or words.FILE.match(self._wrapped + text):
            return False
        flush = len(text) - len(said) <= (self._base or 0)
        return said.startswith('File "') or (flush and words.exception_of(said, sure=True) is not None)

    def _rich_line(self, said: str) -> Verdict:
        inner = said.strip("│╭╰╮╯─ ")
        if match := words.RICH_FRAME.match(inner):
            self._add(Frame(match[1], int(match[2]), match[3]))
        elif self.frames and (match := words.RICH_CODE.match(inner)):
            last = self.frames[-1]
            self.frames[-1] = Frame(last.file, last.line, last.function, match[1].strip()[:500])
        return Verdict.TAKEN

    def _notebook_line(self, line: Line, said: str) -> Verdict:
        """A line of a traceback as IPython prints it: between its frames stand numbered lines of code."""
        found = words.exception_of(said)
        if found is not None and found[0].rpartition(".")[2] == self._notebook:
            self.start_message(line, *found)
        elif match := words.NOTEBOOK_FRAME.match(said):
            self._add(Frame(match[1], int(match[2] or match[4] or 0), match[3] or "<module>"))
        elif self.frames and (match := words.NOTEBOOK_CODE.match(said)):
            last = self.frames[-1]
            self.frames[-1] = Frame(
                last.file, last.line or int(match[1]), last.function, (match[2] or "").strip()[:500]
            )
        elif not words.NOTEBOOK_REST.match(said):
            return self._stray()
        return Verdict.TAKEN

    def _add(self, frame: Frame) -> None:
        self.frames.append(frame)
        if len(self.frames) > MAX_FRAMES:
            del self.frames[MAX_FRAMES // 3]

    def _message(self, line: Line, body: str) -> Verdict:
        if self.margin >= 0:
            if match := words.SEPARATOR.match(body):
                return Verdict.MEMBER if match[1] else Verdict.SKIPPED
            if body.strip() and not _BOX.match(body):
                return Verdict.OVER
        text = self._bare(body)
        said = text.lstrip()
        if said.startswith(words.CAUSE):
            return Verdict.CAUSE
        if said.startswith(words.CONTEXT):
            return Verdict.CONTEXT
        if not said:
            self._blanks += 1
            return Verdict.TAKEN if self._blanks <= 2 else Verdict.OVER
        base = self._base or 0
        indent = len(text) - len(said)
        if words.is_other(said) or indent < base or len(self.message) >= MAX_MESSAGE:
            return Verdict.OVER
        if indent and self.message[0].startswith("ray::") and words.FILE.match(said):
            return Verdict.REMOTE
        if self._blanks and not self._own_lane and indent <= base and not words.goes_on_after_blank(said):
            return Verdict.OVER
        self.message += [""] * self._blanks
        self.message.append(text[base:])
        self._blanks = 0
        self.message_last = line.number
        return Verdict.TAKEN


def _margin(body: str) -> int:
    return len(body) - len(body.lstrip())


def _shape(before: str) -> re.Pattern[str] | None:
    """Match a logger's prefix, which may stand on every line of the traceback: digits vary, the rest is fixed."""
    if not before.strip(" |│+"):
        return None
    return re.compile(re.sub(r"\d+", lambda _: r"\d{1,20}", re.escape(before)), re.ASCII)
