"""The rules that place exceptions which no pattern knows are read strictly, layer over layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from diagnose.catalogue import load
from diagnose.catalogue.examine import runaway
from diagnose.catalogue.model import PlacementRule

from .conftest import Write

FILE = "site/_shared/placement.yaml"
SHIPPED = Path(__file__).parents[2] / "patterns"


def test_rule(write: Write) -> None:
    """A rule's expressions become one; those over the message do not look at case."""
    write(
        FILE,
        "rules:\n"
        "  - type: [FrobError]\n"
        "    rules:\n"
        "      - {category: data, message: [frob, 'b[ai]r'], unless: [baz]}\n"
        "      - {category: code, frame: ['/x\\.py'], library: true}\n"
        "  - no_place: [/skip/]\n"
        "    places: {config: [/args/, /cfg/], data: [/data/]}\n",
    )
    first, second = load().placement
    inner, other = first.rules
    assert first.type == ("FrobError",)
    assert (inner.category, inner.message, inner.unless) == ("data", "(?is)(?:frob|b[ai]r)", "(?is)(?:baz)")
    assert (other.frame, other.library) == (r"(?:/x\.py)", True)
    assert second.places == (("config", "(?:/args/|/cfg/)"), ("data", "(?:/data/)"))
    assert second.no_place == "(?:/skip/)"


def test_later_layers_are_asked_first(write: Write) -> None:
    """The user's rules stand before the site's."""
    write(FILE, "rules:\n  - {category: code}\n")
    write("config/diagnose/patterns/_shared/placement.yaml", "rules:\n  - {category: data}\n")
    assert [rule.category for rule in load().placement] == ["data", "code"]


@pytest.mark.parametrize(
    ("rule", "place", "message"),
    [
        ("{category: frob}", "2:16", "`category` cannot be 'frob'"),
        ("{message: [x]}", "2:5", "a rule has one of `category`, `places` and `rules`"),
        ("{category: code, rules: [{category: data}]}", "2:5", "a rule has one of"),
        ("{category: code, mesage: [x]}", "2:22", "a rule has no key `mesage`"),
        ("{category: code, message: ['a(']}", "2:32", "the expression is wrong"),
        ("{category: code, message: ['(a)']}", "2:32", "a group without a name"),
        ("{places: {frob: [x]}}", "2:15", "`places` has no key `frob`"),
        ("{rules: [{rules: [{rules: [{category: code}]}]}]}", "2:31", "at most 3 deep"),
        ("frob", "2:5", "must be a mapping"),
    ],
)
def test_broken(rule: str, place: str, message: str, write: Write) -> None:
    """A rule that is wrong is left out, with its place and what is wrong."""
    path = write(FILE, f"rules:\n  - {rule}\n  - {{category: code}}\n")
    catalogue = load()
    assert [each.category for each in catalogue.placement] == ["code"]
    assert [str(each).split("\n")[0] for each in catalogue.troubles if message in each.message] != []
    assert str(catalogue.troubles[0]).startswith(f"{path}:{place}: ")


def test_not_a_mapping(write: Write) -> None:
    """A file of another shape gives no rules, and says so."""
    write(FILE, "- {category: code}\n")
    catalogue = load()
    assert catalogue.placement == ()
    assert "are a mapping" in catalogue.troubles[0].message


def expressions(rules: Sequence[PlacementRule]) -> Iterator[str]:
    """Yield all expressions of rules."""
    for rule in rules:
        yield from (rule.message, rule.unless, rule.frame, rule.code, rule.no_place)
        yield from (text for _, text in rule.places)
        yield from expressions(rule.rules)


def test_shipped_expressions_do_not_run_away() -> None:
    """No hostile message or path keeps the shipped rules busy."""
    rules = load(extra=[SHIPPED]).placement
    assert len(rules) > 40
    assert [text[:80] for text in expressions(rules) if text and runaway(text)] == []
