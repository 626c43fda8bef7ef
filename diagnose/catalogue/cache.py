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
from diagnose.catalogue.condition import remember, trees_in
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

SHIPPED = "catalogue.json"  # beside the folder of the shipped patterns, in a package
SCHEMA = 6  # of the cache file; raised when the meaning of a field changes
# A file edited twice within one tick of a coarse file-system clock could look unedited.
_SETTLED_NS = 2_000_000_000


class LazyPatterns(Mapping[str, Pattern]):
    """Patterns by id, each built from its JSON when it is first asked for."""

    def __init__(self, data: bytes, base: int, places: dict[str, list[int]], root: str = "") -> None:
        """Take the cache file's bytes, where the first pattern begins, and for each id its [start, end] from there.

        `root` is the folder that the patterns' origins are told from; "" where they are whole.
        """
        self._root = root
        self._data = data
        self._base = base
        self._places = places
        self._built: dict[str, Pattern] = {}

    def __getitem__(self, key: str) -> Pattern:
        found = self._built.get(key)
        if found is None:
            start, end = self._places[key]
            row, trees = json.loads(self._data[self._base + start : self._base + end])
            remember(trees)
            found = unpack(row)
            if self._root:
                found = replace(found, origin=f"{self._root}{os.sep}{found.origin}")
            self._built[key] = found
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
    return None if file is None else _opened(path, file, _identity(found))


def _opened(path: str, file: tuple[str, bytes, int], identity: list[Any], root: str = "") -> Catalogue | None:
    checksum, data, start = file
    try:
        first = data.index(b"\n", start) + 1
        head = json.loads(data[start:first])
        if head["identity"] != identity:
            return None
        base = data.index(b"\n", first) + 1
        remember(head["trees"])
        return Catalogue(
            patterns=LazyPatterns(data, base, head["places"], root or head.get("root", "")),
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


def fetch_shipped(found: Layers) -> Catalogue | None:
    """Return the catalogue that was compiled when the package was built; None where these layers hold anything else.

    Its first use writes the user's cache file, which spares later starts to read the pattern files.
    """
    if len({file.layer for file in found.files}) != 1 or found.troubles:
        return None
    path, root = os.path.join(os.path.dirname(found.roots[0]), SHIPPED), found.roots[0]
    if not os.path.isfile(path) or (identity := shipped_identity(found)) is None:
        return None
    file = shelf.fetch(path, shipped=True)
    catalogue = None if file is None else _opened(path, file, identity, root)
    if catalogue is None or file is None:
        return None
    first = file[1].index(b"\n", file[2]) + 1
    head = json.loads(file[1][file[2] : first]) | {"identity": _identity(found), "root": root}
    kept = cache_path(found)
    checksum = shelf.store(kept, json.dumps(head, separators=(",", ":")).encode() + b"\n" + file[1][first:])
    return replace(catalogue, kept=None if checksum is None else (kept, checksum))


def shipped_identity(found: Layers) -> list[Any] | None:
    """Return what a compiled catalogue must be of: this program's version, and the contents of all files."""
    import hashlib

    digest = hashlib.sha256()
    for each in found.files:
        try:
            with open(each.path, "rb") as file:
                digest.update(f"{each.relative}\0{each.size}\0".replace(os.sep, "/").encode() + file.read())
        except OSError:
            return None
    return [__version__, SCHEMA, digest.hexdigest()]


def ship(found: Layers, catalogue: Catalogue, path: str) -> None:
    """Write the compiled catalogue of the shipped pattern files, to be put into a package.

    Raises OSError where the file cannot be written.
    """
    root = f"{found.roots[0]}{os.sep}"
    patterns = {key: replace(each, origin=each.origin.removeprefix(root)) for key, each in catalogue.patterns.items()}
    contents = _serialise(shipped_identity(found), replace(catalogue, patterns=patterns))
    if shelf.store(path, contents, 0o644) is None:
        raise OSError(f"{path} could not be written")


def store(found: Layers, catalogue: Catalogue) -> Catalogue:
    """Write the catalogue's cache file and return the catalogue that knows it; what prevents it is not reported."""
    newest = max((file.mtime_ns for file in found.files), default=0)
    if time.time_ns() - newest < _SETTLED_NS:
        return catalogue
    path = cache_path(found)
    checksum = shelf.store(path, _serialise(_identity(found), catalogue))
    return catalogue if checksum is None else replace(catalogue, kept=(path, checksum))


def _serialise(identity: list[Any] | None, catalogue: Catalogue) -> bytes:
    places: dict[str, list[int]] = {}
    bodies: list[bytes] = []
    start = 0
    for name, pattern in catalogue.patterns.items():
        row = pack(pattern)
        body = json.dumps([row, trees_in(row)], separators=(",", ":")).encode()
        places[name] = [start, start + len(body)]
        start += len(body)
        bodies.append(body)
    head = {
        "identity": identity,
        "troubles": [[t.path, t.line, t.column, t.message, t.hint] for t in catalogue.troubles],
        "digest": catalogue.digest,
        "aliases": catalogue.aliases,
        "predictions": catalogue.predictions,
        "codes": catalogue.codes,
        "later": catalogue.later,
        "comparisons": catalogue.comparisons,
        "trees": trees_in([catalogue.predictions, catalogue.later]),
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
