from __future__ import annotations

from pathlib import Path
from typing import Any

from diagnose.catalogue import check_files, load
from diagnose.data import data_folder, data_path


def test_broken_files_cost_only_themselves(packaged: Path, write: Any, world: Path) -> None:
    """Whatever lies beside a good file, the good file is in force."""
    write("packaged/config/empty.yaml", "")
    write("packaged/config/list.yaml", "- a\n")
    write("packaged/config/bad.yaml", "a: [")
    write("packaged/config/short.yaml", "id: short\n")
    (world / "packaged" / "config" / "binary.yaml").write_bytes(bytes(range(256)))
    catalogue = load(cache=False)
    assert list(catalogue.patterns) == ["heads-not-divisible"]
    assert {Path(each.path).stem for each in catalogue.troubles} == {"empty", "list", "bad", "short", "binary"}


def test_check_outside_of_the_layers(packaged: Path, write: Any, good: str) -> None:
    """A file that lies in no layer is checked with the layers' shared entries, and only its troubles are told."""
    write("packaged/config/bad.yaml", "id: bad\n")
    draft = write(
        "drafts/draft.yaml", good.replace("heads-not-divisible\n", "draft\n").replace("old-heads", "old-draft")
    )
    assert check_files([draft]) == []
    draft.write_text(draft.read_text().replace("category: config", "category: x"))
    assert [each.path for each in check_files([draft])] == [str(draft)]


def test_check_a_folder(packaged: Path, write: Any) -> None:
    """A folder stands for all files in it."""
    bad = write("packaged/config/bad.yaml", "id: bad\n")
    assert {each.path for each in check_files([packaged.parent])} == {str(bad)}


def test_check_missing(world: Path) -> None:
    """A path that does not exist is a trouble."""
    (trouble,) = check_files([world / "nowhere.yaml"])
    assert "no such file" in trouble.message


def test_alias_of_another(packaged: Path, write: Any, good: str) -> None:
    """An alias may not be another pattern's name."""
    text = good.replace("heads-not-divisible\n", "other\n").replace("old-heads", "heads-not-divisible")
    write("site/other.yaml", text)
    (trouble,) = load(cache=False).troubles
    assert "another pattern's name" in trouble.message


def test_data_folders() -> None:
    """Schemas and patterns are found in a source checkout."""
    assert (data_path("schemas") / "pattern-v1.schema.json").is_file()
    assert Path(data_folder("patterns")).is_dir()


class TestSamples:
    def test_no_alternative_matches(self, packaged: Path, good: str) -> None:
        """A sample that no expression matches is reported at its text."""
        packaged.write_text(good.replace("heads (30) must", "heads (thirty) must"))
        told = [each.message for each in check_files([packaged])]
        assert told == ["no alternative matches a line of this sample"]

    def test_prefixes(self, packaged: Path, good: str) -> None:
        """A launcher's prefix before a sample's body does not matter."""
        packaged.write_text(good.replace("'ValueError: num", "'[default3]:[rank3]: ValueError: num"))
        assert check_files([packaged]) == []

    def test_look_alike(self, packaged: Path, good: str) -> None:
        """A look-alike that an expression matches by itself is reported."""
        alternative = "match:\n  - {regex: 'num_attention_heads \\.+ \\d+', context: line}\n"
        packaged.write_text(good.replace("match:\n", alternative, 1))
        assert any("alternative 1 matches this look-alike" in each.message for each in check_files([packaged]))

    def test_literal(self, packaged: Path, good: str) -> None:
        """A given literal that a matching line lacks is reported."""
        packaged.write_text(good.replace("    not: ", "    literal: tensorflow\n    not: "))
        told = [(each.line, each.message) for each in check_files([packaged])]
        assert told == [(13, "a line that the expression matches has none of its literals")]

    def test_runaway(self, packaged: Path, good: str) -> None:
        """An expression that runs away on hostile texts is reported."""
        packaged.write_text(good.replace("must be a multiple", "(?:m|mm|u?m)+(?:m|mu?)+ multiple", 1))
        assert any(each.message == "an expression runs away" for each in check_files([packaged]))
