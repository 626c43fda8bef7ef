"""Reading bytes in order and again."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.model import Source
from diagnose.read.stream import LONG_LINE, OVERLAP, ByteStream, Chunk, open_stream

LOG = b"".join(b"line %d of a log that is long enough to matter\n" % number for number in range(30_000))
PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress, zstandard.compress]


def joined(chunks: Iterable[Chunk]) -> bytes:
    """Put chunks together again by their offsets."""
    data = b""
    for chunk in chunks:
        assert chunk.offset <= len(data)
        data = data[: chunk.offset] + chunk.data
    return data


def piped(data: bytes) -> ByteStream:
    """Open bytes as standard input."""
    return open_stream(Source("-"), stdin=io.BytesIO(data))


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.binary(max_size=3000), st.integers(1, 500))
def test_chunks_hold_the_input(tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int) -> None:
    """Put together, the chunks are the input, in a pipe as in a file, and they end with lines."""
    path = tmp_path_factory.getbasetemp() / "any.log"
    path.write_bytes(b"." + data)
    with open_stream(Source(str(path))) as plain:
        chunks = list(plain.chunks(size))
    assert joined(chunks) == b"." + data
    assert all(chunk.data.endswith(b"\n") for chunk in chunks[:-1])
    with piped(b"." + data) as pipe:
        chunks = list(pipe.chunks(size))
        assert joined(chunks) == b"." + data
        assert all(chunk.data.endswith(b"\n") for chunk in chunks[:-1])
        assert pipe.size == len(data) + 1
        assert pipe.read(0, 5000) == b"." + data


@pytest.mark.parametrize("length", [LONG_LINE - 1, LONG_LINE, LONG_LINE + 1, 3 * LONG_LINE])
@pytest.mark.parametrize("ending", [b"", b"\n", b"\nmore\n"])
def test_long_lines_are_cut_with_overlap(tmp_path: Path, length: int, ending: bytes) -> None:
    """A line over 1 MB comes in pieces that overlap, and no piece grows beyond the limit."""
    data = b"first\n" + b"x" * length + ending
    path = tmp_path / "long.log"
    path.write_bytes(data)
    for stream in (open_stream(Source(str(path))), piped(data)):
        with stream:
            chunks = list(stream.chunks(200_000))
        assert joined(chunks) == data
        assert max(len(chunk.data) for chunk in chunks) <= LONG_LINE + 200_000
        for one, two in itertools.pairwise(chunks):
            expected = one.offset + len(one.data) - (OVERLAP if one.continues else 0)
            assert two.offset == expected


@pytest.mark.parametrize("pack", PACKERS)
def test_archives_are_told_by_their_bytes(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Every packing is unpacked, several members one after the other too, whatever the file is called."""
    half = LOG.index(b"\n", len(LOG) // 2) + 1
    path = tmp_path / "train.log"
    path.write_bytes(pack(LOG[:half]) + pack(LOG[half:]))
    with open_stream(Source(str(path))) as stream:
        assert joined(stream.chunks()) == LOG
        assert stream.problems == []
        assert stream.size == len(LOG)
        assert stream.read(100, 200) == LOG[100:200]
    with piped(pack(LOG)) as pipe:
        assert joined(pipe.chunks()) == LOG


@pytest.mark.parametrize("pack", PACKERS)
def test_cut_archive_gives_what_it_holds(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """A cut archive gives its readable part, and a sentence says that it is cut."""
    packed = pack(os.urandom(400_000).hex().encode())
    path = tmp_path / "cut.log"
    path.write_bytes(packed[: len(packed) // 2])
    with open_stream(Source(str(path))) as stream:
        data = joined(stream.chunks())
    assert "damaged or cut" in stream.problems[0]
    assert data or pack is bz2.compress  # bzip2 has blocks of 900 KB


def test_damaged_archive_gives_what_stands_before(tmp_path: Path) -> None:
    """Bytes before the damage are used."""
    packed = bytearray(gzip.compress(os.urandom(600_000).hex().encode()))
    packed[len(packed) // 2 : len(packed) // 2 + 400] = b"\xff" * 400
    path = tmp_path / "damaged.log.gz"
    path.write_bytes(packed)
    with open_stream(Source(str(path))) as stream:
        assert joined(stream.chunks())
    assert len(stream.problems) == 1


def test_file_that_shrinks_ends_with_a_sentence(tmp_path: Path) -> None:
    """A file cut while it is read gives what is left."""
    path = tmp_path / "train.log"
    path.write_bytes(LOG)
    with open_stream(Source(str(path))) as stream:
        chunks = stream.chunks(1000)
        first = next(chunks)
        os.truncate(path, len(first.data) + 10)
        rest = b"".join(chunk.data for chunk in chunks)
    assert len(first.data) + len(rest) <= len(first.data) + 10
    assert "shorter" in stream.problems[0]


def test_file_that_grows_is_read_as_it_was(tmp_path: Path) -> None:
    """What is written after opening is left for the next time."""
    path = tmp_path / "train.log"
    path.write_bytes(b"one\ntwo\n")
    with open_stream(Source(str(path))) as stream, path.open("ab") as file:
        file.write(b"three\n")
        file.flush()
        assert joined(stream.chunks()) == b"one\ntwo\n"


def test_segment_of_a_file(tmp_path: Path) -> None:
    """A file can be read in segments, for several processes."""
    path = tmp_path / "train.log"
    path.write_bytes(LOG)
    middle = LOG.index(b"\n", 500_000) + 1
    with open_stream(Source(str(path))) as stream:
        parts = [b"".join(c.data for c in stream.chunks(start=0, end=middle))]
        parts.append(b"".join(c.data for c in stream.chunks(start=middle)))
    assert parts == [LOG[:middle], LOG[middle:]]


def test_fifo_is_read_to_its_end(tmp_path: Path) -> None:
    """A named pipe gives what its writer writes."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    os.write(writer, b"one\ntwo\n")
    stream = open_stream(Source(str(path)))
    os.close(writer)
    with stream:
        assert joined(stream.chunks()) == b"one\ntwo\n"


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    """A file that went away after it was found gives nothing and says so."""
    with open_stream(Source(str(tmp_path / "gone.log"))) as stream:
        assert list(stream.chunks()) == []
    assert "could not be opened" in stream.problems[0]


def test_pins_keep_what_a_large_stream_would_forget() -> None:
    """Beyond 64 MB only the head, the tail and what was pinned can be read again."""
    block = b"x" * 1023 + b"\n"
    with piped(block * (72 * 1024)) as stream:
        for chunk in stream.chunks():
            if chunk.offset // (30 << 20) != (chunk.offset + len(chunk.data)) // (30 << 20):
                stream.pin(chunk.offset - 70_000, chunk.offset + len(chunk.data) + 70_000)
        assert stream.read(0, 1 << 20) == block * 1024
        assert len(stream.read(stream.size - (3 << 20), stream.size)) == 3 << 20
        assert stream.read((30 << 20) + 100_000, (30 << 20) + 100_010) == b"x" * 10
        assert stream.read(20 << 20, (20 << 20) + 10) == b""


def test_small_cut_gzip(tmp_path: Path) -> None:
    """All that stands before the cut of an archive is given, however short the archive is."""
    text = b"step 1\n" * 2000 + b"Traceback (most recent call last):\nValueError: bad\n"
    path = tmp_path / "cut.log.gz"
    path.write_bytes(gzip.compress(text)[:-10])
    with open_stream(Source(str(path))) as stream:
        given = b"".join(chunk.data for chunk in stream.chunks())
        assert given.startswith(b"step 1\n" * 2000)
        assert "damaged or cut" in stream.problems[0]


def test_gzip_members_and_padding(tmp_path: Path) -> None:
    """Members follow each other; zeros and other bytes behind the last one are no damage."""
    for tail in (b"", b"\0" * 512, b"not a member"):
        path = tmp_path / "members.log.gz"
        path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n") + tail)
        with open_stream(Source(str(path))) as stream:
            assert b"".join(chunk.data for chunk in stream.chunks()) == b"one\ntwo\n"
            assert stream.problems == []
