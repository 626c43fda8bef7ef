"""An expression on trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.author import UnreadableLogError, try_expression
from diagnose.catalogue.model import Catalogue

LOG = """\
[rank0]: shard 3 of fleet is gone
[rank1]: shard 4 of fleet is gone
[rank2]: shard x of fleet is gone
ModuleNotFoundError: No module named 'fleet_shards'
nothing here
"""


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A small log."""
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return str(path)


def test_matched_and_missed(log: str) -> None:
    """Lines are counted, captures shown, and a line that nearly matches is explained."""
    trial = try_expression(r"shard (?P<shard>\d+) of fleet", [log], Catalogue({}))
    assert (trial.matched, trial.candidates, trial.lines) == (2, 3, 5)
    assert [each.captures for each in trial.found] == [{"shard": "3"}, {"shard": "4"}]
    (missed,) = trial.missed
    assert (missed.fits, missed.fails) == ("shard ", r"(?P<shard>\d+) of fleet")
    assert trial.microseconds > 0
    assert trial.rarity is not None
    assert not trial.rarity.common


def test_other_patterns_are_named(log: str, packaged: Catalogue) -> None:
    """Patterns that match the same line are said."""
    trial = try_expression("No module named", [log], packaged)
    assert trial.also
    assert all(id in packaged.patterns for id in trial.also)


def test_without_a_literal(log: str) -> None:
    """All lines are looked at, and the trial says that the scan could not."""
    trial = try_expression(r"\d of \w+ is", [log], Catalogue({}))
    assert trial.literals == ()
    assert trial.matched == 2


def test_common_literals(log: str) -> None:
    """A literal that healthy logs are full of is called common."""
    trial = try_expression("iteration", [log], Catalogue({}))
    assert trial.rarity is not None
    assert trial.rarity.common


def test_a_wrong_expression(log: str) -> None:
    """It is not tried; the fault has its place."""
    trial = try_expression("shard (", [log], Catalogue({}))
    assert trial.lines == 0
    assert "wrong" in trial.faults[0].message


def test_unreadable(tmp_path: Path) -> None:
    """Where no log can be read, that is an error."""
    with pytest.raises(UnreadableLogError):
        try_expression("shard", [str(tmp_path / "nowhere.log")], Catalogue({}))
