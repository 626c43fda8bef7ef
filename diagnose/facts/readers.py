"""The registry of readers: one line a format."""

from __future__ import annotations

from diagnose.facts import (
    arguments,
    bridge,
    commandline,
    deepspeed,
    environment,
    memory_lines,
    milestones,
    nvidia_smi,
    placement,
    slurm_job,
    stragglers,
    versions,
)
from diagnose.facts.model import Observation, Step
from diagnose.facts.reader import Reader

READERS: tuple[Reader[Observation], ...] = (
    arguments.ARGUMENTS,
    arguments.WORLD_SIZE,
    bridge.SUMMARY,
    bridge.DOCUMENT,
    commandline.COMMAND,
    deepspeed.ENGINE,
    deepspeed.TRAINING_ARGUMENTS,
    environment.ENVIRONMENT,
    environment.NCCL_ENVIRONMENT,
    memory_lines.MEMORY,
    milestones.TIMERS,
    nvidia_smi.TABLE,
    nvidia_smi.LIST,
    placement.PLACEMENT,
    slurm_job.JOB,
    stragglers.STRAGGLERS,
    versions.VERSIONS,
)
STEP_READERS: tuple[Reader[Step], ...] = (milestones.MILESTONES,)
