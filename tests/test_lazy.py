"""Expressions that are compiled when they are needed."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator

import pytest

import diagnose
from diagnose.catalogue.expression import Alt, Chars, Node, Repeat, Seq, parse
from diagnose.lazy import Lazy


def _everywhere() -> Iterator[tuple[str, Lazy]]:
    """Find every expression of the program that names what it needs."""
    for module in pkgutil.walk_packages(diagnose.__path__, "diagnose."):
        if module.name.startswith(("diagnose.deliver", "diagnose.commands", "diagnose.__main__")):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            for each in _inside(value):
                if each.needs:
                    yield f"{module.name}.{name}", each


def _inside(value: object) -> Iterator[Lazy]:
    if isinstance(value, Lazy):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _inside(each)


def _texts(node: Node) -> Iterable[str]:
    """Spell what a node stands for: fixed text as it is, a gap for all else, one text a branch."""
    match node:
        case Chars(choices=choices) if len(choices) <= 4:
            return choices
        case Seq(items=items):
            found = [""]
            for each in items:
                found = [head + tail for head in found for tail in _texts(each)]
                assert len(found) < 20_000
            return found
        case Alt(branches=branches):
            return [text for each in branches for text in _texts(each)]
        case Repeat(body=body, least=least, most=most):
            once = list(_texts(body))
            if least == 0:
                return ["", *once] if most == 1 else ["", "\0"]
            return [f"{text}{chr(0) if most != 1 else ''}" for text in once]
    return ["\0"]


@pytest.mark.parametrize(("place", "lazy"), list(_everywhere()), ids=str)
def test_what_is_needed_stands_in_every_match(place: str, lazy: Lazy) -> None:
    """No match of an expression lacks all of what it says it needs."""
    nocase = bool(lazy.flags & re.IGNORECASE)
    for text in _texts(parse(lazy.pattern, nocase=nocase)):
        assert any(need in text for need in lazy.needs), (place, text)


def test_nothing_is_compiled_for_other_text() -> None:
    """Text without what is needed is answered at once, in the form that each method has."""
    lazy = Lazy("(", needs=("(",))  # compiling it would fail
    assert (lazy.search("x"), lazy.match("x"), lazy.fullmatch("x")) == (None, None, None)
    assert (lazy.findall("x"), list(lazy.finditer("x"))) == ([], [])
    with pytest.raises(re.error):
        lazy.search("(")


def test_it_answers_as_the_compiled_expression_does() -> None:
    """Once what is needed is there, the answers are those of `re`, before and after it was compiled."""
    for _ in range(2):
        lazy = Lazy(r"rank(\d+)", re.IGNORECASE, needs=("rank",))
        for text in ("nothing", "RANK7", "rank8 rank9"):
            assert lazy.findall(text) == re.findall(lazy.pattern, text, re.IGNORECASE)
            found, expected = lazy.search(text), re.search(lazy.pattern, text, re.IGNORECASE)
            assert (found and found[0]) == (expected and expected[0])
        assert lazy.sub("-", "a rank1") == "a -"
