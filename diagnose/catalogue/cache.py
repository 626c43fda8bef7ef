"""Keeps the compiled catalogue on disk, so that a start reads no YAML and builds only the patterns it needs.

The head of a cache file has what every start needs; behind it lie what the scan's database is made of, and a row for
each pattern. It is named after the program's version and the layers, and holds each file's time and size: an edit makes
it stale. Whatever is wrong with it, the YAML files are read instead.
"""

from __future__ import annotations

import marshal
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from diagnose import __version__, shelf
from diagnose.catalogue.condition import remember, trees_in
from diagnose.catalogue.layers import Layers
from diagnose.catalogue.model import Catalogue, Pattern, Trouble
from diagnose.catalogue.rows import pack, placement_of, plain, unpack, wordings_of
from diagnose.classes import replace
from diagnose.typed import Any, TypeVar, overload

SHIPPED = "catalogue.json"  # beside the folder of the shipped patterns, in a package
SCHEMA = 8  # of the cache file; raised when the meaning of a field changes
# A file edited twice within one tick of a coarse file-system clock could look unedited.
_SETTLED_NS = 2_000_000_000
_PARTS = ("wordings", "placement")  # read when they are asked for, beside the patterns' rows
_DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError)

_T = TypeVar("_T")


class LazyPatterns(Mapping[str, Pattern]):
    """Patterns by id, each built from its row in the file when it is first asked for."""

    def __init__(self, file: _File, places: dict[str, Sequence[int]], root: str = "") -> None:
        """Take the file, and for each id where its row begins and ends there and the row's checksum.

        `root` is the folder that the patterns' origins are told from; "" where they are whole.
        """
        self._root = root
        self._file = file
        self._places = places
        self._built: dict[str, Pattern] = {}

    def __getitem__(self, key: str) -> Pattern:
        found = self._built.get(key)
        if found is None:
            place = self._places[key]
            try:
                row, trees = self._file.read(place)
                remember(trees)
                found = unpack(row)
            except _DAMAGE:
                return self._file.again().patterns[key]
            if self._root:
                found = replace(found, origin=f"{self._root}{os.sep}{found.origin}")
            self._built[key] = found
        return found

    def __reduce__(self) -> tuple[type[dict[str, Pattern]], tuple[dict[str, Pattern]]]:
        return dict, (dict(self),)  # an open file stays with its process

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class LazyPart(Sequence[_T]):
    """A sequence that is read from the file when something of it is asked for."""

    def __init__(
        self,
        file: _File,
        place: Sequence[int],
        build: Callable[[Any], tuple[_T, ...]],
        again: Callable[[Catalogue], Sequence[_T]],
    ) -> None:
        """Take the file, where in it the part begins and ends and its checksum, and what makes the sequence of it.

        `again` takes the sequence out of a catalogue read anew, for when the file proves damaged.
        """
        self._file = file
        self._place = place
        self._build = build
        self._again = again
        self._read: Sequence[_T] | None = None

    def _all(self) -> Sequence[_T]:
        if self._read is None:
            try:
                self._read = self._build(self._file.read(self._place))
            except _DAMAGE:
                self._read = self._again(self._file.again())
        return self._read

    def __reduce__(self) -> tuple[type[tuple[_T, ...]], tuple[tuple[_T, ...]]]:
        return tuple, (tuple(self),)

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_T]: ...
    def __getitem__(self, index: int | slice) -> _T | Sequence[_T]:
        return self._all()[index]

    def __iter__(self) -> Iterator[_T]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


class _File:
    """An open cache file, and the pattern files themselves for when it proves damaged."""

    def __init__(self, kept: shelf.Kept, decode: Callable[[bytes], Any], found: Layers) -> None:
        self._kept = kept
        self._decode = decode
        self._found = found
        self._whole: Catalogue | None = None

    def read(self, place: Sequence[int]) -> Any:
        return self._decode(self._kept.part(*place))

    def again(self) -> Catalogue:
        if self._whole is None:
            from diagnose.catalogue.assemble import assemble

            self._whole = store(self._found, assemble(self._found).catalogue())
        return self._whole


def cache_path(found: Layers) -> str:
    """Return the cache file for these layers."""
    # A collision only costs time: the identity stands in the file and is compared.
    key = zlib.crc32(repr(_place(found)).encode())
    return os.path.join(shelf.folder(), f"catalogue-{key:08x}.kept")


