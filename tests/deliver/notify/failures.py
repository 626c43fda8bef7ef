"""Diagnoses and events to tell of."""

from __future__ import annotations

from diagnose.deliver.model import Event
from diagnose.read.model import Evidence
from diagnose.reason.result import Action, ConfigValue, Diagnosis, Finding, Fix, Input, Run

EVENT = Event("slurm", "123_4", "llama3-70b", "alice", "eos", ("/logs/job.out",), "2026-07-10T02:14:07", "FAILED")


def failure(
    text: str = "RuntimeError: CUDA out of memory",
    *,
    pattern: str = "cuda-oom",
    category: str = "gpu-memory",
    rank: int = 3,
) -> Diagnosis:
    """Give a failed job's diagnosis."""
    line = Evidence("/logs/job.out", 10, text, rank, f"node-{rank}")
    fix = Fix("f", 1, "Halve the micro-batch.", ("cfg.train.micro_batch_size = 1",))
    root = Finding(
        pattern, "CUDA out of memory", category, "root", "high", "The memory is full.", (line,), fixes=(fix,)
    )
    return Diagnosis(
        "identified",
        f"CUDA out of memory on rank {rank}",
        root,
        plan=(fix,),
        action=Action("after_fix", "config"),
        run=Run(config={f"key{n}": ConfigValue("v" * 50, "a:1") for n in range(200)}),
        inputs=(Input("/logs/job.out", 100, 10),),
    )
