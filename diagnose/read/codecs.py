"""Opens compressed input by its magic bytes."""

from __future__ import annotations

import io
from collections.abc import Callable

from diagnose.typed import IO, TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from lzma import LZMADecompressor

_XZ_MEMORY = 128 * 1024 * 1024  # bytes: `xz -9` asks for 65 MB
_GZIP_PIECE = 16 * 1024  # bytes: what is unfolded at once, and lost with it where it is damaged
_ZSTD_WINDOW = 2**27  # bytes: what `zstd --long` asks for


class Reader(Protocol):
    """Something that gives decompressed bytes."""

    def read1(self, size: int = ..., /) -> bytes:
        """Give at most `size` bytes, b"" at the end."""


class CodecError(Exception):
    """The input is compressed in a way that this Python cannot undo; the text says what to install."""


class Rewound(io.RawIOBase):
    """A pipe whose first bytes were already taken: gives them again, then the rest."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        super().__init__()
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        """A pipe can only be read."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Fill `buffer` with the next bytes."""
        if self._head:
            part, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        else:
            read1 = getattr(self._rest, "read1", self._rest.read)
            part = read1(len(buffer)) or b""
        buffer[: len(part)] = part
        return len(part)


class _Gzip:
    """Reads .gz and gives all that stands before a damage; what is no archive behind the last member is left alone."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._decoder = _inflater()

    def read1(self, size: int = -1, /) -> bytes:
        """Give the next bytes; raises EOFError where the archive is cut."""
        while True:
            if self._decoder.eof:
                rest = self._decoder.unused_data or self._raw.read(_GZIP_PIECE)
                rest = rest.lstrip(b"\0") or self._raw.read(_GZIP_PIECE)
                if not rest.startswith(b"\x1f\x8b"):
                    return b""
                self._decoder = _inflater()
            else:
                rest = self._decoder.unconsumed_tail or self._raw.read(_GZIP_PIECE)
            if data := self._decoder.decompress(rest, max(size, 0)):
                return bytes(data)
            if not rest and not self._decoder.eof:
                raise EOFError("the archive ends before its end marker")


def _inflater() -> Any:
    try:
        from isal import isal_zlib

        return isal_zlib.decompressobj(wbits=31)
    except ImportError:
        import zlib

        return zlib.decompressobj(wbits=31)


def _bzip2(raw: IO[bytes]) -> Reader:
    import bz2

    return bz2.BZ2File(raw)


class _Xz:
    """Reads .xz with a bound on memory, which lzma.LZMAFile does not offer."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._decoder = self._fresh()

    def _fresh(self) -> LZMADecompressor:
        import lzma

        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def read1(self, size: int = -1, /) -> bytes:
        """Give the next bytes; raises EOFError where the archive is cut."""
        while True:
            if self._decoder.eof:
                rest = self._decoder.unused_data.lstrip(b"\0") or self._raw.read(65536).lstrip(b"\0")
                if not rest:
                    return b""
                self._decoder = self._fresh()
            else:
                rest = self._raw.read(65536) if self._decoder.needs_input else b""
                if not rest and self._decoder.needs_input:
                    raise EOFError("the archive ends before its end marker")
            if data := self._decoder.decompress(rest, size):
                return bytes(data)


class _Zstd:
    """Reads .zst through the `zstandard` package and notices a cut end."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._raw = raw
        self._make = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj
        self._decoder = self._make()
        self._rest = b""
        self._at = 0
        self._begun = False

    def read1(self, size: int = -1, /) -> bytes:
        """Give the next bytes, `size` or more; raises EOFError where the archive is cut."""
        while True:
            # Small pieces bound what one call can unfold: at most some 30 MB a kilobyte.
            piece = self._rest[self._at : self._at + 1024]
            self._at += len(piece)
            if not piece:
                self._rest, self._at = self._raw.read(65536), 0
                if self._rest:
                    continue
                if self._begun and not self._decoder.eof:
                    raise EOFError("the archive ends before its end marker")
                return b""
            if self._decoder.eof:
                self._decoder = self._make()
            self._begun = True
            data = self._decoder.decompress(piece)
            if self._decoder.eof:
                self._at -= len(self._decoder.unused_data)
            if data:
                return bytes(data)


def _zstd(raw: IO[bytes]) -> Reader:
    try:
        return _Zstd(raw)
    except ImportError:
        pass
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ImportError as error:
        raise CodecError("it is compressed with zstd: install the package `zstandard`, or unpack it first") from error
    return zstd.ZstdFile(raw)  # type: ignore[no-any-return]


MAGIC: tuple[tuple[bytes, Callable[[IO[bytes]], Reader]], ...] = (
    (b"\x1f\x8b\x08", _Gzip),
    (b"BZh", _bzip2),
    (b"\xfd7zXZ\x00", _Xz),
    (b"\x28\xb5\x2f\xfd", _zstd),
)


def decoder_for(head: bytes) -> Callable[[IO[bytes]], Reader] | None:
    """Find the decoder for an input that begins with `head`; None for plain bytes."""
    for magic, opener in MAGIC:
        if head.startswith(magic) and (magic != b"BZh" or head[3:4].isdigit()):
            return opener
    return None
