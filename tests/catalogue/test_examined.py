"""Tests of what is kept about expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diagnose.catalogue import examine as module
from diagnose.catalogue import examined
from diagnose.catalogue.examine import examine
from diagnose.catalogue.examined import Examined
from diagnose.catalogue.literals import required_literals

TEXTS = [r"CUDA out of memory\. Tried to allocate (?P<asked>[\d.]+) GiB", r"(?i)nccl error (?P<code>\d+)", "ab", r"a|b"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep apart what these tests keep."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "diagnose"


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make examining impossible."""

    def fail(*_: object) -> None:
        raise AssertionError("an expression was examined again")

    monkeypatch.setattr(module, "examine", fail)
    monkeypatch.setattr(examined, "required_literals", fail)


def ask(known: Examined) -> list[Any]:
    """Return all that is known of the texts."""
    return [(known.examine(text), known.literals(text)) for text in TEXTS]


def test_kept_is_what_was_found_out(request: pytest.FixtureRequest) -> None:
    """What a later start takes from the file is what the functions said."""
    first = Examined()
    assert ask(first) == [(examine(text), required_literals(text)) for text in TEXTS]
    first.save()
    request.getfixturevalue("idle")
    assert ask(Examined()) == ask(first)


def test_nothing_new_is_nothing_to_keep(cache: Path) -> None:
    """Only what is new is written."""
    Examined().save()
    assert not cache.exists()
    first = Examined()
    ask(first)
    first.save()
    (path,) = cache.iterdir()
    path.unlink()
    first.save()
    assert not list(cache.iterdir())


def test_faults_are_found_anew() -> None:
    """A broken expression is never kept: where it is wrong is told each time."""
    first = Examined()
    assert first.examine("(x") == examine("(x")
    first.save()
    assert Examined().examine("(x")[1] == examine("(x")[1]
    assert examine("(x")[1]


@pytest.mark.parametrize("damage", [b"", b"x" * 40, None])
def test_file_that_does_not_fit_is_passed_over(
    damage: bytes | None, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged file, and one of another release or Python, is not used."""
    first = Examined()
    ask(first)
    first.save()
    (path,) = cache.iterdir()
    if damage is None:
        monkeypatch.setattr(examined, "__version__", "0.0.0")
    else:
        path.write_bytes(damage)
    calls: list[str] = []
    real = examine

    def counted(text: str) -> Any:
        calls.append(text)
        return real(text)

    monkeypatch.setattr(module, "examine", counted)
    ask(Examined())
    assert calls == TEXTS
