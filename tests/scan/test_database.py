"""Anchors and their literals."""

from __future__ import annotations

import pickle

import pytest

from diagnose.scan.database import Database
from diagnose.scan.engine import NAMES
from diagnose.scan.model import Anchor


@pytest.mark.parametrize("engine", NAMES)
def test_places_are_told_by_anchor(engine: str) -> None:
    """Anchors that share a literal are both told; an anchor with several literals gets all places in order."""
    anchors = [Anchor("a", (b"first", b"second")), Anchor("b", (b"second",)), Anchor("c", (b"THIRD",), nocase=True)]
    database = Database(anchors, engine)
    assert database.engine == engine
    assert database.find(b"second first third") == {0: [6, 12], 1: [6], 2: [18]}
    assert database.find(b"") == {}


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ([Anchor("a", ())], "has no literal"),
        ([Anchor("a", (b"abc",))], "too short"),
        ([Anchor("a", (b"abcd\n",))], "newline"),
        ([Anchor("a", (b"abcd",)), Anchor("a", (b"efgh",))], "same key"),
    ],
)
def test_bad_anchors_are_refused(anchors: list[Anchor], message: str) -> None:
    """A literal that cannot work, and a key that comes twice, are errors of the caller."""
    with pytest.raises(ValueError, match=message):
        Database(anchors)


def test_a_database_travels_to_a_worker() -> None:
    """A pickled database is built again on the other side."""
    database = pickle.loads(pickle.dumps(Database([Anchor("a", (b"abcd",))], "plain")))
    assert database.engine == "plain"
    assert database.find(b"abcd") == {0: [4]}


@pytest.mark.parametrize("engine", NAMES)
def test_quieted_anchors_are_told_once(engine: str) -> None:
    """A quieted anchor is told once a block, unless a louder one needs the same literal."""
    anchors = [
        Anchor("a", (b"abcd",)),
        Anchor("b", (b"efgh",)),
        Anchor("c", (b"efgh",)),
        Anchor("d", (b"ijkl",), narrow="ijkl"),
    ]
    database = Database(anchors, engine)
    data = b"abcd abcd efgh efgh ijkl ijkl"
    quieted = database.quieted({0, 1, 3})
    assert quieted.quiet == {0, 1}
    assert {index: len(ends) for index, ends in quieted.find(data).items()} == {0: 1, 1: 2, 2: 2, 3: 2}
    assert {index: len(ends) for index, ends in database.find(data).items()} == {0: 2, 1: 2, 2: 2, 3: 2}
    assert database.quiet == frozenset()