def _place(found: Layers) -> list[Any]:
    # Layers without a file are the same everywhere: a job's own folder needs no catalogue of its own.
    used = {layer for layer, *_ in found.stamp}
    roots = [(layer, root, os.path.abspath(root)) for layer, root in enumerate(found.roots) if layer in used]
    return [__version__, SCHEMA, sys.version_info[:3], roots, [trouble.path for trouble in found.troubles]]


def _identity(found: Layers) -> bytes:
    return repr([*_place(found), found.stamp]).encode()


def fetch(found: Layers) -> Catalogue | None:
    """Return the cached catalogue of these layers; None where there is none, or it is stale or damaged."""
    path = cache_path(found)
    kept = shelf.fetch(path)
    return None if kept is None else _opened(path, kept, _identity(found), marshal.loads, found)


def _opened(
    path: str, kept: shelf.Kept, identity: object, decode: Callable[[bytes], Any], found: Layers, root: str = ""
) -> Catalogue | None:
    try:
        head = decode(kept.head)
        if head["identity"] != identity:
            return None
        file = _File(kept, decode, found)
        remember(head["trees"])
        return Catalogue(
            patterns=LazyPatterns(file, head["places"], root or head.get("root", "")),
            troubles=tuple(Trouble(*row) for row in head["troubles"]),
            digest=head["digest"],
            aliases=head["aliases"],
            wordings=LazyPart(file, head["wordings"], wordings_of, lambda whole: whole.wordings),
            placement=LazyPart(file, head["placement"], placement_of, lambda whole: whole.placement),
            predictions=head["predictions"],
            codes=head["codes"],
            later=head["later"],
            comparisons=head["comparisons"],
            kept=(path, kept.checksum),
        )
    except _DAMAGE:
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
    import json

    kept = shelf.fetch(path, shipped=True)
    catalogue = None if kept is None else _opened(path, kept, identity, json.loads, found, root)
    if catalogue is None or kept is None:
        return None
    file, head = _File(kept, json.loads, found), json.loads(kept.head)
    try:
        rows = {name: file.read(place) for name, place in head["places"].items()}
        parts = _laid_out(
            {**head, "identity": _identity(found), "root": root}, [file.read(head[part]) for part in _PARTS], rows
        )
    except _DAMAGE:
        return None
    mine = cache_path(found)
    checksum = shelf.store(mine, *parts)
    return replace(catalogue, kept=None if checksum is None else (mine, checksum))


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
    import json

    def encode(value: Any) -> bytes:
        return json.dumps(value, separators=(",", ":")).encode()  # any Python that installs the package reads it

    root = f"{found.roots[0]}{os.sep}"
    patterns = {key: replace(each, origin=each.origin.removeprefix(root)) for key, each in catalogue.patterns.items()}
    parts = _serialise(shipped_identity(found), replace(catalogue, patterns=patterns), encode)
    if shelf.store(path, *parts, shipped=True) is None:
        raise OSError(f"{path} could not be written")


def store(found: Layers, catalogue: Catalogue) -> Catalogue:
    """Write the catalogue's cache file and return the catalogue that knows it; what prevents it is not reported."""
    newest = max((file.mtime_ns for file in found.files), default=0)
    if time.time_ns() - newest < _SETTLED_NS:
        return catalogue
    path = cache_path(found)
    checksum = shelf.store(path, *_serialise(_identity(found), catalogue))
    return catalogue if checksum is None else replace(catalogue, kept=(path, checksum))


def _serialise(
    identity: object, catalogue: Catalogue, encode: Callable[[Any], bytes] = marshal.dumps
) -> tuple[bytes, bytes]:
    rows = {name: pack(pattern) for name, pattern in catalogue.patterns.items()}
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
    }
    wordings = [
        [each.pattern, each.number, each.literals, each.nocase, each.exception, each.framed]
        for each in catalogue.wordings
    ]
    parts = [wordings, pack(catalogue.placement)]
    return _laid_out(head, parts, {name: [row, trees_in(row)] for name, row in rows.items()}, encode)


def _laid_out(
    head: dict[str, Any], parts: list[Any], rows: dict[str, Any], encode: Callable[[Any], bytes] = marshal.dumps
) -> tuple[bytes, bytes]:
    """Put the parts and the patterns' rows one behind the other; the head says where each is."""
    places, bodies = shelf.lay_out([encode(plain(each)) for each in (*parts, *rows.values())])
    of_parts = dict(zip(_PARTS, places, strict=False))
    return encode({**plain(head), **of_parts, "places": dict(zip(rows, places[len(_PARTS) :], strict=True))}), bodies
