"""The releases that a configuration is tried against."""

from __future__ import annotations

import pytest

from diagnose.facts.model import Observation
from diagnose.facts.releases import releases_for, spanning, spans
from diagnose.facts.run import Facts


def given(**versions: str) -> Facts:
    """Make facts of versions."""
    return Facts([Observation(f"version.{name}", text, None, "set") for name, text in versions.items()])


@pytest.mark.parametrize(
    ("framework", "versions", "lines"),
    [
        ("megatron-core", {"core": "0.16.1"}, ["0.16.1"]),
        ("megatron-lm", {"lm": "0.20.0"}, ["0.20.0"]),
        ("megatron-core", {"core": ">=0.17"}, ["0.17", "0.18", "0.19"]),
        ("megatron-core", {}, ["0.12", "0.13", "0.14", "0.15", "0.16", "0.17", "0.18", "0.19"]),
        ("megatron-bridge", {"bridge": "0.5.1"}, ["0.5"]),
        ("megatron-bridge", {}, ["0.2", "0.3", "0.4", "0.5", "0.6"]),
    ],
)
def test_lines(framework: str, versions: dict[str, str], lines: list[str]) -> None:
    """A given release is tried alone; without one, all lines that the given versions allow."""
    assert [each.line for each in releases_for(framework, given(**versions))] == lines


def test_words() -> None:
    """Runs of releases are told from the first to the last; one release needs no words."""
    tried = releases_for("megatron-core", given())
    assert spans(tried, tried) == "Megatron Core 0.12 to 0.19"
    assert spans(tried[4:], tried) == "Megatron Core 0.16 and later"
    assert spans([tried[2], tried[3], tried[5]], tried) == "Megatron Core 0.14 to 0.15, 0.17"
    assert spans(tried[:1], tried[:1]) == ""


def test_spanning() -> None:
    """Several releases have a range of versions in common."""
    tried = releases_for("megatron-bridge", given())
    assert [(each.key, each.value) for each in spanning(tried[1:3])] == [
        ("version.core", ">=0.16,<0.18"),
        ("version.bridge", ">=0.3,<0.5"),
    ]
