"""One pass over one source."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.clean import clean
from diagnose.read.index import LineIndex
from diagnose.read.model import Source
from diagnose.read.stream import open_stream
from diagnose.scan.database import Database
from diagnose.scan.engine import NAMES
from diagnose.scan.model import Anchor, ScanResult
from diagnose.scan.scan import scan
from tests.scan.fake import FakeIndex, FakeStream, scanned

DATA = Path(__file__).parent.parent / "data" / "scan"
ANCHORS = [
    Anchor("memory", (b"out of memory",), verify=lambda text: "CUDA" in text),
    Anchor("killed", (b"killed", b"Killed")),
    Anchor("any", (b"ERROR",), nocase=True, verify=lambda text: regex.search(r"error: \d", text, regex.I) is not None),
]
PIECES = st.sampled_from(
    [
        b"CUDA ",
        b"out of memory",
        b"killed",
        b"Killed",
        b"Error: ",
        b"1",
        b"\n",
        b"\n\n",
        b"\r",
        b"\x1b[31m",
        b"\x00",
        b"\xff",
        b" ",
    ]
)
TEXT = st.lists(PIECES, max_size=60).map(b"".join)


def _naive(data: bytes) -> list[tuple[str, int, int, int]]:
    found = []
    start = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        text = clean(line)
        for anchor in ANCHORS:
            folded = text.lower() if anchor.nocase else text
            literals = [v.decode().lower() if anchor.nocase else v.decode() for v in anchor.literals]
            if any(v in folded for v in literals) and (anchor.verify is None or anchor.verify(text)):
                found.append((anchor.key, number, start, start + len(line)))
        start += len(line) + 1
    return sorted(found)


def _places(result: ScanResult) -> list[tuple[str, int, int, int]]:
    return sorted((hit.key, hit.number, hit.start, hit.end) for hit in result.hits)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(TEXT, st.integers(1, 80))
def test_every_engine_and_chunk_size_finds_what_a_naive_search_finds(data: bytes, size: int) -> None:
    """Whatever the bytes and wherever the chunks end, hits, counts and line numbers are those of a naive search."""
    expected = _naive(data)
    for engine in NAMES:
        result = scanned(data, ANCHORS, engine=engine, size=size)
        assert _places(result) == expected
        assert sum(result.counts.values()) == len(expected)
        assert result.engine == engine
        assert result.size == len(data)
        assert result.lines == data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
        assert result.cut is (data[-1:] not in (b"", b"\n"))


@settings(derandomize=True, max_examples=30, deadline=None)
@given(TEXT)
def test_the_real_stream_gives_the_same(data: bytes) -> None:
    """Reading through the stream of the room `read` gives the same hits."""
    with open_stream(Source("-"), stdin=io.BytesIO(data)) as stream:
        assert _places(scan(stream, LineIndex(), Database(ANCHORS))) == _naive(data)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.log")), ids=lambda path: path.name)
def test_engines_agree_on_real_logs(path: Path) -> None:
    """On logs of real jobs all engines give identical results, at any chunk size."""
    anchors = [
        Anchor("head", (b"Traceback (most recent call last)",)),
        Anchor(
            "file", (b'  File "',), verify=lambda text: regex.search(r'File "[^"]+", line \d+, in ', text) is not None
        ),
        Anchor("error", (b"error",), nocase=True),
        Anchor("rank", (b"rank", b"[default"), keep=3),
    ]
    data = path.read_bytes()
    results = [scanned(data, anchors, engine=engine, size=size) for engine in NAMES for size in (100, 5000, 10**6)]
    assert results[0].counts.get("head", 0) == data.count(b"Traceback (most recent call last)")
    for result in results:
        result.engine = ""
        assert result == results[0]


def test_chunk_borders() -> None:
    """The index is told each chunk, hits' neighbourhoods are pinned, and the stream's problems are passed on."""
    data = b"fine\n" * 10_000 + b"CUDA out of memory\n" + b"fine\n" * 10_000
    stream, index = FakeStream(data, 1000, problems=["damaged"]), FakeIndex()
    result = scan(stream, index, Database(ANCHORS))
    assert index.added == [(offset, data.count(b"\n", 0, offset)) for offset, _ in index.added]
    assert len(index.added) > 3
    assert [hit.number for hit in result.hits] == [10_001]
    (start, end) = stream.pins[0]
    assert start <= 50_000 - 16 * 1024
    assert end >= 50_018 + 48 * 1024
    assert result.problems == ["damaged"]


@pytest.mark.parametrize("engine", NAMES)
@pytest.mark.parametrize("filler", [b"x", b"\x1b[0m", b"out of memory "])
def test_very_long_lines(engine: str, filler: bytes) -> None:
    """A literal deep in a line of many chunks is one hit, at the line's true start and number, near its true place."""
    before = b"short\n" + filler * (60_000 // len(filler))
    data = before + b"CUDA out of memory" + filler * (60_000 // len(filler)) + b"\nKilled\n"
    result = scanned(data, ANCHORS, engine=engine, size=5_000, longest=20_000)
    assert [(hit.key, hit.number, hit.start) for hit in result.hits] == [
        ("memory", 2, 6),
        ("killed", 3, data.rindex(b"Killed")),
    ]
    assert abs(result.hits[0].at - len(before)) < 4096 + 18
    assert result.counts == {"memory": 1, "killed": 1}
    assert result.lines == 3


@pytest.mark.parametrize("engine", NAMES)
def test_dense_logs_are_counted_and_keep_their_ends(engine: str) -> None:
    """Where most lines match, the first and last are kept, rare ones among them are not lost, and it is said."""
    crowd = b"rank 7: CUDA out of memory\nrank 7: ordinary line\nRank 9: error: 5\n"
    data = crowd * 15_000 + b"Killed\n" + crowd * 15_000
    result = scanned(data, ANCHORS, engine=engine, size=64 * 1024)
    assert result.counts["killed"] == 1
    assert result.counts["memory"] == pytest.approx(30_000, rel=0.02)
    assert result.counts["any"] == pytest.approx(30_000, rel=0.02)
    numbers = [hit.number for hit in result.hits if hit.key == "memory"]
    assert numbers[:200] == list(range(1, 600, 3))
    assert numbers[200:] == list(range(90_002 - 600, 90_000, 3))
    assert len(result.problems) == 1
    assert "very many lines match memory, any" in result.problems[0]


def test_engines_agree_on_dense_logs() -> None:
    """Estimates too are the same with every engine."""
    data = b"".join(b"CUDA out of memory %d\nerror: %d\nout of memory\n" % (n, n) for n in range(40_000))
    results = [scanned(data, ANCHORS, engine=engine, size=50_000) for engine in NAMES]
    for result in results:
        result.engine = ""
        assert result == results[0]


def test_a_common_literal_is_told() -> None:
    """Where an anchor refuses nearly all of very many lines, the result says that it was not asked about each."""
    data = b"".join(b"step %d out of memory budget\n" % number for number in range(40_000)) + b"CUDA out of memory\n"
    result = scanned(data, ANCHORS)
    assert [hit.number for hit in result.hits] == [40_001]
    assert result.problems == ["very many lines look like memory; only a sample of them was looked at closely"]


def test_misfires_change_the_database_not_the_answer() -> None:
    """Beginnings of literals that stand everywhere are found in vain until the database is built anew."""
    literal = b"the quick zebra xylophone is missing from the rank's own list of instruments"
    data = (literal[:-5] + b"\n") * 20_000 + literal + b"\n"
    result = scanned(data, [Anchor("a", (literal,))])
    assert [hit.number for hit in result.hits] == [20_001]


@dataclass
class _Meter:
    total: int = 0
    lines: int = 0
    eager: bool = True

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        assert offset == self.total
        assert first_line == self.lines + 1
        self.total += len(chunk)
        self.lines += chunk.count(b"\n")


def test_meters_see_a_small_source_whole() -> None:
    """Chunks come to the meters in order with their offset and first line."""
    meter = _Meter()
    result = scanned(b"iteration\n" * 10_000, [], size=1000, meters=[meter])
    assert (meter.total, result.sampled) == (100_000, False)


def test_an_empty_source() -> None:
    """Nothing in, nothing out."""
    result = scanned(b"", ANCHORS)
    assert (result.size, result.lines, result.cut, result.hits, result.counts) == (0, 0, False, [], {})


def test_few_hits_are_kept_where_few_are_wanted() -> None:
    """With `few`, anchors without speakers keep so many first and last hits; all are counted all the same."""
    anchors = [Anchor("plain", (b"saving",)), Anchor("heard", (b"failed",), speakers=4)]
    data = b"saving checkpoint\nstep failed\n" * 50
    result = scan(FakeStream(data, 300), FakeIndex(), Database(anchors), few=3)
    places = [hit.number for hit in result.hits if hit.key == "plain"]
    assert places == [1, 3, 5, 95, 97, 99]
    assert sum(hit.key == "heard" for hit in result.hits) == 50
    assert result.counts == {"plain": 50, "heard": 50}
