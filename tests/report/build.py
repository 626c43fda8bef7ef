"""Diagnoses made by hand, one for each kind of answer."""

from __future__ import annotations

from diagnose.read.model import Evidence
from diagnose.reason.result import (
    Action,
    Cause,
    Check,
    ConfigValue,
    Cost,
    Diagnosis,
    Fallout,
    Finding,
    Fix,
    Input,
    Run,
)
from diagnose.report.model import Context

OOM_LINE = (
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 has a total capacity of "
    "79.10 GiB of which 201.00 MiB is free. Including non-PyTorch memory, this process has 78.90 GiB memory in use. Of "
    "the allocated memory 66.10 GiB is allocated by PyTorch, and 11.90 GiB is reserved by PyTorch but unallocated. If "
    "reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
)


def context(**changes: object) -> Context:
    """Give a context with the values that the tests expect."""
    values: dict[str, object] = {
        "version": "0.1.0",
        "pattern_count": 2,
        "pattern_digest": "0123456789ab",
        "titles": {"cuda-oom": "CUDA out of memory", "loss-nan": "NaN in the loss", "host-killed": "Killed"},
    }
    return Context(**{**values, **changes})  # type: ignore[arg-type]


def line(number: int, text: str, path: str = "train.log", **who: object) -> Evidence:
    """Give one evidence line."""
    return Evidence(path, number, text, **who)  # type: ignore[arg-type]


