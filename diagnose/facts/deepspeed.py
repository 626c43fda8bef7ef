"""Reads the configuration that DeepSpeed prints at start, and Hugging Face's training arguments.

Sources: `DeepSpeedConfig.print` in deepspeed/runtime/config.py; `TrainingArguments.__str__` in transformers.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView, following
from diagnose.facts.settings import Setting, deepspeed, settings
from diagnose.facts.values import parse_value
from diagnose.lazy import Lazy
from diagnose.read.model import Line

_PRINTED = Lazy(r".{0,200}?\[config\.py:\d+:print\w{0,20}\]\s+([A-Za-z_]\w{0,100}) \.{2,120} ?(.*)")
_KEYWORD = Lazy(r"\s{0,8}([A-Za-z_]\w{0,100})=(.*),\s*")
_STRANGERS = 60


def _engine(text: TextView, head: Line) -> Iterator[Observation]:
    yield Observation("run.framework", "deepspeed", text.evidence(head), "deepspeed-configuration")
    yield from deepspeed(_printed(text, head), "deepspeed-configuration")


def _printed(text: TextView, head: Line) -> Iterator[Setting]:
    strangers = 0
    for line in following(text, head, 600):
        found = _PRINTED.match(line.text)
        if found:
            strangers = 0
            yield Setting((found[1],), parse_value(found[2]), text.evidence(line))
        else:
            strangers += 1
            if strangers > _STRANGERS or "json = {" in line.body:
                return


def _arguments(text: TextView, head: Line) -> Iterator[Observation]:
    if head.body.strip() != "TrainingArguments(":
        return
    entries: list[Setting] = []
    for line in following(text, head, 300):
        if line.body.strip() == ")":
            break
        found = _KEYWORD.fullmatch(line.body)
        if found:
            entries.append(Setting((found[1],), parse_value(found[2]), text.evidence(line)))
    yield from settings(entries, "training-arguments")


ENGINE = Reader("deepspeed-configuration", (b"DeepSpeedEngine configuration:",), _engine, keep=4)
TRAINING_ARGUMENTS = Reader("training-arguments", (b"TrainingArguments(",), _arguments, keep=4)
