"""Pieces of logs that the tests of the reasoning put together."""

from __future__ import annotations


def step(number: int, total: int = 100, clock: str = "10:00:00") -> str:
    """Write one iteration line of Megatron-LM."""
    return (
        f" [2026-05-06 {clock}] iteration {number:8d}/{total:8d} | consumed samples: {number * 32:12d} | "
        f"elapsed time per iteration (ms): 3050.4 | learning rate: 5.000000E-06 | global batch size:    32 | "
        f"lm loss: 1.483921E+00 | loss scale: 1.0 | grad norm: 1.271 | number of skipped iterations:   0 | "
        f"number of nan iterations:   0 |\n"
    )


def traceback(final: str, *, prefix: str = "", file: str = "/workspace/train.py", function: str = "main") -> str:
    """Write one Python traceback."""
    lines = [
        "Traceback (most recent call last):",
        '  File "/workspace/train.py", line 88, in <module>',
        "    main()",
        f'  File "{file}", line 41, in {function}',
        "    step()",
        final,
    ]
    return "".join(f"{prefix}{line}\n" for line in lines)


OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 has a total capacity of 79.11 GiB "
    "of which 121.00 MiB is free. Including non-PyTorch memory, this process has 78.90 GiB memory in use. Of the "
    "allocated memory 63.40 GiB is allocated by PyTorch, and 11.93 GiB is reserved by PyTorch but unallocated."
)
GLOO_CLOSED = "RuntimeError: [/src/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:4711."
WATCHDOG = (
    "[rank{rank}]:[E506 {clock}.102 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=88123, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 "
    "milliseconds before timing out.\n"
)
CHILD_FAILED = (
    "E0506 10:10:42.141000 26163 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: {code}) "
    "local_rank: {local} (pid: 26179) of binary: /opt/venv/bin/python3\n"
)


def stamped(text: str, stamp: str) -> str:
    """Put a stamp before every line, as a collector does."""
    return "".join(f"{stamp} {line}\n" for line in text.splitlines())


def watchdog(
    rank: int, clock: str, *, seq: int = 88123, op: str = "ALLREDUCE", numel: int = 1, limit: int = 600_000
) -> str:
    """Write the line of a rank that gave up a collective."""
    return (
        f"[rank{rank}]:[E506 {clock}.102 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation "
        f"timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel}, NumelOut={numel}, Timeout(ms)={limit}) ran for "
        f"{limit + 12} milliseconds before timing out.\n"
    )


def status(
    rank: int, clock: str, *, enqueued: int, completed: int, seq: int, group: str = "0 PG GUID 0(default_pg)"
) -> str:
    """Write the line in which a rank says how far it came in a process group."""
    return (
        f"[rank{rank}]:[E506 {clock}.203 ProcessGroupNCCL.cpp:2168] [PG ID {group} Rank {rank}]  failure detected by "
        f"watchdog at work sequence id: {seq} PG status: last enqueued work: {enqueued}, last completed work: "
        f"{completed}\n"
    )
