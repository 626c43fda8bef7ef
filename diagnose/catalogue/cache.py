"""Keeps the compiled catalogue on disk, so that a start reads no YAML and builds only the patterns it needs.

A cache file is one line of JSON with what every start needs, one with what the scan's database is made of, and the JSON
of each pattern. It is named after the program's version and the layers, and holds each file's time and size: an edit
makes it stale. Whatever is wrong with it, the YAML files are read instead.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from diagnose import __version__
from diagnose.catalogue import shelf
from diagnose.catalogue.layers import Layers
from diagnose.catalogue.model import (
    ActionRule,
    Alternative,
    Catalogue,
    CauseRule,
    CheckRule,
    CostRule,
    FixRule,
    Lines,
    Near,
    Pattern,
    Sample,
    Trouble,
    Wording,
)
from diagnose.classes import replace

SCHEMA = 4  # of the cache file; raised when the meaning of a field changes
# A file edited twice within one tick of a coarse file-system clock could look unedited.
_SETTLED_NS = 2_000_000_000


class LazyPatterns(Mapping[str, Pattern]):
    """Patterns by id, each built from its JSON when it is first asked for."""

    def __init__(self, data: bytes, base: int, places: dict[str, list[int]]) -> None:
        """Take the cache file's bytes, where the first pattern begins, and for each id its [start, end] from there."""
        self._data = data
        self._base = base
        self._places = places
        self._built: dict[str, Pattern] = {}

    def __getitem__(self, key: str) -> Pattern:
        found = self._built.get(key)
        if found is None:
            start, end = self._places[key]
            found = self._built[key] = unpack(json.loads(self._data[self._base + start : self._base + end]))
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class LazyWordings(Sequence[Wording]):
    """All wordings, read from their JSON when one is asked for: the scan's database may be kept elsewhere."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        """Take the cache file's bytes, and where in them the wordings stand."""
        self._data = data
        self._place = slice(start, end)
        self._read: tuple[Wording, ...] | None = None

    def _all(self) -> tuple[Wording, ...]:
        if self._read is None:
            rows = json.loads(self._data[self._place])
            self._read = tuple(Wording(a, b, tuple(c), d, tuple(e), f) for a, b, c, d, e, f in rows)
        return self._read

    @overload
    def __getitem__(self, index: int) -> Wording: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Wording]: ...
    def __getitem__(self, index: int | slice) -> Wording | Sequence[Wording]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Wording]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def cache_path(found: Layers) -> str:
    """Return the cache file for these layers."""
    identity = [__version__, SCHEMA, *sys.version_info[:3], found.roots, os.path.abspath("")]
    # A collision only costs time: the identity stands in the file and is compared.
    key = zlib.crc32(json.dumps(identity).encode())
    return os.path.join(shelf.folder(), f"catalogue-{key:08x}.json")


def _identity(found: Layers) -> list[Any]:
    roots = [[root, os.path.abspath(root)] for root in found.roots]
    return [__version__, SCHEMA, list(sys.version_info[:3]), roots, found.stamp]


def fetch(found: Layers) -> Catalogue | None:
    """Return the cached catalogue of these layers; None where there is none, or it is stale or damaged."""
    path = cache_path(found)
    file = shelf.fetch(path)
    if file is None:
        return None
    checksum, data, start = file
    try:
        first = data.index(b"\n", start) + 1
        head = json.loads(data[start:first])
        if head["identity"] != _identity(found):
            return None
        base = data.index(b"\n", first) + 1
        return Catalogue(
            patterns=LazyPatterns(data, base, head["places"]),
            troubles=tuple(Trouble(*row) for row in head["troubles"]),
            digest=head["digest"],
            aliases=head["aliases"],
            wordings=LazyWordings(data, first, base),
            predictions=head["predictions"],
            codes=head["codes"],
            later=head["later"],
            comparisons=head["comparisons"],
            kept=(path, checksum),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def store(found: Layers, catalogue: Catalogue) -> Catalogue:
    """Write the catalogue's cache file and return the catalogue that knows it; what prevents it is not reported."""
    newest = max((file.mtime_ns for file in found.files), default=0)
    if time.time_ns() - newest < _SETTLED_NS:
        return catalogue
    path = cache_path(found)
    checksum = shelf.store(path, _serialise(found, catalogue))
    return catalogue if checksum is None else replace(catalogue, kept=(path, checksum))


def _serialise(found: Layers, catalogue: Catalogue) -> bytes:
    places: dict[str, list[int]] = {}
    bodies: list[bytes] = []
    start = 0
    for name, pattern in catalogue.patterns.items():
        body = json.dumps(pack(pattern), separators=(",", ":")).encode()
        places[name] = [start, start + len(body)]
        start += len(body)
        bodies.append(body)
    head = {
        "identity": _identity(found),
        "troubles": [[t.path, t.line, t.column, t.message, t.hint] for t in catalogue.troubles],
        "digest": catalogue.digest,
        "aliases": catalogue.aliases,
        "predictions": catalogue.predictions,
        "codes": catalogue.codes,
        "later": catalogue.later,
        "comparisons": catalogue.comparisons,
        "places": places,
    }
    lines = [json.dumps(each, separators=(",", ":")).encode() for each in (head, list(catalogue.wordings))]
    return b"\n".join([*lines, b"".join(bodies)])


def pack(value: Any) -> Any:
    """Turn dataclasses into plain JSON values, without the fields that hold their default."""
    from dataclasses import MISSING, fields, is_dataclass

    if isinstance(value, tuple | list):
        return [pack(item) for item in value]
    if isinstance(value, dict):
        return {key: pack(item) for key, item in value.items()}
    if is_dataclass(value):
        found = ((field.name, getattr(value, field.name), field.default) for field in fields(value))
        return {
            name: pack(item) for name, item, default in found if default is MISSING or item not in (default, (), {})
        }
    return value


def unpack(row: dict[str, Any]) -> Pattern:
    """Build a pattern from what `pack` made of it."""
    row["match"] = tuple(_alternative(each) for each in row.get("match", ()))
    row["checks"] = tuple(CheckRule(**each) for each in row.get("checks", ()))
    row["causes"] = tuple(CauseRule(**each) for each in row.get("causes", ()))
    row["fixes"] = tuple(_fix(each) for each in row.get("fixes", ()))
    row["samples_match"] = tuple(Sample(**each) for each in row.get("samples_match", ()))
    row["samples_no_match"] = tuple(Sample(**each) for each in row.get("samples_no_match", ()))
    if "action" in row:
        row["action"] = ActionRule(**row["action"])
    for key in ("aliases", "explains", "confirms", "cancelled_by", "references"):
        if key in row:
            row[key] = tuple(row[key])
    return Pattern(**row)


def _alternative(row: dict[str, Any]) -> Alternative:
    if "near" in row:
        row["near"] = tuple(Near(**each) for each in row["near"])
    for key in ("exception", "unless", "literals"):
        if key in row:
            row[key] = tuple(row[key])
    return Alternative(**row)


def _fix(row: dict[str, Any]) -> FixRule:
    if "how" in row:
        row["how"] = tuple(Lines(**{**each, "lines": tuple(each["lines"])}) for each in row["how"])
    if "cost" in row:
        row["cost"] = CostRule(**row["cost"])
    if "references" in row:
        row["references"] = tuple(row["references"])
    return FixRule(**row)
