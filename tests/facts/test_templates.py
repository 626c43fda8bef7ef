"""What is new in a log is found without knowing what it means."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.api import diagnose
from diagnose.facts.templates import SHOWN, known_templates, novel_lines, template
from diagnose.read import Source


def write(path: Path, lines: list[str]) -> Source:
    """Write a log."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return Source(str(path))


GOOD = [f"loaded shard {number} from /data/part-{number:05d} in 0x{number:x}" for number in range(50)]


def test_numbers_and_names_vary() -> None:
    """Lines that differ in numbers, addresses, paths and quoted words have one template."""
    assert template(b"read 12 of '/a/b' at 0xff in /x/y-3.bin") == template(b"read 99 of 'zz' at 0x1 in /q/r/s.txt")
    assert template(b"read 12") != template(b"wrote 12")


def test_against_a_good_run(tmp_path: Path) -> None:
    """Lines that the good run did not print are shown, the rarest first; what it printed is not."""
    good = write(tmp_path / "good.log", [*GOOD, "warning: slow disk"])
    bad = write(
        tmp_path / "bad.log", [*GOOD, "warning: slow disk", "retry one", "retry one", "the frob is out of tune"]
    )
    news = novel_lines([bad], known_templates([good]))
    assert [line.text for line in news] == ["the frob is out of tune", "retry one", "retry one"]
    assert news[0].line == 54


def test_without_a_good_run(tmp_path: Path) -> None:
    """Without one, lines near the end that came once are shown in their order, progress not."""
    progress = " iteration        1/     100 | lm loss: 1.48E+00 | grad norm: 1.271 |"
    bad = write(tmp_path / "bad.log", [*GOOD, progress, "the frob is out of tune", "giving up"])
    assert [line.text for line in novel_lines([bad])] == ["the frob is out of tune", "giving up"]


def test_in_a_diagnosis(tmp_path: Path) -> None:
    """With a baseline the diagnosis of a failure carries the news, even where a pattern knows it."""
    good = write(tmp_path / "good.log", GOOD)
    bad = write(
        tmp_path / "bad.log", [*GOOD, "the frob is out of tune", "MemoryError: x", "Traceback (most recent call last):"]
    )
    with (tmp_path / "bad.log").open("a") as file:
        file.write("  File \"/w/train.py\", line 3, in <module>\n    f()\nKeyError: 'labels'\n")
    result = diagnose([bad.path], baseline=good.path)
    assert any("frob" in note.text for note in result.notes)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes(raw: bytes) -> None:
    """Any bytes are read; never more lines than can be shown are returned."""
    assert b"\n" not in template(raw.replace(b"\n", b" "))
    source = Source("x.log", content=raw)
    assert len(novel_lines([source])) <= SHOWN
    assert not novel_lines([source], known_templates([source]))
