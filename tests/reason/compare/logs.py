"""Logs of Megatron Bridge with chosen figures, as its own lines print them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

MODEL: dict[str, Any] = {
    "num_layers": 80,
    "hidden_size": 8192,
    "ffn_hidden_size": 28672,
    "tensor_model_parallel_size": 4,
    "pipeline_model_parallel_size": 4,
    "virtual_pipeline_model_parallel_size": 5,
    "recompute_granularity": "selective",
    "recompute_modules": ["core_attn"],
}
_OOM = (
    "[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 0 has a total capacity"
    " of 79.11 GiB of which 201.00 MiB is free. Including non-PyTorch memory, this process has 78.90 GiB memory in use."
    " Of the allocated memory 54.10 GiB is allocated by PyTorch, and 21.90 GiB is reserved by PyTorch but unallocated."
)


def bridge_log(
    path: Path,
    *,
    ms: float,
    peaks: dict[int, float],
    tflops: float | None = None,
    model: dict[str, Any] | None = None,
    optimizer: dict[str, Any] | None = None,
    oom: int | None = None,
    seed: int = 0,
    iterations: int = 40,
    jitter: float = 0.004,
) -> str:
    """Write a log and return its path.

    Arguments: the step time in milliseconds, peaks in GB by rank, TFLOP/s/GPU, settings over `MODEL`, settings of the
    optimizer, the rank that runs out of memory at the end, and the jitter of the step time.
    """
    dice = random.Random(seed)
    lines = ["=" * 70, "Configuration Summary (Non-Default Values vs Megatron Core)", "=" * 70, ""]
    sections = {"model": {**MODEL, **(model or {})}, "optimizer": optimizer or {}}
    for section, settings in sections.items():
        lines.append(f"[{section}] Non-default values (vs Mcore Config):")
        lines += [f"  {key}: {value!r}  (Mcore default: None)" for key, value in sorted(settings.items())]
        lines.append("")
    for number in range(1, iterations + 1):
        factor = 1 + dice.gauss(0, jitter) + (0.8 if number == 1 else 0)
        rate = "" if tflops is None else f" throughput per GPU (TFLOP/s/GPU): {tflops / factor:.1f} |"
        lines.append(
            f" [2026-05-06 11:{20 + number // 60:02d}:{number % 60:02d}] iteration {number:8d}/      50 |"
            f" consumed samples: {number * 32:12d} | elapsed time per iteration (ms): {ms * factor:.1f} |{rate}"
            " learning rate: 5.000000E-06 | global batch size:    32 | lm loss: 1.483921E+00 | loss scale: 1.0 |"
            " grad norm: 1.271 | number of skipped iterations:   0 | number of nan iterations:   0 |"
        )
        if number == 2:
            lines += [
                f"[Rank {rank}] (after 2 iterations) memory (GB) | mem-allocated-gigabytes: 33.121 |"
                f" mem-max-allocated-gigabytes: {peak:.5g} | mem-max-reserved-gigabytes: {peak + 12:.5g} |"
                " mem-alloc-retires: 0"
                for rank, peak in peaks.items()
            ]
    if oom is not None:
        lines += ["Traceback (most recent call last):", '  File "train.py", line 3, in train', "    optimizer.step()"]
        lines[-3:] = [f"[rank{oom}]: {line}" for line in lines[-3:]]
        lines.append(_OOM.format(rank=oom))
    path.write_text("\n".join(lines) + "\n")
    return str(path)
