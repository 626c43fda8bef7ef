"""The manual pages in Markdown."""

from __future__ import annotations

from pathlib import Path

from diagnose.catalogue import load
from diagnose.catalogue.model import Alternative, CauseRule, FixRule, Lines, Pattern, Sample
from diagnose.commands.patterns.docs import stale_pages
from diagnose.report.manual_markdown import INDEX, pages

TEA = Pattern(
    "tea-is-cold",
    "The tea is <cold>",
    "code",
    "root",
    "stable",
    (Alternative(regex="the tea is `cold`", exception=("TeaError",), versions="kettle>=2"),),
    family="tea",
    about="Nobody drank it.\n\n# It *stood* too long.",
    explains=("spoon-stands", "network"),
    causes=(CauseRule("a", "It was forgotten in __init__."),),
    fixes=(FixRule("b", "Brew it.", how=(Lines("shell", ("brew --tea",)),), unless="run.hot"),),
    references=("https://example.org/tea", "kettle.py"),
    samples_match=(Sample("TeaError: the tea is `cold`"),),
    samples_no_match=(Sample("the tea is hot", why="it is hot"),),
)
SPOON = Pattern("spoon-stands", "The spoon stands", "network", "cascade", "stable", (), family="cutlery")


def test_a_page_a_family_and_an_index() -> None:
    """Patterns are grouped by their folder; the index leads to each by category."""
    found = pages([TEA, SPOON])
    assert sorted(found) == ["cutlery.md", INDEX, "tea.md"]
    assert "- [tea-is-cold](tea.md#tea-is-cold) The tea is \\<cold>\n" in found[INDEX]
    assert "- [spoon-stands](cutlery.md#spoon-stands) The spoon stands (cascade)\n" in found[INDEX]


def test_a_pattern_has_all_its_parts() -> None:
    """Wordings, samples, causes, fixes with lines to paste, relations and references stand on the page."""
    page = pages([TEA, SPOON])["tea.md"]
    for wanted in (
        "## tea-is-cold\n",
        "- `` TeaError: the tea is `cold` `` (printed by kettle>=2)\n",
        "```text\nTeaError: the tea is `cold`\n```",
        "- It was forgotten in \\_\\_init\\_\\_.\n",
        "1. Brew it.\n\n   shell:\n\n   ```text\n   brew --tea\n   ```\n\n   - already so when: `run.hot`\n",
        "- can cause [spoon-stands](cutlery.md#spoon-stands), network\n",
        "- <https://example.org/tea>\n- kettle.py\n",
    ):
        assert wanted in page


def test_markdown_in_texts_is_shown_not_obeyed() -> None:
    """A pattern's words make no headings, tags or emphasis."""
    assert "\n\\# It \\*stood\\* too long.\n" in pages([TEA])["tea.md"]


def test_pages_do_not_depend_on_the_order() -> None:
    """The same patterns give the same pages."""
    assert pages([TEA, SPOON]) == pages([SPOON, TEA])


def test_stale_pages_are_named(tmp_path: Path) -> None:
    """Missing, changed and superfluous pages are stale."""
    wanted = {"a.md": "a", "b.md": "b", "c.md": "c"}
    for name, text in (("a.md", "a"), ("b.md", "x"), ("d.md", "d")):
        (tmp_path / name).write_text(text)
    assert stale_pages(tmp_path, wanted) == ["b.md", "c.md", "d.md"]


def test_the_pages_in_the_repository_are_current() -> None:
    """docs/patterns is what the pattern files say; `make docs` brings it up to date."""
    folder = Path(__file__).parents[2] / "docs" / "patterns"
    assert stale_pages(folder, pages(list(load(layers=False).patterns.values()))) == []
