"""Makes logs for the benchmark: the shapes that jobs leave behind, of any size, the same from the same seed."""

from __future__ import annotations

import gzip
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

START = 1_772_000_000  # seconds since the epoch
RANKS = 512
_NOTICES = (
    "/opt/venv/lib/python3.11/site-packages/torch/distributed/c10d_logger.py:83: FutureWarning: "
    "`torch.distributed._reduce_scatter_base` is deprecated",
    "WARNING:megatron.core.utils:fused kernels are not built; the unfused path is taken for this layer",
    "Token indices sequence length is longer than the specified maximum sequence length for this model (9310 > 8192)",
    'DEBUG:urllib3.connectionpool:https://store.internal:443 "GET /data/shard-00411.tar HTTP/1.1" 200 1048576',
)
_END = (
    "[rank{rank}]:[E228 07:12:44.102 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=88123, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 "
    "milliseconds before timing out.\n"
)
_CRASH = """[rank{rank}]: Traceback (most recent call last):
[rank{rank}]:   File "/workspace/Megatron-LM/pretrain_gpt.py", line 301, in <module>
[rank{rank}]:     pretrain(train_valid_test_datasets_provider, model_provider)
[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:317, \
remote process exited or there was a network error, NCCL version 2.21.5
[rank{rank}]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
"""


def training(seed: int = 1) -> Iterator[str]:
    """Yield the lines of a job without end: four bytes in five are iteration lines."""
    chance = random.Random(seed)
    number = 0
    while True:
        kind = chance.random()
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(START + 4 * number))
        if kind < 0.6:
            number += 1
            yield (
                f" [{stamp}] iteration {number:8d}/ 9000000 | consumed samples: {number * 1024:12d} | elapsed time per "
                f"iteration (ms): {4000 + 300 * chance.random():.1f} | throughput per GPU (TFLOP/s/GPU): "
                f"{380 + 30 * chance.random():.1f} | learning rate: {chance.random() * 1e-4:.6E} | global batch size:  "
                f"1024 | lm loss: {2 + chance.random():.6E} | loss scale: 1.0 | grad norm: {chance.random():.3f} | "
                "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
            )
        elif kind < 0.78:
            gpu = chance.randrange(8)
            yield (
                f"node-{chance.randrange(64):03d}:{chance.randrange(99_999)}:{chance.randrange(99_999)} [{gpu}] "
                f"NCCL INFO Channel {chance.randrange(32):02d}/0 : {gpu}[{gpu}] -> {(gpu + 1) % 8} via P2P/CUMEM/read\n"
            )
        elif kind < 0.97:
            yield f"[rank{chance.randrange(RANKS)}]: {chance.choice(_NOTICES)}\n"
        elif kind < 0.985:
            yield f"\x1b[32m{stamp}\x1b[0m | \x1b[1mINFO\x1b[0m | saving checkpoint at iteration {number} to /data\n"
        else:
            yield (
                "".join(
                    f"\rValidating: {n:3d}%|{'#' * (n // 10):10s}| {n}/100 [00:01<00:04]" for n in range(0, 101, 25)
                )
                + "\n"
            )


def dense() -> Iterator[str]:
    """Yield what 512 ranks print that fail at the same time: three lines in five match a pattern."""
    number = 0
    while True:
        number += 1
        yield _CRASH.format(rank=number % RANKS)


def write(path: Path, size: int, lines: Callable[[], Iterator[str]], end: str = "") -> None:
    """Write a log of about `size` bytes with `end` as its last words; one that is there already stays."""
    if path.exists():
        return
    scratch = path.with_suffix(".tmp")
    written, source = 0, lines()
    with scratch.open("w", encoding="utf-8", buffering=1 << 20) as file:
        while written < size:
            written += file.write(next(source))
        file.write(end)
    scratch.rename(path)


def make(folder: Path, size: int, files: int) -> dict[str, Path]:
    """Make all logs and return them by what they are: big, dense, small, packed (.gz), zst, ranks (a folder).

    Args:
        folder: where they are kept from one run to the next.
        size: of the big log, in bytes.
        files: how many logs of 2 MB the folder of ranks has.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = {"big": folder / f"big-{size}.log", "dense": folder / "dense.log", "small": folder / "small.log"}
    write(made["big"], size, training, _END.format(rank=137) + _CRASH.format(rank=137))
    write(made["dense"], 100_000_000, dense)
    write(made["small"], 2_000_000, training, _END.format(rank=137) + _CRASH.format(rank=137))
    made["ranks"] = folder / f"ranks-{files}"
    made["ranks"].mkdir(exist_ok=True)
    for rank in range(files):
        write(made["ranks"] / f"rank_{rank:03d}.log", 2_000_000, partial(training, rank), _END.format(rank=rank))
    made["packed"] = folder / f"big-{size}.log.gz"
    _pack(made["big"], made["packed"], gzip.open)
    try:
        import zstandard
    except ImportError:
        return made
    made["zst"] = folder / f"big-{size}.log.zst"
    _pack(made["big"], made["zst"], zstandard.open)
    return made


def _pack(source: Path, target: Path, opener: Callable[..., Any]) -> None:
    if target.exists():
        return
    scratch = target.with_suffix(".tmp")
    with source.open("rb") as plain, opener(scratch, "wb") as packed:
        while block := plain.read(1 << 20):
            packed.write(block)
    scratch.rename(target)
