"""Turns printed values (`True`, `1e-4`, `['core_attn']`, `<CudaGraphScope.attn: 2>`) into typed ones."""

from __future__ import annotations

import math

from diagnose.facts.model import Value
from diagnose.lazy import Lazy

LONGEST = 2000  # characters of a value that are kept
_DEPTH = 6
_CONSTANTS: dict[str, Value] = {
    "True": True,
    "true": True,
    "False": False,
    "false": False,
    "None": None,
    "null": None,
}
_INT = Lazy(r"[-+]?(?:0|[1-9]\d{0,17})")
_FLOAT = Lazy(r"[-+]?(?:\d{1,30}\.\d{0,30}|\.\d{1,30}|\d{1,30}(?=[eE]))(?:[eE][-+]?\d{1,3})?")
_BOXED = Lazy(r"<[A-Za-z_][\w.]{0,100}\.([A-Za-z_]\w{0,80}): [^<>]{0,80}>", needs=("<",))
_ENUM = Lazy(r"[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+\.([A-Za-z_]\w{0,80})", needs=(".",))
_PAIRS = {"[": "]", "(": ")", "{": "}"}


def parse_value(text: str) -> Value:
    """Type a value as Python, YAML or JSON prints it.

    Enums become their lower-case names, tuples and sets become lists, `torch.bfloat16` and everything else that is no
    literal stays text. Text longer than `LONGEST` characters is cut.
    """
    return _parse(text.strip()[:LONGEST], _DEPTH)


def split_items(text: str, separator: str = ",") -> list[str]:
    """Cut `text` at separators that stand outside quotes and brackets; empty pieces are dropped."""
    items: list[str] = []
    start = depth = 0
    quote = ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[position - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
        elif char == separator and depth == 0:
            items.append(text[start:position])
            start = position + 1
    items.append(text[start:])
    return [item.strip() for item in items if item.strip()]


def _parse(text: str, depth: int) -> Value:
    if not text:
        return ""
    if depth and len(text) > 1 and _PAIRS.get(text[0]) == text[-1]:
        inner = text[1:-1]
        return _mapping(inner, depth - 1) if text[0] == "{" else [_parse(x, depth - 1) for x in split_items(inner)]
    return _scalar(text)


def _mapping(inner: str, depth: int) -> Value:
    items = split_items(inner)
    if not items:
        return {}
    pairs = [split_items(item, ":") for item in items]
    if any(item.startswith("<") or len(pair) < 2 for item, pair in zip(items, pairs, strict=True)):
        return [_parse(item, depth) for item in items]
    return {pair[0].strip("'\""): _parse(":".join(pair[1:]), depth) for pair in pairs}


def _scalar(text: str) -> Value:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    enum = _BOXED.fullmatch(text) or _ENUM.fullmatch(text)
    return enum[1].lower() if enum else text
