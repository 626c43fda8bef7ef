"""Turns settings, however they were written, into observations under Megatron Core's names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.classes import dataclass, replace
from diagnose.facts.model import Observation, Value
from diagnose.facts.names import CANONICAL, INVERTED, canonical, normalise
from diagnose.facts.secrets import MASK, is_secret_option
from diagnose.read.model import Evidence

# Sections whose keys are Megatron's own and unique enough to stand without the section's name. Left out on purpose:
# tokenizer and dataset, which repeat model fields with other meanings, and rng, whose tracker is a switch of its own.
_FLAT = frozenset(
    {"train", "ddp", "optimizer", "checkpoint", "rerun_state_machine", "scheduler", "validation", "dist", "training"}
)
_MODEL = frozenset(
    {
        ("model",),
        ("cfg", "model"),
        ("model", "config"),
        ("model_parallel",),
        ("language_model",),
        ("parallelism",),
        ("strategy",),
        ("trainer", "strategy"),
    }
)
_SEQUENCE = frozenset({("dataset", "seq_length"), ("dataset", "sequence_length")})


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as written: where in the nesting, its value, and the line."""

    path: tuple[str, ...]
    value: Value
    evidence: Evidence | None


def settings(entries: Iterable[Setting], origin: str) -> Iterator[Observation]:
    """Yield observations `config.KEY` for settings without sections, and what follows from them."""
    seen: dict[str, Setting] = {}
    for entry in entries:
        name = entry.path[-1]
        key, value = canonical(name), entry.value
        if key in INVERTED and isinstance(value, bool):
            key, value = INVERTED[key], not value
        entry = _shaped(entry, key, value)
        seen[key] = entry
        yield _observe(key, entry, origin)
    yield from _derived(seen, origin)


def sectioned(entries: Iterable[Setting], origin: str) -> Iterator[Observation]:
    """Yield observations for nested settings.

    Model fields come as `config.KEY`. Others come as `config.SECTION.KEY`, and also as `config.KEY` where the section's
    keys are Megatron's own and the model has no field of that name.
    """
    everything = list(entries)
    model = [entry for entry in everything if len(entry.path) == 1 or entry.path[:-1] in _MODEL]
    yield from settings(model, origin)
    taken = {canonical(entry.path[-1]) for entry in model}
    deepspeed = any(entry.path[0] == "zero_optimization" for entry in everything)
    for entry in everything:
        if len(entry.path) == 1 or entry.path[:-1] in _MODEL:
            continue
        dotted = _shaped(entry, entry.path[-1], entry.value)
        yield _observe(".".join(entry.path), dotted, origin)
        key = canonical(entry.path[-1])
        own = entry.path[0] in _FLAT and len(entry.path) == 2
        if not deepspeed and key not in taken and (own or entry.path in _SEQUENCE):
            yield _observe(key, _shaped(entry, key, entry.value), origin)


def deepspeed(entries: Iterable[Setting], origin: str) -> Iterator[Observation]:
    """Yield `config.deepspeed.KEY`, and `config.KEY` for the few that mean the same as a Megatron field."""
    for entry in entries:
        entry = _shaped(entry, entry.path[-1], entry.value)
        yield _observe(".".join(("deepspeed", *entry.path)), entry, origin)
        if len(entry.path) == 1 and entry.path[0] in CANONICAL and isinstance(entry.value, int):
            yield _observe(CANONICAL[entry.path[0]], entry, origin)


def _shaped(entry: Setting, key: str, value: Value) -> Setting:
    if not (isinstance(value, str) and value and is_secret_option(key)):
        return replace(entry, value=normalise(key, value))
    shown = entry.evidence and replace(entry.evidence, text=entry.evidence.text.replace(value, MASK))
    return replace(entry, value=MASK, evidence=shown)


def _observe(key: str, entry: Setting, origin: str) -> Observation:
    return Observation(f"config.{key}", entry.value, entry.evidence, origin)


def _derived(seen: dict[str, Setting], origin: str) -> Iterator[Observation]:
    layers = seen.get("cpu_offloading_num_layers")
    if layers and "cpu_offloading" not in seen and isinstance(layers.value, int):
        yield Observation("config.cpu_offloading", layers.value > 0, layers.evidence, origin)
    short = seen.get("recompute_activations")
    if short and short.value is True and "recompute_granularity" not in seen:
        yield Observation("config.recompute_granularity", "selective", short.evidence, origin)
    world = seen.get("world_size")
    if world and isinstance(world.value, int):
        yield Observation("run.world_size", world.value, world.evidence, origin)
