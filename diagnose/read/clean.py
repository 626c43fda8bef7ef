"""Takes escape codes and control characters out of log text, so that words can be matched and shown safely."""

from __future__ import annotations

from functools import lru_cache

from diagnose.lazy import Lazy, LazyBytes

# CSI, OSC (with BEL or ST), other two-byte escapes: ECMA-48.
_ESCAPE = LazyBytes(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|[PX^_][^\x1b\n]{0,4096}\x1b\\|[ -/]*[0-~])"
)
_COLOR = LazyBytes(rb"\x1b\[[0-9;]{0,12}m")
_LARGE, _LOOKED_AT, _FEW = 32_768, 16_384, 24  # bytes; of them at either end; different codes
_SPARSE = 256  # bytes from one code to the next, on average, above which a search for each is cheap
_CONTROL = Lazy("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def strip_escapes(raw: bytes) -> bytes:
    """Remove terminal escape sequences; newlines stay where they are, and text without any comes back as it is."""
    if b"\x1b" not in raw:
        return raw
    return _stripped(bytes(raw)) if len(raw) >= _LARGE else _ESCAPE.sub(b"", raw)


@lru_cache(maxsize=2)
def _stripped(raw: bytes) -> bytes:
    # The scan and each meter ask for the same chunk, one after the other.
    count = raw.count(b"\x1b")
    if count * _SPARSE > len(raw):
        codes = {*_COLOR.findall(raw, 0, _LOOKED_AT), *_COLOR.findall(raw, len(raw) - _LOOKED_AT)}
        # Where nothing but a few colors escapes, taking out one after the other is five times faster.
        if len(codes) <= _FEW and sum(map(raw.count, codes)) == count:
            for code in codes:
                raw = raw.replace(code, b"")
            return raw
    return _ESCAPE.sub(b"", raw)


def clean(raw: bytes) -> str:
    """Decode one line for matching and showing: no escape codes, no control characters but tab and carriage return."""
    text = strip_escapes(raw).decode("utf-8", "replace")
    return text if text.isprintable() else _CONTROL.sub("", text)
