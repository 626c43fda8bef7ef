"""Templates: values, formats, and parts that are left out."""

from __future__ import annotations

from diagnose.catalogue.template import placeholders, render, show_size, valid_format
from tests.catalogue.test_condition import Known

SCOPE = Known(capture__asked="320.00 MiB", let__cached=12_810_000_000, config__modules=["mlp"], version__core="0.16.1")


def test_render() -> None:
    """Captures may be short, sizes are written as PyTorch writes them, lists in brackets."""
    text = render("asked {asked}, cached {let.cached:size}, {config.modules} on {core}", SCOPE)
    assert text == "asked 320.00 MiB, cached 11.93 GiB, [mlp] on 0.16.1"


def test_optional_part() -> None:
    """A bracketed part with an unknown value is left out; brackets without placeholder stay."""
    assert render("a[ with {config.pp} stages] [b]", SCOPE) == "a [b]"


def test_unknown_value() -> None:
    """A template that needs an unknown value gives nothing."""
    assert render("{capture.nothing}", SCOPE) is None


def test_braces_that_are_no_placeholder() -> None:
    """JSON to paste keeps its braces."""
    assert render('"zero_optimization": {"stage": 3}', SCOPE) == '"zero_optimization": {"stage": 3}'


def test_lines_to_paste() -> None:
    """In a line to paste brackets belong to it: nothing of it is left out."""
    line = "volumes: [{name: shm, emptyDir: {medium: Memory}}]"
    assert (render(line, SCOPE, pasted=True) or line) == line
    assert render("--modules [{config.modules}]", SCOPE, pasted=True) == "--modules [[mlp]]"


def test_placeholders() -> None:
    """Names are resolved as conditions resolve them."""
    assert placeholders("{x} {config.y:size} {torch}") == [
        ("capture.x", ""),
        ("config.y", "size"),
        ("version.torch", ""),
    ]


def test_formats() -> None:
    """Only sizes and number formats are formats."""
    assert valid_format("size")
    assert valid_format(".1f")
    assert not valid_format("x y")


def test_show_size() -> None:
    """Sizes below a KiB are bytes."""
    assert show_size(12) == "12 B"
    assert show_size("nonsense") == "nonsense"
