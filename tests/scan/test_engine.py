"""The three engines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.scan.engine import NAMES, Needle, build_engine

BYTES = st.lists(st.sampled_from([b"a", b"b", b"B", b"\n", b"\x00", b"\x1b", b"\xff", b"\xc3\xa9"]), max_size=60)
VALUE = st.lists(st.sampled_from([b"a", b"b", b"B", b"\x00", b"\xff", b"\xc3\xa9"]), min_size=4, max_size=20)
DATA = BYTES.map(b"".join)


@st.composite
def _needles(draw: st.DrawFn) -> list[Needle]:
    drawn = draw(st.lists(st.tuples(st.lists(VALUE.map(b"".join), min_size=1, max_size=2), st.booleans()), max_size=5))
    return [Needle(tuple(v.lower() if nocase else v for v in values), nocase) for values, nocase in drawn]


def _naive(needles: list[Needle], data: bytes) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for number, needle in enumerate(needles):
        text = data.lower() if needle.nocase else data
        for value in needle.values:
            for at in range(len(text)):
                if text.startswith(value, at):
                    found.setdefault(number, set()).add(at + len(value))
    return found


@settings(derandomize=True, max_examples=100, deadline=None)
@given(_needles(), st.lists(DATA, min_size=1, max_size=3), st.data())
def test_all_engines_find_the_same(needles: list[Needle], texts: list[bytes], data: st.DataObject) -> None:
    """Every engine finds exactly what a naive search finds, whatever the bytes."""
    for text in texts:
        for needle in needles:
            if data.draw(st.booleans()):
                text += needle.values[0].upper() if needle.nocase else needle.values[0]
        expected = _naive(needles, text)
        for name in NAMES:
            found = build_engine(needles, name).find(text)
            assert {number: set(ends) for number, ends in found.items()} == expected, name
            assert all(ends == sorted(ends) for ends in found.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_quiet_needle_is_told_once(name: str) -> None:
    """Of a quiet needle one place is told, also where its beginning stands elsewhere too."""
    rest = b"watchdog caught a collective operation that timed out"
    needles = [Needle((b"abcd",)), Needle((rest,)), Needle((b"efgh",), nocase=True)]
    engine = build_engine(needles, name, quiet=[0, 1, 2])
    found = engine.find(b"abcd abcd " + rest[:-1] + b"\n" + rest + rest + b" EFGH efgh")
    assert [len(found[number]) for number in range(3)] == [1, 1, 1]
    assert engine.find(rest[:-1]) == {}


def test_only_hyperscan_uses_the_narrow_expression() -> None:
    """A narrow expression is looked for in place of the literals; other engines tell the literals."""
    needles = [Needle((b"nan iterations:",), narrow=r"nan iterations:\s+[1-9]")]
    healthy, sick = b"nan iterations:   0 |\n", b"nan iterations:   2 |\n"
    assert build_engine(needles, "hyperscan").find(healthy) == {}
    assert build_engine(needles, "hyperscan").find(sick) == {0: [19]}
    assert build_engine(needles, "plain").find(healthy) == {0: [15]}


def test_an_expression_that_hyperscan_refuses_costs_no_answers() -> None:
    """Where a narrow expression cannot be compiled, the literals are looked for."""
    needles = [Needle((b"nan iterations:",), narrow=r"(?<=x)nan iterations:"), Needle((b"other",))]
    assert build_engine(needles, "hyperscan").find(b"nan iterations: other") == {0: [15], 1: [21]}


def test_beginnings_without_their_ends_are_noted_and_avoided() -> None:
    """A beginning that often stands alone is told as a misfire, and looked for in full by the next engine."""
    needle = Needle((b"the quick zebra xylophone is missing from the rank's own list of instruments",))
    engine = build_engine([needle], "hyperscan")
    data = needle.values[0][:-1] * 9
    assert engine.find(data) == {}
    assert engine.misfires.total() == 9
    next_engine = build_engine([needle], "hyperscan", whole=set(engine.misfires))
    assert next_engine.find(data) == {}
    assert next_engine.misfires.total() == 0
    assert next_engine.find(needle.values[0]) == {0: [len(needle.values[0])]}


def test_the_choice_of_an_engine() -> None:
    """The fastest engine is taken, the preferred one where there is a preference, and an unknown one is refused."""
    needles = [Needle((b"abcd",))]
    assert build_engine(needles).name == "hyperscan"
    assert [build_engine(needles, name).name for name in NAMES] == list(NAMES)
    assert build_engine([]).find(b"abcd") == {}
    with pytest.raises(ValueError, match="unknown engine 'grep'"):
        build_engine(needles, "grep")


def test_without_the_native_packages_the_plain_engine_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither native package is installed, the plain engine does the work."""
    monkeypatch.setitem(__import__("sys").modules, "hyperscan", None)
    assert build_engine([Needle((b"abcd",))]).name == "aho-corasick"
    monkeypatch.setitem(__import__("sys").modules, "ahocorasick_rs", None)
    assert build_engine([Needle((b"abcd",))]).name == "plain"
