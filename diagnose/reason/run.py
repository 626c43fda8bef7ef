"""Says what is known of the run itself: framework, versions, configuration, progress."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import Observation, SourceRecord, Step
from diagnose.facts.run import Facts
from diagnose.read.model import Kind
from diagnose.reason import words
from diagnose.reason.incident import Incident
from diagnose.reason.phase import phase_of
from diagnose.reason.result import ConfigValue, Run
from diagnose.reason.slow.numbers import speed_of

# The first that fits decides: outer frameworks before the ones they stand on.
_FRAMEWORKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("megatron-bridge", ("megatron/bridge/", "egatron-Bridge", "egatron-bridge")),
    ("nemo", ("/nemo/collections/", "/nemo/lightning/", "/nemo/core/", "/NeMo/")),
    (
        "megatron-lm",
        ("megatron/training/", "pretrain_gpt.py", "egatron-LM/pretrain", "egatron-LM/train"),
    ),
    ("megatron-core", ("megatron/core/",)),
    ("torchtitan", ("/torchtitan/",)),
    ("deepspeed", ("/deepspeed/",)),
    ("verl", ("/verl/",)),
    ("lightning", ("/lightning/", "/pytorch_lightning/")),
    ("accelerate", ("/accelerate/",)),
    ("transformers", ("/transformers/",)),
    ("torch", ("/torch/",)),
    ("jax", ("/jax/", "/jaxlib/")),
)
_ORIGINS = {
    "megatron-arguments": "megatron-lm",
    "bridge-summary": "megatron-bridge",
    "bridge-configuration": "megatron-bridge",
}


def framework_of(records: Sequence[SourceRecord]) -> str:
    """Name the framework: from the readers that understood something, else from the frames of tracebacks."""
    order = [name for name, _ in _FRAMEWORKS]
    found = {_ORIGINS[o.origin] for record in records for o in record.observations if o.origin in _ORIGINS}
    frames = {frame.file for record in records for unit in record.tracebacks for frame in unit.frames}
    types = {unit.type for record in records for unit in record.tracebacks}
    for name, parts in _FRAMEWORKS:
        if any(part in each for each in (*frames, *types) for part in parts):
            found.add(name)
    if any(each.startswith(("jax.", "jaxlib.")) for each in types):
        found.add("jax")
    return min(found, key=order.index) if found else "unknown"


def summary_facts(records: Sequence[SourceRecord], framework: str) -> list[Observation]:
    """Return what the records say together: framework, ranks, a kernel log among them, and the last checkpoint."""
    ranks = sorted({rank for record in records for rank in record.ranks})
    found = [Observation("run.framework", framework, None, "derived")] if framework != "unknown" else []
    if ranks:
        found.append(Observation("run.ranks", len(ranks), None, "derived"))
    if any(record.kind is Kind.KERNEL for record in records):
        found.append(Observation("run.kernel_log", True, None, "derived"))
    saved = [
        step.number for record in records for step in record.steps if step.kind == "saved" and step.number is not None
    ]
    if saved:
        found.append(Observation("run.last_checkpoint", max(saved), None, "derived"))
    return found


def run_of(records: Sequence[SourceRecord], facts: Facts, framework: str, root: Incident | None) -> Run:
    """Gather what is known of the run."""
    steps = [step for record in records for step in record.steps]
    iterations = [step for step in steps if step.kind == "iteration" and step.number is not None]
    saved = [step.number for step in steps if step.kind == "saved" and step.number is not None]
    times = [t for record in records for t in (record.first_time, record.last_time) if t is not None]
    world = facts.value("run.world_size")
    return Run(
        framework=framework,
        versions=facts.versions(),
        config=_values(facts, "config"),
        environment=_values(facts, "env"),
        parallelism=facts.parallelism(),
        world_size=world if isinstance(world, int) else None,
        last_iteration=max((step.number for step in iterations if step.number is not None), default=None),
        last_checkpoint=max(saved, default=None),
        first_time=words.iso(min(times, default=None)),
        last_time=words.iso(max(times, default=None)),
        silent_seconds=_silent(iterations, times),
        phase=_phase(records, root),
        throughput=speed_of(records, facts),
        memory={
            key: float(o.value) for key, o in facts.observations("memory").items() if isinstance(o.value, int | float)
        },
    )


def _values(facts: Facts, namespace: str) -> dict[str, ConfigValue]:
    found: dict[str, ConfigValue] = {}
    for key, seen in facts.observations(namespace).items():
        known = facts.lookup(f"{namespace}.{key}")
        if known is not None:
            found[key] = ConfigValue(seen.value, words.origin(known))
    return found


def _silent(iterations: Sequence[Step], times: Sequence[float]) -> float | None:
    last = max((step.time for step in iterations if step.time is not None), default=None)
    return max(times) - last if last is not None and times else None


def _phase(records: Sequence[SourceRecord], root: Incident | None) -> str | None:
    if root is None or root.source < 0:
        return None
    before = [step for step in records[root.source].steps if step.start < root.start]
    return phase_of(root.traceback.frames if root.traceback else (), before)
