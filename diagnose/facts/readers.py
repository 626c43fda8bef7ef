"""The registry of readers: one line a format. A reader's module is imported when a log shows its format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module

from diagnose.facts.model import Observation, Step
from diagnose.facts.reader import Reader
from diagnose.typed import Generic, TypeVar

_Found = TypeVar("_Found")


class Readers(Mapping[str, Reader[_Found]], Generic[_Found]):
    """Readers by the key of their anchors: `fact:` or `step:`, and the reader's name."""

    def __init__(self, kind: str, places: Mapping[str, str]) -> None:
        """Take `places`: for each reader's name, its module in this package and its name in there."""
        self._places = {f"{kind}:{name}": place for name, place in places.items()}
        self._read: dict[str, Reader[_Found]] = {}

    def __getitem__(self, key: str) -> Reader[_Found]:
        found = self._read.get(key)
        if found is None:
            module, _, name = self._places[key].partition(".")
            found = self._read[key] = getattr(import_module(f"{__package__}.{module}"), name)
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


READERS: Readers[Observation] = Readers(
    "fact",
    {
        "megatron-arguments": "arguments.ARGUMENTS",
        "megatron-world-size": "arguments.WORLD_SIZE",
        "bridge-summary": "bridge.SUMMARY",
        "bridge-configuration": "bridge.DOCUMENT",
        "command-line": "commandline.COMMAND",
        "deepspeed-configuration": "deepspeed.ENGINE",
        "training-arguments": "deepspeed.TRAINING_ARGUMENTS",
        "environment": "environment.ENVIRONMENT",
        "nccl-environment": "environment.NCCL_ENVIRONMENT",
        "memory-line": "memory_lines.MEMORY",
        "timers": "milestones.TIMERS",
        "nvidia-smi": "nvidia_smi.TABLE",
        "gpu-list": "nvidia_smi.LIST",
        "placement": "placement.PLACEMENT",
        "slurm-job": "slurm_job.JOB",
        "stragglers": "stragglers.STRAGGLERS",
        "versions": "versions.VERSIONS",
    },
)
STEP_READERS: Readers[Step] = Readers("step", {"milestones": "milestones.MILESTONES"})


def stamp() -> int:
    """Return a number that changes when a module of this package is edited: what its anchors made is stale then."""
    with os.scandir(os.path.dirname(__file__)) as entries:
        found = sorted((each.name, each.stat().st_mtime_ns) for each in entries if each.name.endswith(".py"))
    return hash(tuple(stamp for _, stamp in found))
