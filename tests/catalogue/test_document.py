from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.catalogue.document import MAX_BYTES, Items, Scalar, Table, number, plain, read_document


def trouble(data: bytes) -> tuple[int, int, str]:
    """Return the place and the words of the only trouble."""
    _, troubles = read_document("x.yaml", data)
    assert len(troubles) == 1
    assert troubles[0].path == "x.yaml"
    return troubles[0].line, troubles[0].column, f"{troubles[0].message} | {troubles[0].hint}"


def test_places() -> None:
    """Keys and values know their line and column, counted from 1."""
    node, troubles = read_document("x", b"a: 1\nb:\n  - 'two'\n  - {c: three}\n")
    assert troubles == []
    assert isinstance(node, Table)
    where, items = node.pairs["b"]
    assert (where.line, where.column) == (2, 1)
    assert isinstance(items, Items)
    assert [(item.where.line, item.where.column) for item in items.items] == [(3, 5), (4, 5)]
    quoted = items.items[0]
    assert isinstance(quoted, Scalar)
    assert quoted.at(2).column == 7


def test_plain_values() -> None:
    """Values take the types of YAML; a quoted one is text, and so is what only looks like a date."""
    node, _ = read_document("x", b"[1, 0.5, 1e-4, true, null, '1', yes, 2026-01-02, 0.16.1, ~, -3]")
    assert node is not None
    assert plain(node) == [1, 0.5, 1e-4, True, None, "1", "yes", "2026-01-02", "0.16.1", None, -3]


@pytest.mark.parametrize(
    ("data", "line", "column", "words"),
    [
        (b"a: 1\na: 2\n", 2, 1, "`a` is given twice | the first one is on line 1"),
        (b"a: b: c\n", 1, 5, "single quotes"),
        (b"a:\n\tb: 1\n", 2, 1, "spaces"),
        (b"a: *nowhere\n", 1, 4, "&nowhere"),
        (b"a: \xff\n", 1, 4, "UTF-8"),
        (b"a: \x01\n", 1, 4, "control character"),
        (b"---\na: 1\n---\nb: 1\n", 3, 1, "second YAML document"),
        (b"", 1, 1, "empty"),
        (b"? [a]\n: b\n", 1, 3, "key must be a word"),
        (b'a: "\\d"\n', 1, 5, "single quotes"),
        (b"a: &x [*x]\n", 1, 8, "&x"),
        (b"#" * (MAX_BYTES + 1), 1, 1, "larger than 256 KB"),
    ],
)
def test_troubles(data: bytes, line: int, column: int, words: str) -> None:
    """What cannot be read is told with its place and a way out."""
    told = trouble(data)
    assert told[:2] == (line, column)
    assert words in told[2]


@pytest.mark.parametrize("data", [b"[" * 500 + b"]" * 500, b"- " * 500 + b"a", b"[" * 100_000, b"{a: " * 30_000])
def test_deep_nesting(data: bytes) -> None:
    """A deeply nested file is refused without exhausting the stack."""
    node, troubles = read_document("x", data)
    assert node is None
    assert len(troubles) == 1


def test_aliases() -> None:
    """An alias stands for what its anchor names."""
    node, troubles = read_document("x", b"a: &x [1, 2]\nb: *x\n")
    assert troubles == []
    assert node is not None
    assert plain(node) == {"a": [1, 2], "b": [1, 2]}


def test_billion_laughs() -> None:
    """Aliases that multiply are refused before they are followed."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "too large once its aliases are followed" in trouble("\n".join(lines).encode())[2]


@settings(derandomize=True, max_examples=100)
@given(st.binary(max_size=200) | st.text("ab:-[]{}&*'\"#|>?!%@\n\t \\~,", max_size=80).map(str.encode))
def test_any_bytes(data: bytes) -> None:
    """Any bytes give a tree or troubles, never an exception."""
    node, troubles = read_document("x", data)
    assert node is not None or troubles
    if node is not None:
        plain(node)


@settings(derandomize=True, max_examples=100)
@given(st.text(max_size=12) | st.integers().map(str) | st.floats().map(str))
def test_numbers(text: str) -> None:
    """A number is read as Python reads it; anything else is none."""
    value = number(text)
    if value is not None:
        assert value == float(text)
