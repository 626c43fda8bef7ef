"""Literals that an expression requires."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.catalogue.literals import MAX_LITERALS, MIN_BYTES, Literals, required_literals

TEXT = st.text('abcXYZ 01.:"\\éſ', min_size=1, max_size=7)


@st.composite
def _pieces(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """An expression and one text that it matches."""
    kind = draw(st.integers(0, 9 if depth else 3))
    if kind <= 1:
        text = draw(TEXT)
        return regex.escape(text, literal_spaces=draw(st.booleans())), text
    if kind == 2:
        return draw(st.sampled_from([(r"\d+", "42"), (".*", "zz"), (r"\s", " "), (r"\w{2,3}?", "ab"), ("[^q]", "c")]))
    if kind == 3:
        return draw(st.sampled_from([("[ab]", "b"), ("[a-cX]", "c"), (r"[\]x]", "]"), ("[]a]", "]"), (r"\x61", "a")]))
    inner, text = draw(_pieces(depth - 1))
    if kind <= 5:
        other, more = draw(_pieces(depth - 1))
        return inner + other, text + more
    if kind == 6:
        other, _ = draw(_pieces(depth - 1))
        return draw(st.sampled_from([f"(?:{inner}|{other})", f"({other}|{inner})", f"(?|{inner}|{other})"])), text
    if kind == 7:
        count = draw(st.integers(0, 3))
        quantifier = draw(st.sampled_from(["*", "{0,}", "{,9}"] + (["+", "{1,4}"] if count else []) + [f"{{{count}}}"]))
        return f"(?:{inner}){quantifier}", text * count
    if kind == 8:
        return draw(
            st.sampled_from([f"(?={inner}){inner}", f"(?!qq)(?P<n{depth}>{inner})", f"(?#x){inner}\\b|{inner}"])
        ), text
    return f"(?i:{inner})", text.swapcase() if text.isascii() else text


@settings(derandomize=True, max_examples=100)
@given(_pieces(depth=4))
def test_a_literal_stands_in_every_text_that_matches(pair: tuple[str, str]) -> None:
    """Whatever an expression matches holds one of its literals."""
    pattern, text = pair
    try:
        matched = regex.compile(pattern).search(text, timeout=2)
    except (regex.error, TimeoutError):
        return
    found = required_literals(pattern)
    if matched is None or found is None:
        return
    folded = text.lower() if found.nocase else text
    assert any(value in folded for value in found.values), (pattern, text, found)
    assert len(found.values) <= MAX_LITERALS
    assert all(len(value.encode()) >= MIN_BYTES and "\n" not in value for value in found.values)


@settings(derandomize=True, max_examples=100)
@given(st.text("()[]{}|?*+\\abc-^=!<>P:#i,1 ", max_size=20))
def test_any_text_is_answered(pattern: str) -> None:
    """No expression, valid or not, makes the search for literals fail."""
    required_literals(pattern)


@pytest.mark.parametrize(
    ("pattern", "values", "nocase"),
    [
        (
            r"CUDA out of memory\. Tried to allocate (?P<size>[\d.]+ [GMK]iB)",
            ["CUDA out of memory. Tried to allocate"],
            False,
        ),
        (r"(?i)segmentation fault|SIGSEGV", ["segmentation fault", "sigsegv"], True),
        (r"[Ff]atal error", ["Fatal error", "fatal error"], False),
        (r"colou?r of things", ["color of things", "colour of things"], False),
        (r"(?<rank>\d+) has died", ["has died"], False),
        (r"(?>fixed)++ text", ["fixed text"], False),
        (r"\d+(?=barbaz)", ["barbaz"], False),
        (r"x{3,}abc", ["xabc"], False),
        (r"(?x) hello \s world # comment", ["hello"], False),
        (r"number of nan iterations:\s+[1-9]\d*", ["number of nan iterations:"], False),
        (r"(?:first failure|first failures) seen", ["first failure seen", "first failures seen"], False),
        (r"(?:first failure|first failures)\d", ["first failure"], False),
        (r"[[:alpha:]]+ stopped", ["stopped"], False),
        (r"\p{Lu}rank \N{BULLET} stopped\K", ["stopped"], False),
        (r"rank \d+ .* unhandled system failure", ["unhandled system failure"], False),
        (r"É(?i:stopped)", ["éstopped"[1:]], True),
    ],
)
def test_known_expressions(pattern: str, values: list[str], nocase: bool) -> None:
    """The longest and rarest texts are chosen, small alternations are written out."""
    assert required_literals(pattern) == Literals(tuple(values), nocase)


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "abc", "a|b", "longer text|b", r"\w+\s\d*", "(?:optional text)?", "(?:text){0,3}", "(?!not this)", "."),
        *(
            "(?:foobar){e<=1}",
            "foobar{e}",
            "(?V1)foobar",
            "foobar(",
            "foo)bar",
            r"\Qfoobar",
            "(?r)foobar",
            "x{,}foobar",
        ),
        *("(?(1)foobar|b)", r"(foobar)?\1", "foo\nbar", r"foo\nbar", "(" * 90 + "foobar" + ")" * 90, "foobar{1, 2}"),
    ],
)
def test_expressions_without_a_sure_literal(pattern: str) -> None:
    """Where no literal of four bytes is certain, or the syntax is not, the answer is none."""
    assert required_literals(pattern) is None


def test_parts_that_json_escapes_are_left_out() -> None:
    """Quotes, backslashes and angle brackets split a literal, because loggers that write JSON change them."""
    assert required_literals(r'key "value is bad" <x>') == Literals(("value is bad",))
    assert required_literals(r"a\\b\"c") == Literals(('a\\b"c',))


def test_the_flag_given_from_outside_counts() -> None:
    """An expression that is compiled without regard to case gives lower-case literals."""
    assert required_literals("Xid ERROR", nocase=True) == Literals(("xid error",), True)
