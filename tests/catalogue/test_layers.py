from __future__ import annotations

from pathlib import Path
from typing import Any

from diagnose.catalogue import load
from diagnose.catalogue.layers import find_layers


def test_order(world: Path, write: Any) -> None:
    """Layers stand in the order shipped, site, user, project, given."""
    for place in ("given/x/e", "work/.diagnose/patterns/d", "config/diagnose/patterns/c", "site/b", "packaged/x/a"):
        write(f"{place}.yaml", "id: x\n")
    found = find_layers([world / "given"])
    assert [file.stem for file in found.files] == ["a", "b", "c", "d", "e"]
    assert [file.family for file in found.files] == ["x", "", "", "", "x"]
    assert [file.stem for file in find_layers(layers=False).files] == ["a"]


def test_single_file_and_duplicates(world: Path, write: Any) -> None:
    """A file may be given by itself, and one that is reached twice counts once."""
    path = write("packaged/x/a.yaml", "id: a\n")
    other = write("other/b.yml", "id: b\n")
    found = find_layers([world / "packaged", path, other, other])
    assert [file.path for file in found.files] == [str(path), str(other)]


def test_missing(world: Path) -> None:
    """A given path that does not exist is a trouble; a layer that does not exist is none."""
    (trouble,) = find_layers([world / "nowhere"]).troubles
    assert trouble.path == str(world / "nowhere")
    assert find_layers().troubles == []


def test_hidden_and_other_files(world: Path, write: Any) -> None:
    """Hidden files, other endings and loops of links are passed over."""
    write("packaged/x/.a.yaml", "")
    write("packaged/x/README.md", "")
    (world / "packaged" / "x" / "loop").symlink_to(world / "packaged")
    write("packaged/x/a.yaml", "id: a\n")
    assert [file.stem for file in find_layers().files] == ["a"]


class TestOverlays:
    def test_replace(self, packaged: Path, write: Any, good: str) -> None:
        """A later layer may replace a pattern; the family stays."""
        write(
            "config/diagnose/patterns/heads-not-divisible.yaml",
            good.replace("cannot", "can not") + "override: replace\n",
        )
        catalogue = load(cache=False)
        pattern = catalogue.patterns["heads-not-divisible"]
        assert catalogue.troubles == ()
        assert pattern.title == "Attention heads can not be shared out"
        assert pattern.family == "config"
        assert pattern.origin.endswith("config/diagnose/patterns/heads-not-divisible.yaml")

    def test_append(self, packaged: Path, write: Any) -> None:
        """A later layer may add to a pattern's lists, replace single values and merge mappings."""
        text = (
            "id: heads-not-divisible\noverride: append\ntitle: Ours\nreferences: [our wiki]\n"
            "samples: {match: [{text: 'AssertionError', why: bare}]}\n"
        )
        write("work/.diagnose/patterns/heads-not-divisible.yaml", text)
        catalogue = load(cache=False)
        pattern = catalogue.patterns["heads-not-divisible"]
        assert catalogue.troubles == ()
        assert pattern.title == "Ours"
        assert pattern.references[-1] == "our wiki"
        assert len(pattern.references) == 2
        assert (len(pattern.samples_match), len(pattern.samples_no_match)) == (2, 1)

    def test_broken_overlay(self, packaged: Path, write: Any) -> None:
        """A broken overlay costs only itself; the trouble names the overlay."""
        overlay = write(
            "site/heads-not-divisible.yaml", "id: heads-not-divisible\noverride: append\nfixes: [{id: x}]\n"
        )
        catalogue = load(cache=False)
        assert len(catalogue.patterns["heads-not-divisible"].fixes) == 1
        assert [(each.path, each.line) for each in catalogue.troubles] == [(str(overlay), 3)]

    def test_disabled(self, packaged: Path, write: Any) -> None:
        """A pattern can be switched off, also under an old name, and others may still mention it."""
        write("site/old-heads.yaml", "id: old-heads\ndisabled: true\n")
        catalogue = load(cache=False)
        assert list(catalogue.patterns) == []
        assert catalogue.troubles == ()

    def test_id_again(self, packaged: Path, write: Any, good: str) -> None:
        """The same id without a word about it is a trouble, and the first one stays in force."""
        write("site/heads-not-divisible.yaml", good.replace("cannot", "can not"))
        catalogue = load(cache=False)
        (trouble,) = catalogue.troubles
        assert "already given" in trouble.message
        assert "override: replace" in trouble.hint
        assert catalogue.patterns["heads-not-divisible"].title == "Attention heads cannot be shared out"

    def test_nothing_to_overlay(self, packaged: Path, write: Any) -> None:
        """An overlay over nothing is a trouble."""
        write("site/other.yaml", "id: other\ndisabled: true\n")
        (trouble,) = load(cache=False).troubles
        assert "no earlier layer has a pattern `other`" in trouble.message

    def test_shared_entries(self, packaged: Path, write: Any) -> None:
        """A later layer's shared check replaces the one of the same id, also for shipped patterns."""
        write("site/_shared/checks.yaml", "- {id: pipeline, question: Ours?, look: Ask.}\n")
        assert load(cache=False).patterns["heads-not-divisible"].checks[1].question == "Ours?"

    def test_broken_shared_entry(self, packaged: Path, write: Any) -> None:
        """A broken shared entry costs itself, and the patterns that use it say so."""
        path = write("packaged/_shared/checks.yaml", "- {id: pipeline}\n- {id: other, question: A?, look: b}\n")
        troubles = load(cache=False).troubles
        assert {each.path for each in troubles} == {str(path), str(packaged)}
        assert any("no shared entry is called `pipeline`" in each.message for each in troubles)
