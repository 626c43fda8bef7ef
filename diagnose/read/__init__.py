"""Reading: sources behind paths, bytes, lines with their speaker and time, tracebacks."""

from __future__ import annotations

from diagnose.read.clean import clean, strip_escapes
from diagnose.read.headless import read_headless
from diagnose.read.index import LineIndex
from diagnose.read.model import Clock, Evidence, Frame, Kind, Line, Problem, Source, Traceback
from diagnose.read.prefix import Prefix, find_glued, own_stamp_end, split
from diagnose.read.sources import find_sources
from diagnose.read.stream import ByteStream, Chunk, open_stream
from diagnose.read.text import Text
from diagnose.read.traceback import read_tracebacks

__all__ = [
    "ByteStream",
    "Chunk",
    "Clock",
    "Evidence",
    "Frame",
    "Kind",
    "Line",
    "LineIndex",
    "Prefix",
    "Problem",
    "Source",
    "Text",
    "Traceback",
    "clean",
    "find_glued",
    "find_sources",
    "open_stream",
    "own_stamp_end",
    "read_headless",
    "read_tracebacks",
    "split",
    "strip_escapes",
]
