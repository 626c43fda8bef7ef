"""The plainest command lines are read without click, and mean what click makes of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from diagnose.commands.log import log
from diagnose.commands.plain import plain

PLAIN = (
    "a.log",
    "log a.log",
    "log a.log b/ -",
    "-q a.log",
    "a.log -v --exit-code",
    "log --redact --no-color a.log",
    "a.log --format json",
    "--format=markdown a.log --format jsonl",
    "log compare",
    "a.log --jobs 2 --metrics off",
    "log --output=out.txt --config c.yaml --env e --baseline=b.log a.log",
    "a.log --patterns p --patterns=q --output -",
)
NOT_PLAIN = (
    "",
    "log",
    "compare a b",
    "--help",
    "a.log --help",
    "a.log -q -v",
    "a.log --format",
    "a.log --format=xml",
    "a.log --golden 700",
    "-- -a.log",
    "a.log --quie",
    "a.log -qv",
    "a.log --jobs 0",
    "a.log --jobs 257",
    "a.log --jobs x",
    "a.log --metrics some",
    "a.log --output",
    "a.log --output=",
    "a.log --set a=1",
    "a.log --follow",
    "a.log --config -x",
)


@pytest.mark.parametrize("line", PLAIN)
def test_plain_means_what_click_makes_of_it(line: str) -> None:
    """Paths and options are those that click reads."""
    words = line.split()
    found = plain(words)
    assert found is not None
    read = click.Context(log, help_option_names=["-h", "--help"])
    log.parse_args(read, words[words[0] == "log" :])
    options = dict(read.params) | {"paths": list(read.params["paths"])}
    assert found.items() <= options.items()
    assert {key for key, value in options.items() if value is True} == {k for k, v in found.items() if v is True}


@pytest.mark.parametrize("line", NOT_PLAIN)
def test_the_rest_is_left_to_click(line: str) -> None:
    """Whatever else stands there is for click to read or to refuse."""
    assert plain(line.split()) is None


def test_a_plain_call_loads_no_click(tmp_path: Path) -> None:
    """A diagnosis without special options starts without click."""
    (tmp_path / "x.log").write_text("ValueError: bad\n")
    code = f"import sys; from diagnose.commands import main; main([{str(tmp_path)!r}]); print('click' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
