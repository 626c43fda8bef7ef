"""The first version of a pattern file."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.author import NoSuchLineError, Skeleton, skeleton
from diagnose.catalogue import check_files

LOG = """\
[rank0]: loading /ckpt/fleet
[rank0]: Traceback (most recent call last):
[rank0]:   File "/workspace/train.py", line 12, in main
[rank0]:     check(tokens, rows)
[rank0]:   File "/workspace/fleet.py", line 7, in check
[rank0]:     raise QuotaError(f"quota of {project} exceeded")
[rank0]: fleet.QuotaError: quota of 'alpha' exceeded: 12 files
[rank0]: ask the owner of share 7
[rank1]: Traceback (most recent call last):
[rank1]:   File "/workspace/fleet.py", line 9, in check
[rank1]:     assert rows == tokens
[rank1]: AssertionError
login with HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123 was refused by hub 3
"""


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A log of two ranks."""
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return str(path)


def stored(made: Skeleton, folder: Path) -> Path:
    """Write a skeleton where a layer would have it."""
    path = folder / f"{made.id}.yaml"
    path.write_text(made.text)
    return path


def test_a_message_of_a_traceback(log: str, tmp_path: Path) -> None:
    """The type has its own key, the captures are expected, and the file is one that loads."""
    made = skeleton(log, text="exceeded: 12")
    assert "exception: QuotaError" in made.text
    assert made.sample == "fleet.QuotaError: quota of 'alpha' exceeded: 12 files"
    assert made.literals
    assert check_files([stored(made, tmp_path)]) == []


def test_a_frame_leads_to_the_message(log: str) -> None:
    """A line inside a traceback stands for the exception."""
    made = skeleton(log, number=5)
    assert (made.place.moved, made.place.line.number) == (True, 7)


def test_a_later_line_of_a_message(log: str, tmp_path: Path) -> None:
    """The sample holds the whole message, so that the type is known."""
    made = skeleton(log, text="ask the owner")
    assert "exception: QuotaError" in made.text
    assert made.sample.startswith("Traceback (most recent call last):\n")
    assert check_files([stored(made, tmp_path)]) == []


def test_an_exception_without_words(log: str, tmp_path: Path) -> None:
    """It is told by the frame that raised it."""
    made = skeleton(log, number=12)
    assert made.regex == ""
    assert r"frame: 'fleet\.py:\d+ in check: assert rows == tokens'" in made.text
    assert check_files([stored(made, tmp_path)]) == []


def test_secrets_are_masked(log: str) -> None:
    """No token of the log gets into the file, and the expression does not look for the mask."""
    made = skeleton(log, text="was refused by hub")
    assert "abcdefghijkl" not in made.text
    assert "masked" not in made.regex


def test_ids_in_use_are_avoided(log: str) -> None:
    """A proposal that is taken gets a number."""
    first = skeleton(log, text="exceeded: 12")
    assert skeleton(log, text="exceeded: 12", taken={first.id}).id == f"{first.id}-2"


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [("no such words", 0, "no line of"), ("", 99, "has 13 lines, no line 99"), ("abc", 0, "too short")],
)
def test_lines_that_are_not_there(log: str, text: str, number: int, said: str) -> None:
    """The error says what is missing."""
    with pytest.raises(NoSuchLineError, match=said):
        skeleton(log, text=text, number=number)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """One log must be named, and it must be there."""
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("words\n")
    with pytest.raises(NoSuchLineError, match="holds 2 logs"):
        skeleton(str(tmp_path), text="words")
    with pytest.raises(NoSuchLineError):
        skeleton(str(tmp_path / "nowhere.log"), text="words")


def test_a_compressed_log(tmp_path: Path) -> None:
    """A log that can be read only once works as well."""
    import gzip

    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(("filler\n" * 50_000 + LOG).encode()))
    assert skeleton(str(path), number=50_007).place.line.body.startswith("fleet.QuotaError")
