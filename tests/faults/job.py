"""A small data-parallel job on gloo that fails as it is told: run by the injector under torchrun, never imported.

The fault comes from the environment: FAULT (a name below), FAULT_RANK, FAULT_STEP. Each rank prints what real jobs
print: Megatron-style iteration lines on the last rank, phase lines on the first.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from datetime import datetime, timedelta

import torch
import torch.distributed as dist

STEPS = int(os.environ.get("STEPS", "12"))
FAULT = os.environ.get("FAULT", "")
FAULT_RANK = int(os.environ.get("FAULT_RANK", "1"))
FAULT_STEP = int(os.environ.get("FAULT_STEP", "5"))
SECOND = os.environ.get("SECOND_FAULT", "")
SECOND_RANK = int(os.environ.get("SECOND_RANK", "0"))
TIMEOUT = float(os.environ.get("COLLECTIVE_TIMEOUT", "6"))
JOIN_TIMEOUT = 10.0 if FAULT == "never-joins" else 100.0  # seconds; machines that run tests are slow to start
OUT_OF_MEMORY = (
    "CUDA out of memory. Tried to allocate 1.96 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.21 GiB is "
    "free. Including non-PyTorch memory, this process has 77.89 GiB memory in use. Of the allocated memory 73.40 GiB "
    "is allocated by PyTorch, and 1.93 GiB is reserved by PyTorch but unallocated."
)


class Corpus(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """A data set whose sample may be broken."""

    def __init__(self, broken: bool) -> None:
        self._broken = broken

    def __len__(self) -> int:
        return 4096

    def __getitem__(self, index: int) -> torch.Tensor:
        if self._broken and index > FAULT_STEP * 8:
            if FAULT == "worker-killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if FAULT == "loader-hang":
                time.sleep(600)
            json.loads('{"text": "a" "b"}')
        return torch.full((4,), float(index))


def load_batch(step: int) -> torch.Tensor:
    """Read the batch of one step."""
    return torch.full((4,), float(step))


def save_checkpoint(step: int, rank: int) -> None:
    """Write a checkpoint, or fail to."""
    if FAULT == "disk-full" and rank == FAULT_RANK:
        raise OSError(28, "No space left on device", f"/ckpt/iter_{step:07d}/rank_{rank}.pt")


def fail(fault: str, rank: int, step: int) -> None:
    """Fail as told, here and now."""
    if fault == "key-error":
        _ = {"tokens": 1}["labels"]
    elif fault == "assertion":
        assert step < 0, f"document {step} of data/shard_{rank:05d} does not start with BOS (got 17)"
    elif fault == "made-up":
        raise type("FrobError", (RuntimeError,), {})(f"frob {step} is out of tune")
    elif fault == "out-of-memory":
        raise torch.OutOfMemoryError(OUT_OF_MEMORY)
    elif fault == "shape":
        torch.ones(4, 3) @ torch.ones(4, 3)
    elif fault == "sigkill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif fault == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif fault == "abort":
        sys.stderr.write("double free or corruption (!prev)\n")
        sys.stderr.flush()
        os.abort()
    elif fault == "silent-exit":
        os._exit(1)
    elif fault == "sys-exit":
        sys.exit(3)
    elif fault == "hang":
        time.sleep(600)
    elif fault == "chained":
        try:
            {}["doc"]
        except KeyError as error:
            raise RuntimeError("cannot read shard 7 of the corpus") from error


def main() -> None:
    """Train a few steps."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if FAULT == "never-joins" and rank == FAULT_RANK:
        time.sleep(600)
    if FAULT == "config" and rank == FAULT_RANK:
        raise ValueError("num_attention_heads (6) must be a multiple of tensor_model_parallel_size (4).")
    if FAULT == "import" and rank == FAULT_RANK:
        import flash_attn_that_is_not_there  # noqa: F401
    dist.init_process_group("gloo", timeout=timedelta(seconds=JOIN_TIMEOUT))
    dist.barrier()
    dist.distributed_c10d._set_pg_timeout(timedelta(seconds=TIMEOUT))
    if rank == 0:
        print(f"using world size: {world}, data-parallel size: {world}, tensor-model-parallel size: 1", flush=True)
        print(f"[before the start of training step] datetime: {datetime.now():%Y-%m-%d %H:%M:%S} ", flush=True)
    worker_faults = FAULT in ("worker-json", "worker-killed", "loader-hang") and rank == FAULT_RANK
    loader = iter(torch.utils.data.DataLoader(Corpus(worker_faults), batch_size=8, num_workers=1))
    for step in range(1, STEPS + 1):
        batch = next(loader)
        if FAULT.startswith("recovered") and rank == FAULT_RANK and step == 3:
            try:
                raise ConnectionResetError(104, "Connection reset by peer: s3 shard 17")
            except ConnectionResetError:
                import traceback

                sys.stderr.write("WARNING data: read failed, retrying (1/3)\n" + traceback.format_exc())
        if step == FAULT_STEP and rank == FAULT_RANK:
            fail({"recovered": "key-error", "recovered-oom": "out-of-memory"}.get(FAULT, FAULT), rank, step)
        if SECOND and step == FAULT_STEP and rank == SECOND_RANK:
            time.sleep(3)
            fail(SECOND, rank, step)
        size = 2 if FAULT == "mismatch" and rank == FAULT_RANK and step == FAULT_STEP else 1
        total = torch.full((size,), float(batch.mean()))
        dist.all_reduce(total)
        time.sleep(0.05)
        if step % 4 == 0:
            save_checkpoint(step, rank)
        loss = float("nan") if FAULT == "nan" and step >= FAULT_STEP else 2.0 + 1 / step
        if FAULT == "nan" and step == FAULT_STEP + 4:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if rank == world - 1:
            field = f" lm loss: {loss:.6E} |" if loss == loss else " lm loss: NAN |"
            print(
                f" [{datetime.now():%Y-%m-%d %H:%M:%S.%f}] iteration {step:8d}/{STEPS:8d} |"
                f" consumed samples: {step * 8:12d} |"
                f" elapsed time per iteration (ms): 60.1 | learning rate: 1.0E-04 | global batch size:     8 |{field}"
                " loss scale: 1.0 | grad norm: 1.000 | number of skipped iterations:   0 |"
                " number of nan iterations:   0 |"
            )
    dist.destroy_process_group()
    print(f"rank {rank} done")


if __name__ == "__main__":
    main()
