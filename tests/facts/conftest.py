"""Gives tests a source's text without a file of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from diagnose.facts.model import Observation, Step
from diagnose.facts.progress import ProgressMeter
from diagnose.facts.reader import Reader
from diagnose.facts.readers import READERS, STEP_READERS
from diagnose.read.index import LineIndex
from diagnose.read.model import Source
from diagnose.read.stream import open_stream
from diagnose.read.text import Text


class Log:
    """A small log, read by every reader as a scan would drive them."""

    def __init__(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        self.content = content
        source = Source(str(path))
        self.stream = open_stream(source)
        index = LineIndex()
        self.meter = ProgressMeter()
        lines = 0
        for chunk in self.stream.chunks():
            data = bytes(chunk.data)
            index.add(chunk.offset, lines)
            self.meter.feed(data, chunk.offset, lines + 1)
            lines += data.count(b"\n")
        self.text = Text(self.stream, index, source)

    def observations(self) -> list[Observation]:
        """What all fact readers see."""
        return [seen for reader in READERS.values() for seen in self._read(reader)]

    def facts(self) -> dict[str, Any]:
        """The last value of each key."""
        return {seen.key: seen.value for seen in self.observations()}

    def milestones(self) -> list[Step]:
        """What the step readers see."""
        return [step for reader in STEP_READERS.values() for step in self._read(reader)]

    def steps(self) -> list[Step]:
        """What the progress meter keeps."""
        return self.meter.steps(self.text)

    def _read(self, reader: Reader[Any]) -> list[Any]:
        found: list[Any] = []
        start = 0
        for line in self.content.split(b"\n"):
            if any(anchor in line for anchor in reader.anchors):
                found += reader.read(self.text, self.text.line_at(start))
            start += len(line) + 1
        return found


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Callable[[str | bytes], Log]]:
    """Make a log of the given content; its file is closed behind the test."""
    with ExitStack() as stack:

        def make(content: str | bytes) -> Log:
            made = Log(tmp_path / "job.log", content.encode() if isinstance(content, str) else content)
            stack.enter_context(made.stream)
            return made

        yield make
