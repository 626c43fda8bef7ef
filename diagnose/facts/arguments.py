"""Reads the argument dump that Megatron-LM and its forks print, and the world-size line before it.

Source: `_print_args` and `validate_args` in megatron/training/arguments.py. A name is padded with dots to 48
characters; a longer one is followed by two spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView, following
from diagnose.facts.settings import Setting, settings
from diagnose.facts.values import parse_value
from diagnose.lazy import Lazy
from diagnose.read.model import Line

ORIGIN = "megatron-arguments"
_HEAD = Lazy(r"-{8,} arguments -{8,}\s*$")
_END = Lazy(r"-{8,} end of arguments -{8,}")
_ARGUMENT = Lazy(r"\s{0,8}([A-Za-z_]\w{0,120}) (?:\.{1,120}(?: (.*))?| (\S.*)?)$")
_WORLD = Lazy(r"([a-z][a-z -]{2,60}?)[ -]size: (\d{1,9})")
_PATIENCE = 60  # lines in a row that are no arguments before the dump counts as cut off


def _dump(text: TextView, line: Line) -> Iterator[Observation]:
    if not _HEAD.search(line.body):
        return
    yield from settings(_entries(text, line), ORIGIN)
    yield Observation("run.framework", "megatron-lm", text.evidence(line), ORIGIN)


def _entries(text: TextView, head: Line) -> Iterator[Setting]:
    strangers = 0
    for line in following(text, head):
        found = _ARGUMENT.match(line.body)
        if found:
            strangers = 0
            value = parse_value(found[2] or found[3] or "")
            yield Setting((found[1],), value, text.evidence(line))
        elif _END.search(line.body) or _HEAD.search(line.body) or strangers >= _PATIENCE:
            return
        else:
            strangers += 1


def _world(text: TextView, line: Line) -> Iterator[Observation]:
    _, found, sizes = line.body.partition("using ")
    if not found:
        return
    evidence = text.evidence(line)
    for name, value in _WORLD.findall(sizes):
        key = name.strip(" -").replace("-", "_").replace(" ", "_")
        if key == "world":
            yield Observation("run.world_size", int(value), evidence, ORIGIN)
        else:
            yield Observation(f"config.{key}_size", int(value), evidence, ORIGIN)


ARGUMENTS = Reader("megatron-arguments", (b"-- arguments --",), _dump)
WORLD_SIZE = Reader("megatron-world-size", (b"using world size: ",), _world)
