"""Reads one source as bytes: in order for the scan, and again by offset for a closer look."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from types import TracebackType

from diagnose.classes import dataclass
from diagnose.read.codecs import CodecError, Reader, Rewound, decoder_for
from diagnose.read.keep import Keeper
from diagnose.read.model import Source
from diagnose.read.quote import MOST, unquoted
from diagnose.typed import BinaryIO, Self

CHUNK = 256 * 1024
LONG_LINE = 1024 * 1024  # bytes: a longer line is cut
OVERLAP = 4096  # bytes of a cut line that the next chunk begins with again


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines of a source, or a piece of a very long one."""

    data: bytes
    offset: int  # of its first byte in the decompressed source
    continues: bool = False  # True: cut in mid-line; the next chunk repeats its last 4096 bytes


class ByteStream:
    """One opened source. Subclasses know how to get at its bytes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[str] = []  # sentences
        self.size = 0  # bytes, decompressed; final once all chunks were taken
        self.modified: float | None = None  # last change of the file, seconds since the epoch
        self.seekable = False  # True: every byte can be read at any time
        self.margins: Mapping[int, str] = {}  # what was taken off quoted lines, by their numbers; see read/quote.py

    def chunks(self, size: int = CHUNK, *, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """Yield the source from `start` up to `end` in chunks of about `size` bytes that end with a line."""
        raise NotImplementedError

    def read(self, start: int, end: int) -> bytes:
        """Give bytes again by their offset; fewer, or none, where they were not kept."""
        raise NotImplementedError

    def pin(self, start: int, end: int) -> None:
        """Ask that [start, end) stays readable. Costs nothing where all of the source does."""

    def close(self) -> None:
        """Let the input go."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class PlainStream(ByteStream):
    """A regular file of plain text, as long as it was when it was opened."""

    def __init__(self, source: Source, fd: int) -> None:
        super().__init__(source)
        status = os.fstat(fd)
        self._fd = fd
        self.size = status.st_size
        self.modified = status.st_mtime
        self.seekable = True

    def chunks(self, size: int = CHUNK, *, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """As ByteStream.chunks; a segment must begin and end at line starts."""
        here, stop = start, self.size if end is None else min(end, self.size)
        want = size
        while here < stop:
            data = self.read(here, min(here + want, stop))
            if not data:
                if not self.problems:
                    self.problems.append(f"the file became shorter while it was read; {stop - here} bytes are missing")
                self.size = min(self.size, here)
                return
            if here + len(data) >= stop:
                yield Chunk(data, here)
                return
            cut = data.rfind(b"\n") + 1
            if cut:
                yield Chunk(data[:cut], here)
                here += cut
                want = size
            elif len(data) >= LONG_LINE:
                yield Chunk(data, here, continues=True)
                here += len(data) - OVERLAP
            elif len(data) < min(want, stop - here):
                # A short read: the file is being cut.
                yield Chunk(data, here)
                here += len(data)
            else:
                want = LONG_LINE

    def read(self, start: int, end: int) -> bytes:
        """As ByteStream.read; always all of it, unless the file shrank or cannot be read."""
        start, end = max(start, 0), min(end, self.size)
        if start >= end or self._fd < 0:
            return b""
        try:
            return os.pread(self._fd, end - start, start)
        except OSError as error:
            sentence = f"could not read on from byte {start}: {error.strerror or error}"
            if sentence not in self.problems and len(self.problems) < 8:
                self.problems.append(sentence)
            return b""

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class PipedStream(ByteStream):
    """An input that gives its bytes once: a pipe, standard input, an archive."""

    def __init__(self, source: Source, reader: Reader | None, *handles: BinaryIO) -> None:
        super().__init__(source)
        self._reader = reader
        self._handles = handles
        self._kept = Keeper()

    def chunks(self, size: int = CHUNK, *, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """As ByteStream.chunks; always the whole input, and only once."""
        offset, rest, fresh = 0, b"", 0
        while data := self._more(size):
            rest, fresh = rest + data, fresh + len(data)
            if cut := rest.rfind(b"\n") + 1:
                yield Chunk(rest[:cut], offset)
                offset, rest, fresh = offset + cut, rest[cut:], len(rest) - cut
            while len(rest) >= LONG_LINE:
                yield Chunk(rest[:LONG_LINE], offset, continues=True)
                fresh = len(rest) - LONG_LINE
                step = LONG_LINE - OVERLAP
                offset, rest = offset + step, rest[step:]
        if fresh:
            yield Chunk(rest, offset)

    def _more(self, size: int) -> bytes:
        parts: list[bytes] = []
        missing = size
        while missing > 0 and self._reader is not None:
            try:
                part = self._reader.read1(missing)
            except Exception as error:  # decoders raise what they like on damaged input
                self._reader = None
                self.problems.append(_damage(error, self.size + size - missing))
                break
            if not part:
                self._reader = None
                break
            parts.append(part)
            missing -= len(part)
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        if self._reader is None and not self.size and (bare := unquoted(data)) is not None:
            data, self.margins = bare.data, bare.margins
        self._kept.add(data)
        self.size = self._kept.size
        return data

    def read(self, start: int, end: int) -> bytes:
        """As ByteStream.read; of what went by already."""
        return self._kept.read(start, end)

    def pin(self, start: int, end: int) -> None:
        """As ByteStream.pin; at most 88 MB, the first half for good, the other half for the latest pins."""
        self._kept.pin(start, end)

    def close(self) -> None:
        """Close what was opened here; standard input stays open."""
        self._reader = None
        for handle in self._handles:
            handle.close()


def _damage(error: Exception, size: int) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"could not read on after {size} bytes: {error.strerror}"
    if isinstance(error, MemoryError) or "emory" in str(error):
        return f"unpacking it needs too much memory; only the first {size} bytes were read"
    return f"the archive is damaged or cut ({error}); only the first {size} bytes were read"


def open_stream(source: Source, *, stdin: BinaryIO | None = None) -> ByteStream:
    """Open a source, whatever it is; what goes wrong is told in the stream's `problems`, never raised.

    `stdin` stands for standard input where the source's path is "-".
    """
    if source.content is not None:
        return _pipe(source, io.BytesIO(source.content), owned=False)
    if source.path == "-":
        return _pipe(source, stdin if stdin is not None else sys.stdin.buffer, owned=False)
    try:
        fd = os.open(source.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as error:
        return _failed(source, f"could not be opened: {getattr(error, 'strerror', None) or error}")
    try:
        regular = stat.S_ISREG(os.fstat(fd).st_mode)
        head = os.pread(fd, 16, 0) if regular else b""
    except OSError as error:
        os.close(fd)
        return _failed(source, f"could not be read: {error.strerror or error}")
    if regular and decoder_for(head) is None:
        stream = PlainStream(source, fd)
        if stream.size > MOST or unquoted(stream.read(0, stream.size)) is None:
            return stream
        os.lseek(fd, 0, os.SEEK_SET)
        return _pipe(source, os.fdopen(fd, "rb"), owned=True)
    return _pipe(source, os.fdopen(fd, "rb"), owned=True)


def _pipe(source: Source, raw: BinaryIO, *, owned: bool) -> ByteStream:
    handles = (raw,) if owned else ()
    try:
        head = raw.read(6)
        opener = decoder_for(head)
        rewound = Rewound(head, raw)
        reader: Reader = opener(rewound) if opener else _Direct(rewound)  # type: ignore[arg-type]
    except CodecError as error:
        return _failed(source, f"could not be read: {error}", *handles)
    except (OSError, ValueError) as error:
        return _failed(source, f"could not be read: {getattr(error, 'strerror', None) or error}", *handles)
    stream = PipedStream(source, reader, *handles)
    if owned:
        stream.modified = os.fstat(raw.fileno()).st_mtime
    return stream


class _Direct:
    def __init__(self, raw: Rewound) -> None:
        self._raw = raw

    def read1(self, size: int = -1, /) -> bytes:
        return self._raw.read(size) or b""


def _failed(source: Source, sentence: str, *handles: BinaryIO) -> ByteStream:
    stream = PipedStream(source, None, *handles)
    stream.problems.append(sentence)
    return stream
