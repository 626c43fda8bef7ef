from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from diagnose.catalogue import load
from diagnose.catalogue.loader import check_files
from diagnose.catalogue.model import Lines, Near

BROKEN: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "data" / "broken.yaml").read_text())


class TestGood:
    def test_no_trouble(self, packaged: Path) -> None:
        """A file without faults has no trouble, and its samples hold."""
        assert check_files([packaged]) == []

    def test_alternatives(self, packaged: Path) -> None:
        """All keys of an alternative arrive, with the literal found by the program."""
        first, second = load(cache=False).patterns["heads-not-divisible"].match
        assert first.exception == ("ValueError", "AssertionError")
        assert first.unless == ("not num_query_groups",)
        assert first.near == (Near("parallel sizes", 5, "before", True),)
        assert first.implies == {"config.num_attention_heads": "{heads}", "config.sequence_parallel": True}
        assert first.literals
        assert all(literal in "num_attention_heads (30) must be a multiple of tensor" for literal in first.literals)
        assert (second.regex, second.literals) == ("", ("AssertionError",))

    def test_rules(self, packaged: Path) -> None:
        """Checks, causes and fixes arrive in order; a shared check is resolved."""
        pattern = load(cache=False).patterns["heads-not-divisible"]
        assert [(check.id, check.when) for check in pattern.checks] == [
            ("sizes-fit", "let.remainder == 0"),
            ("pipeline", "config.pipeline > 1"),
        ]
        assert pattern.fixes[0].how == (
            Lines("bridge", ("cfg.model.tensor_model_parallel_size = 4",)),
            Lines(
                "megatron-lm",
                ("--tensor-model-parallel-size 4", "--sequence-parallel"),
                'core >= "0.10"',
                "Megatron Core 0.10 and later",
            ),
        )
        assert pattern.samples_match[0].expect == {"heads": "30"}
        assert pattern.family == "config"

    def test_index(self, packaged: Path) -> None:
        """The catalogue lists what the scan and the prediction need without the patterns."""
        catalogue = load(cache=False)
        assert [(each.pattern, each.number, each.framed) for each in catalogue.wordings] == [
            ("heads-not-divisible", 0, False),
            ("heads-not-divisible", 1, True),
        ]
        assert list(catalogue.predictions) == ["heads-not-divisible"]
        assert catalogue.aliases == {"old-heads": "heads-not-divisible"}


@pytest.mark.parametrize("case", BROKEN, ids=[f"{case['with'] or 'without ' + case['text']}"[:40] for case in BROKEN])
def test_broken(case: dict[str, Any], packaged: Path, good: str) -> None:
    """Each fault is reported with the line and column of the very key or value."""
    assert case["text"] in good
    text = good.replace(case["text"], case["with"], 1)
    packaged.write_text(text)
    troubles = check_files([packaged])
    told = [each for each in troubles if case["says"] in f"{each.message} {each.hint}"]
    assert told, [str(each) for each in troubles]
    assert all(each.path == str(packaged) for each in troubles)
    if case["at"]:
        before = text[: text.index(case["at"])]
        places = [(each.line, each.column) for each in told]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        # An expression's own column lies inside of it.
        assert any(place[0] == line and 0 <= place[1] - column < 90 for place in places), places


def test_a_broken_file_is_not_in_force(packaged: Path, good: str) -> None:
    """A pattern with a trouble is left out, and the trouble is kept."""
    packaged.write_text(good.replace("role: root", "role: rooot"))
    catalogue = load(cache=False)
    assert list(catalogue.patterns) == []
    assert len(catalogue.troubles) == 1


def test_shared_names_are_blamed_on_the_user(packaged: Path, write: Any) -> None:
    """A shared check that asks for what this file lacks is reported where it is used."""
    write("packaged/_shared/checks.yaml", "- {id: pipeline, question: Is it on?, when: check.nowhere}\n")
    (trouble,) = check_files([packaged])
    assert "no earlier check `nowhere`" in trouble.message
    assert trouble.line == packaged.read_text().split("\n").index("  - use: pipeline") + 1


def test_a_cascade_needs_no_causes(packaged: Path, good: str) -> None:
    """Only a root needs causes, fixes and references."""
    head, _, _ = good.partition("let:")
    samples = good[good.index("samples:") :]
    text = head.replace("role: root", "role: cascade").replace("[, {let.remainder:d} left]", "")
    packaged.write_text(text + "checks: []\ncauses: []\nfixes: []\nreferences: []\n" + samples)
    assert check_files([packaged]) == []
