"""All that is known of a run: observations of all sources merged into one place to ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from diagnose.catalogue.condition import Seen
from diagnose.catalogue.version import Version
from diagnose.facts.model import Observation, Value
from diagnose.typed import Any

# Who is believed when two readers disagree; what is not listed stands in the middle.
TRUST: Mapping[str, int] = {
    "settled": 110,  # what the framework makes of a setting before it validates
    "set": 100,  # the user says so
    "proven": 90,  # the failure's own wording proves it
    "config-file": 80,  # the user hands the file in
    "env-file": 80,
    "megatron-arguments": 70,
    "bridge-configuration": 70,
    "bridge-summary": 70,
    "command-line": 40,
    "launch-script": 30,  # it lies beside the logs
    "bridge-pin": 20,  # the release that a Bridge release is pinned to
    "default": 10,  # what the release sets where nobody sets anything
}
_MIDDLE = 50
_SIZES = {
    "tensor_model_parallel_size": "tp",
    "pipeline_model_parallel_size": "pp",
    "virtual_pipeline_model_parallel_size": "vpp",
    "context_parallel_size": "cp",
    "expert_model_parallel_size": "ep",
    "data_parallel_size": "dp",
}


class Facts:
    """The merged facts of a run; the later observation wins among equally trusted ones."""

    def __init__(self, observations: Iterable[Observation]) -> None:
        self._known: dict[str, Observation] = {}
        self._versions: dict[str, Version] = {}
        self._sections: set[str] = set()  # keys that hold other keys, such as "config.model"
        for seen in observations:
            self._add(seen)
        self._derive()

    def _add(self, seen: Observation) -> None:
        if seen.key.startswith("version."):
            self._add_version(seen)
            return
        before = self._known.get(seen.key)
        if before is not None and seen.key.startswith("memory."):
            if isinstance(seen.value, int | float) and isinstance(before.value, int | float):
                self._known[seen.key] = max(before, seen, key=_number)  # the peak over all ranks and lines
            return
        if before is None or _trust(seen) >= _trust(before):
            self._known[seen.key] = seen
        if before is None and seen.key.count(".") > 1:
            parts = seen.key.split(".")
            self._sections.update(".".join(parts[:end]) for end in range(2, len(parts)))

    def _add_version(self, seen: Observation) -> None:
        new = seen.value if isinstance(seen.value, Version) else Version.parse(str(seen.value))
        if new is None:
            return
        name, before = seen.key, self._versions.get(seen.key)
        stronger = before is None or not before.exact or _trust(seen) > _trust(self._known[name])
        if before is None or (new.exact and stronger):
            self._versions[name], self._known[name] = new, seen
        elif not new.exact and not before.exact:
            self._versions[name] = before.narrowed(new)

    def _derive(self) -> None:
        layers, pipeline = self.value("config.num_layers"), self.value("config.pipeline_model_parallel_size")
        virtual = self.value("config.num_layers_per_virtual_pipeline_stage")
        stages = "config.virtual_pipeline_model_parallel_size"
        if all(isinstance(n, int) and n > 0 for n in (layers, pipeline, virtual)) and self.value(stages) is None:
            self._add(
                Observation(stages, layers // pipeline // virtual, self._known["config.num_layers"].evidence, "derived")
            )
        world = self.value("run.world_size") or self.value("config.world_size")
        sizes = [self.value(f"config.{key}") for key in _SIZES if key in _MODEL_SIZES]
        known = [size for size in sizes if isinstance(size, int) and size > 0]
        if isinstance(world, int) and len(known) == len(sizes) and "config.data_parallel_size" not in self._known:
            model = known[0] * known[1] * known[2]
            if model and world % model == 0:
                self._add(Observation("config.data_parallel_size", world // model, None, "derived"))
        allocator = self.value("env.PYTORCH_CUDA_ALLOC_CONF")
        if isinstance(allocator, str) and "run.expandable_segments" not in self._known:
            seen = self._known["env.PYTORCH_CUDA_ALLOC_CONF"]
            grows = "expandable_segments:true" in allocator.lower().replace(" ", "")
            self._add(Observation("run.expandable_segments", grows, seen.evidence, "derived"))
        if isinstance(world, int) and "run.world_size" not in self._known:
            self._add(Observation("run.world_size", world, None, "derived"))

    def lookup(self, key: str) -> Seen | None:
        """Return one fact with the line it was seen on, or None where nobody saw it."""
        if key.startswith("version."):
            version = self._versions.get(key)
            return None if version is None else Seen(version, self._known[key].evidence, self._known[key].origin)
        seen = self._known.get(key)
        if seen is not None and (seen.value is not None or not key.startswith("config.")):
            return Seen(seen.value, seen.evidence, seen.origin)
        if key.startswith("config.") and key in self._sections:
            section = f"{key}."
            # A section that is there is not None, whatever the default says.
            return Seen({name: each.value for name, each in self._known.items() if name.startswith(section)})
        return Seen(seen.value, seen.evidence, seen.origin) if seen is not None else None

    def value(self, key: str) -> Any:
        """Return one fact's value; None where it is unknown or None."""
        seen = self.lookup(key)
        return None if seen is None else seen.value

    def observations(self, namespace: str) -> dict[str, Observation]:
        """Return all winning observations of a namespace by their bare key, sorted."""
        prefix = f"{namespace}."
        return {key[len(prefix) :]: self._known[key] for key in sorted(self._known) if key.startswith(prefix)}

    def versions(self) -> dict[str, str]:
        """Return the versions as text: exact, or a range."""
        return {name.removeprefix("version."): str(version) for name, version in sorted(self._versions.items())}

    def parallelism(self) -> dict[str, int]:
        """Return the parallel sizes that are known, by their short names."""
        found: dict[str, int] = {}
        for key, short in _SIZES.items():
            size: Value = self.value(f"config.{key}")
            if isinstance(size, int) and not isinstance(size, bool):
                found[short] = size
        return found


_MODEL_SIZES = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")


def _number(seen: Observation) -> float:
    return float(seen.value) if isinstance(seen.value, int | float) else 0.0


def _trust(seen: Observation) -> int:
    return TRUST.get(seen.origin, _MIDDLE)