EXPANDABLE = Fix(
    "expandable-segments",
    1,
    "Let the allocator grow its segments.",
    ("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "export NCCL_GRAPH_REGISTER=0"),
    cost=Cost(
        "No measurable cost; cured the same failure.", "Llama3 70B, 32 × H100", "Megatron Bridge performance guide"
    ),
    warning="Set NCCL_GRAPH_REGISTER=0 with it: Transformer Engine graphs need it.",
)
SELECTIVE = Fix(
    "selective-recompute",
    2,
    "Recompute the core attention.",
    ('cfg.model.recompute_granularity = "selective"', 'cfg.model.recompute_modules = ["core_attn"]'),
    state="already_applied",
    why="recompute_granularity=selective, train.log:198",
)
OFFLOAD = Fix(
    "cpu-offload",
    3,
    "Offload activations to the host.",
    ("cfg.model.cpu_offloading = True",),
    state="not_applicable",
    why="Core refuses it together with pipeline parallelism; 4 stages are in use",
)
SMALLER = Fix(
    "smaller-micro-batch",
    2,
    "Halve the micro-batch.",
    ("cfg.train.micro_batch_size = 1",),
    state="unknown",
    why="the micro-batch size is larger than 1; it was not seen",
)


def out_of_memory() -> Diagnosis:
    """One root, checks, fixes of every state, fallout."""
    primary = line(88412, OOM_LINE, rank=3, node="node-2", time="2026-07-10T02:14:07")
    root = Finding(
        "cuda-oom",
        "CUDA out of memory",
        "gpu-memory",
        "root",
        "high",
        "11.9 GiB lie reserved but unallocated, 37 × what was asked for; 66.1 of 79.1 GiB are really in use.",
        (primary, line(88390, "[rank3]: Traceback (most recent call last):", rank=3)),
        captures={"requested": "320.00 MiB", "cached": "11.90 GiB"},
        causes=(
            Cause("fragmentation", "The allocator's memory is fragmented.", "confirmed", "check cached: yes"),
            Cause("spike", "A step needed more than the ones before.", "possible"),
            Cause("leak", "Memory grows with every step.", "ruled_out", "peak memory is flat"),
        ),
        checks=(
            Check(
                "cached",
                "Would reserved but unallocated memory have covered the request?",
                "yes",
                "11.9 GiB ≥ 320 MiB",
                (primary,),
            ),
            Check("other", "Do other processes use the GPU?", "unknown", "nvidia-smi on node-2"),
            Check(
                "expandable",
                "Is expandable_segments on?",
                "no",
                "PYTORCH_CUDA_ALLOC_CONF is not set",
                (line(14, "env", "launch.sh"),),
            ),
        ),
        fixes=(EXPANDABLE, SMALLER, SELECTIVE, OFFLOAD),
        references=("docs.pytorch.org, CUDA semantics, memory management",),
    )
    return Diagnosis(
        "identified",
        "CUDA out of memory on rank 3 (node-2) in the optimizer step of iteration 1402: allocator fragmentation",
        root,
        fallout=(
            Fallout(
                "nccl-timeout",
                "A collective timed out",
                63,
                tuple(r for r in range(64) if r != 3),
                line(90112, "[rank0]: Watchdog caught collective operation timeout", rank=0),
                "cuda-oom",
                "ALLREDUCE 10 min later; they waited for rank 3, which left at 02:14:07",
            ),
            Fallout(
                "torchrun-summary",
                "torchrun's summary",
                1,
                (),
                line(91000, "ChildFailedError:"),
                "cuda-oom",
                "names rank 3",
            ),
        ),
        plan=(EXPANDABLE, SMALLER),
        action=Action("after_fix", "config", (), "Nothing is wrong with the node."),
        run=Run(
            "megatron-bridge",
            {"bridge": "0.4.2", "core": "0.16.1"},
            {
                "recompute_granularity": ConfigValue("selective", "train.log:198"),
                "lr": ConfigValue(1e-4, "train.log:190"),
            },
            {"NCCL_DEBUG": ConfigValue("WARN", "launch.sh:3")},
            {"tp": 8, "pp": 4, "dp": 2, "cp": 1},
            64,
            1402,
            1400,
            "2026-07-10T01:00:00",
            "2026-07-10T02:24:07",
            600.0,
            "optimizer",
            {"tflops": 412.5},
            {"peak_allocated": 7.1e10},
        ),
        inputs=(
            Input("train.log", 12_400_000, 91_004),
            Input("node-3.log", 0, 0, None, "node-3", ("permission denied; it was left out.",)),
        ),
        missing=("no kernel log",),
    )


def killed() -> Diagnosis:
    """Only a consequence is visible."""
    root = Finding(
        "host-killed",
        "The process was killed",
        "host-memory",
        "root",
        "low",
        "Signal 9 came from outside the process; nothing in these logs says who sent it.",
        (line(512, "srun: error: node-1: task 9: Killed", "slurm-77.out", node="node-1", rank=9),),
        checks=(Check("kernel", "Did the kernel kill it for memory?", "unknown", "dmesg -T | grep -i oom on node-1"),),
    )
    return Diagnosis(
        "symptom_only",
        "Rank 9 on node-1 was killed from outside; the proof of why is not in these logs.",
        root,
        action=Action("unknown", "unknown", (), "Ask the node first."),
        inputs=(Input("slurm-77.out", 40_000, 520),),
        missing=("the kernel log of node-1: dmesg -T, or journalctl -k", "rank 9 has no log of its own"),
    )


def unknown() -> Diagnosis:
    """An exception that no pattern knows."""
    root = Finding(
        "unknown-exception",
        "ZeroDivisionError",
        "code",
        "root",
        "low",
        "It is the first exception; no pattern knows it.",
        (
            line(71, "[rank1]: ZeroDivisionError: division by zero", rank=1),
            line(70, '[rank1]:   File "/app/train.py", line 88, in schedule', rank=1),
        ),
    )
    return Diagnosis(
        "unknown",
        "ZeroDivisionError: division by zero on rank 1, in schedule (/app/train.py:88); no pattern knows it",
        root,
        inputs=(Input("train.log", 4_000, 80),),
        notes=(line(60, "iteration 12/100 | loss 3.2"), line(71, "[rank1]: ZeroDivisionError: division by zero")),
    )


def ambiguous() -> Diagnosis:
    """Two roots that the evidence cannot tell apart."""
    first = Finding(
        "cuda-oom",
        "CUDA out of memory",
        "gpu-memory",
        "root",
        "medium",
        "Rank 3 has no time stamps.",
        (line(12, OOM_LINE, "r3.log"),),
        fixes=(EXPANDABLE,),
    )
    second = Finding(
        "loss-nan",
        "NaN in the loss",
        "numerical",
        "root",
        "medium",
        "Rank 0 has no time stamps either.",
        (line(40, "Exception: NaN in the loss", "r0.log"),),
        summary="The loss became NaN on rank 0.",
    )
    return Diagnosis(
        "ambiguous",
        "Two failures could be the first: out of memory on rank 3, or a NaN on rank 0",
        first,
        (second,),
        plan=(EXPANDABLE,),
        inputs=(Input("r3.log", 9_000, 14, 3), Input("r0.log", 9_000, 44, 0)),
        missing=("time stamps that order the two",),
    )


def degraded() -> Diagnosis:
    """A run that is slower than it should be."""
    root = Finding(
        "throughput-drop",
        "Throughput dropped",
        "performance",
        "root",
        "medium",
        "412 TFLOP/s up to iteration 900, 288 after it.",
        (line(901, "iteration 901 | 288.1 TFLOP/s/GPU"),),
    )
    risk = Finding(
        "offload-risk", "CPU offloading with pipelines", "config", "root", "low", "", (line(7, "--cpu-offloading"),)
    )
    return Diagnosis(
        "degraded",
        "Throughput fell by 30 % at iteration 901",
        root,
        risks=(risk,),
        inputs=(Input("train.log", 10, 1000),),
    )


def healthy() -> Diagnosis:
    """Nothing failed."""
    return Diagnosis(
        "no_failure",
        "No failure: the run ended well after iteration 5000",
        run=Run(world_size=8, last_iteration=5000),
        inputs=(Input("train.log", 2_345_678, 20_000),),
    )


ALL = {
    "out_of_memory": out_of_memory,
    "killed": killed,
    "unknown": unknown,
    "ambiguous": ambiguous,
    "degraded": degraded,
    "healthy": healthy,
}
