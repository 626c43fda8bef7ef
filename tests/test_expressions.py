"""Compiled expressions that are kept between starts."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import diagnose
from diagnose import expressions
from diagnose.api import load_catalogue
from diagnose.expressions import Expressions
from diagnose.lazy import Lazy

ROOT = Path(diagnose.__file__).parents[1]
TEXTS = ("NCCL error 5: rank 17 of 64", "nccl", "", "a\nRank 3", "RANK 9 \u0130 x")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Path(expressions._File()._path())


def _own() -> Iterator[Lazy]:
    """Find all expressions of the program itself."""
    for module in pkgutil.walk_packages(diagnose.__path__, "diagnose."):
        if module.name.startswith(("diagnose.read", "diagnose.facts", "diagnose.reason")):
            yield from (each for each in vars(importlib.import_module(module.name)).values() if isinstance(each, Lazy))


def _nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("it was compiled")

    monkeypatch.setattr(re, "compile", fail)
    monkeypatch.setattr("diagnose.catalogue.examine.compile_expression", fail)


def test_what_is_kept_is_what_was_compiled(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All expressions of the program and of the shipped patterns are taken back, and find what they found."""
    first = Expressions()
    own = {(each.pattern, int(each.flags)) for each in _own()}
    patterns = load_catalogue().patterns.values()
    shipped = {each.regex for pattern in patterns for each in pattern.match if each.regex}
    lines = [*TEXTS, *(sample.text for pattern in patterns for sample in pattern.samples_match[:1])]
    expected = {key: _found(first.standard(*key), lines) for key in own}
    known = {text: _found(first.compiled(text), lines) for text in shipped}
    first.save()
    _nothing_is_compiled(monkeypatch)
    second = Expressions()
    assert {key: _found(second.standard(*key), lines) for key in own} == expected
    assert {text: _found(second.compiled(text), lines) for text in shipped} == known


def _found(expression: object, lines: list[str]) -> list[object]:
    assert expression is not None
    found = [expression.search(line) for line in lines]  # type: ignore[attr-defined]
    return [(each.span(), each.groups(), each.groupdict()) if each else None for each in found]


def test_no_expression(cache: Path) -> None:
    """What is no expression is none, today and at the next start; for `re` it is an error."""
    for _ in range(2):
        own = Expressions()
        assert own.compiled("(") is None
        with pytest.raises(re.error):
            own.standard("(", 0)
        own.save()


@pytest.mark.parametrize("damage", ["cut", "other", "python", "empty"])
def test_a_file_that_does_not_fit_is_passed_over(damage: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged file, one with something else in it, and one of another Python cost time only."""
    own = Expressions()
    assert own.compiled("a(?P<b>b)")
    assert own.standard("a(b)", re.IGNORECASE)
    own.save()
    data = cache.read_bytes()
    if damage == "python":
        monkeypatch.setattr(sys, "version", "0.0")
    else:
        cache.write_bytes({"cut": data[:-20], "other": b"00000000\n", "empty": b""}[damage])
    again = Expressions()
    found = again.compiled("a(?P<b>b)")
    assert found is not None
    assert found.fullmatch("ab")
    assert again.standard("a(b)", re.IGNORECASE).fullmatch("AB")
    again.save()
    assert len(cache.read_bytes()) > 50


def test_each_environment_has_its_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two environments with one cache folder do not take turns in writing one file."""
    here = sys.version
    for version in (here, "0.0", here):
        monkeypatch.setattr(sys, "version", version)
        own = Expressions()
        assert own.compiled("a")
        assert bool(own._fresh) == (not list(cache.parent.glob("*.re")) or version == "0.0")
        own.save()


def test_programs_of_other_processes_are_not_lost(cache: Path) -> None:
    """What another process kept meanwhile stays."""
    one, other = Expressions(), Expressions()
    for own, text in ((one, "one"), (other, "other")):
        assert own.compiled(text)
    one.save()
    other.save()
    assert set(expressions._File().regex) == {"one", "other"}


def test_the_package_is_not_loaded_for_kept_programs(cache: Path, tmp_path: Path) -> None:
    """The second start on a log loads the engine of `regex` only; the package works beside it."""
    (tmp_path / "x.log").write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    code = (
        f"import sys; from diagnose.commands import main; main([{str(tmp_path / 'x.log')!r}]); "
        "print('regex' in sys.modules, 'regex._regex' in sys.modules); import regex; "
        "print(regex.search('b+', 'abb').group())"
    )
    for expected in (["True True", "bb"], ["False True", "bb"]):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        run = [sys.executable, "-c", code]
        done = subprocess.run(run, capture_output=True, text=True, check=False, env=environment)
        assert (done.stdout.splitlines()[-2:], done.stderr) == (expected, "")
