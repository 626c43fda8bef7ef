"""The literals of all anchors in one searchable database."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from diagnose.packed import Packed, pack
from diagnose.scan.engine import Needle, build_engine, restore_engine
from diagnose.scan.model import Anchor
from diagnose.typed import Any

MIN_LITERAL = 4
OFTEN = 500  # misfires of one literal
_VARIANTS = 16  # that are remembered: the parts of a source, and the sources of a job, are alike


class Database:
    """Anchors, and an engine that finds their literals. It holds no state of a scan; one thread may use it at a time.

    Args:
        anchors: with unique keys; anchors that share a literal cost no more than one.
        engine: the engine to use, see `diagnose.scan.engine.NAMES`; None takes the fastest that is installed.

    Raises ValueError for a key that comes twice, and for an anchor without literals or with one that is too short or
    holds a newline.
    """

    __slots__ = ("_engine", "_found_needles", "_owners", "_prefer", "_quiet", "_variants", "_whole", "anchors")

    def __init__(self, anchors: Sequence[Anchor], engine: str | None = None) -> None:
        self.anchors: Sequence[Anchor] = tuple(anchors)
        self._prefer = engine
        self._variants: dict[tuple[frozenset[int], frozenset[bytes]], Database] = {}
        self._quiet: frozenset[int] = frozenset()
        self._whole: frozenset[bytes] = frozenset()
        if len({anchor.key for anchor in self.anchors}) < len(self.anchors):
            raise ValueError("two anchors have the same key")
        owners = _owners(self.anchors)
        self._found_needles: list[Needle] | None = list(owners)
        self._owners: Sequence[list[int]] = list(owners.values())
        self._engine = build_engine(self._needles, engine)

    @classmethod
    def restored(cls, anchors: Sequence[Anchor], state: Any) -> Database:
        """Build a database from its `state`, in a fraction of the time.

        Args:
            anchors: those that it was made of; they are looked at only when they are found.
            state: what `state` gave, on the same machine.

        Raises where the installed engine cannot use it.
        """
        owners, engine = state
        database = cls.__new__(cls)
        database.anchors = anchors
        database._prefer = None
        database._variants = {}
        database._quiet = frozenset()
        database._whole = frozenset()
        database._found_needles = None
        database._owners = Packed(owners)
        database._engine = restore_engine(engine)
        return database

    def state(self) -> Any:
        """Return what `restored` needs, as values that `marshal` takes; None where the engine has none."""
        engine = self._engine.state()
        return None if engine is None else (pack(self._owners), engine)

    def __reduce__(self) -> tuple[type[Database], tuple[tuple[Anchor, ...], str | None]]:
        return Database, (tuple(self.anchors), self._prefer)

    @property
    def _needles(self) -> list[Needle]:
        if self._found_needles is None:
            self._found_needles = list(_owners(self.anchors))
        return self._found_needles

    @property
    def engine(self) -> str:
        """The name of the engine in use."""
        return self._engine.name

    @property
    def misfires(self) -> int:
        """How often the engine's first test found something that was not there, since `forget`."""
        return self._engine.misfires.total()

    def forget(self) -> None:
        """Begin to count misfires anew: what one source was like says nothing of the next."""
        self._engine.misfires.clear()

    @property
    def quiet(self) -> frozenset[int]:
        """The anchors of which `find` tells only that they are in a block, not every place."""
        return self._quiet

    def quieted(self, indexes: Collection[int]) -> Database:
        """Build a database that tells only once a block that these anchors' literals are there.

        Those that have an expression stay as they are. What misfired often is looked for in another way.
        """
        quiet = frozenset(index for index in indexes if not self.anchors[index].narrow)
        whole = self._whole | {begin for begin, times in self._engine.misfires.items() if times > OFTEN}
        other = self._variants.get((quiet, whole))
        if other is None:
            other = self._variant(quiet, whole)
            if len(self._variants) >= _VARIANTS:
                self._variants.clear()
            self._variants[quiet, whole] = other
        other.forget()
        return other

    def _variant(self, quiet: frozenset[int], whole: frozenset[bytes]) -> Database:
        other = Database.__new__(Database)
        other.anchors, other._prefer, other._variants = self.anchors, self._prefer, self._variants
        other._owners, other._quiet, other._whole = self._owners, quiet, whole
        numbers = frozenset(number for number, owners in enumerate(self._owners) if quiet.issuperset(owners))
        changed = self._engine.changed(numbers, whole)
        other._found_needles = self._found_needles if changed else self._needles
        other._engine = changed or build_engine(self._needles, self._prefer, numbers, whole)
        return other

    def find(self, data: bytes) -> dict[int, list[int]]:
        """Find the literals of all anchors in a block shorter than 4 GiB.

        Returns the anchors that were found, by their index, with the offsets behind their literals, ascending.
        """
        result: dict[int, list[int]] = {}
        joined = set()
        for number, ends in self._engine.find(data).items():
            for owner in self._owners[number]:
                if owner in result:
                    joined.add(owner)
                    result[owner] = result[owner] + ends
                else:
                    result[owner] = ends
        for owner in joined:
            result[owner] = sorted(set(result[owner]))
        return result


def _owners(anchors: Sequence[Anchor]) -> dict[Needle, list[int]]:
    """All needles, and the anchors that want them."""
    owners: dict[Needle, list[int]] = {}
    for index, anchor in enumerate(anchors):
        for needle in _needles(anchor):
            owners.setdefault(needle, []).append(index)
    return owners


def _needles(anchor: Anchor) -> list[Needle]:
    if not anchor.literals:
        raise ValueError(f"anchor {anchor.key} has no literal")
    for literal in anchor.literals:
        if len(literal) < MIN_LITERAL or b"\n" in literal:
            raise ValueError(f"anchor {anchor.key} has a literal that is too short or holds a newline: {literal!r}")
    values = tuple(sorted({each.lower() if anchor.nocase else each for each in anchor.literals}))
    if anchor.narrow:
        return [Needle(values, anchor.nocase, anchor.narrow)]
    return [Needle((value,), anchor.nocase) for value in values]
