"""Builders for the tests of this room."""

from __future__ import annotations

import io

from diagnose.read.index import LineIndex
from diagnose.read.model import Line, Source, Traceback
from diagnose.read.stream import open_stream
from diagnose.read.text import Text
from diagnose.read.traceback import read_tracebacks


def text_of(data: bytes, source: Source | None = None, chunk: int = 256 * 1024) -> Text:
    """Make a Text of bytes, read to the end as the scan does."""
    source = source or Source("-")
    stream = open_stream(Source("-"), stdin=io.BytesIO(data))
    index, newlines = LineIndex(), 0
    for piece in stream.chunks(chunk):
        index.add(piece.offset, newlines)
        newlines += piece.data.count(b"\n")
    return Text(stream, index, source)


def lines_of(text: Text) -> list[Line]:
    """Give all lines of a text."""
    first = text.line_at(0)
    return [first, *text.after(first, 1_000_000)]


def tracebacks_of(log: str, source: Source | None = None) -> list[Traceback]:
    """Read the tracebacks of a log given as text."""
    text = text_of(log.encode(), source)
    return read_tracebacks(text, [line for line in lines_of(text) if "Traceback (most recent call last)" in line.body])
