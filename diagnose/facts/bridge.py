"""Reads the configuration that Megatron Bridge and NeMo print at start.

Source: megatron/bridge/training/config.py. Up to Bridge 0.3.0 a YAML document, `Task Configuration`; from 0.3.1 on
`Configuration Summary (Non-Default Values vs Megatron Core)`. NeMo 1 prints YAML under `Experiment configuration`.
`recompute_modules: ['core_attn']` is printed with full recompute too: it is a default set after construction.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView, following
from diagnose.facts.settings import Setting, sectioned
from diagnose.facts.values import parse_value
from diagnose.facts.yaml_block import yaml_block
from diagnose.lazy import Lazy
from diagnose.read.model import Line

ORIGIN = "bridge-summary"
_SECTION = Lazy(r"\s{0,8}\[([\w.]{1,80})\](?: Non-default values \(vs (?i:mcore) ([^)]{1,80})\))?:\s*$")
_FIELD = Lazy(r"\s{1,12}([A-Za-z_]\w{0,120}): (.*?)(?:  \((?i:mcore) default: .*\))?\s*$")
_RELEASE = Lazy(r"\d+\.\d+(?:\.\d+)?\S{0,20}$")
_RULE = Lazy(r"\s*={20,}\s*$")
_DASHES = Lazy(r"\s*[-*]{20,}\s*$")
_STRANGERS = 60


def _summary(text: TextView, head: Line) -> Iterator[Observation]:
    here = text.evidence(head)
    yield Observation("run.framework", "megatron-bridge", here, ORIGIN)
    yield Observation("run.summary_of_non_defaults", True, here, ORIGIN)
    entries: list[Setting] = []
    section = ""
    strangers = 0
    for line in following(text, head):
        found = _SECTION.match(line.body)
        if found:
            section = found[1]
            if found[2] and _RELEASE.match(found[2]):
                yield Observation("version.core", found[2], text.evidence(line), ORIGIN)
            continue
        field = _FIELD.match(line.body) if section else None
        if field:
            strangers = 0
            path = (*section.split("."), field[1])
            entries.append(Setting(path, parse_value(field[2]), text.evidence(line)))
        elif section and _RULE.match(line.body):
            break
        elif line.body.strip() and not _DASHES.match(line.body):
            strangers += 1
            if strangers > _STRANGERS:
                break
    yield from sectioned(entries, ORIGIN)


def _document(text: TextView, head: Line) -> Iterator[Observation]:
    framework = "megatron-bridge" if "Task Configuration" in head.body else "nemo"
    origin = "bridge-configuration" if framework == "megatron-bridge" else "nemo-configuration"
    yield Observation("run.framework", framework, text.evidence(head), origin)
    yield from sectioned(yaml_block(text, head, _DASHES), origin)


SUMMARY = Reader("bridge-summary", (b"(Non-Default Values vs Megatron Core)",), _summary, keep=4)
DOCUMENT = Reader(
    "bridge-configuration", (b"- Task Configuration -", b"* Experiment configuration *"), _document, keep=4
)
