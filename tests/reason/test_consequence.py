"""What is shown in place of a root where only consequences are visible."""

from __future__ import annotations

import pytest

from tests.conftest import Diagnose
from tests.reason.words import step, traceback

OOM_KILL = (
    "[Wed May  6 10:00:30 2026] {name} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
    "[Wed May  6 10:00:30 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,"
    "oom_memcg=/slurm/job_77,task_memcg=/slurm/job_77/step_0,task={name},pid=12345,uid=1000\n"
    "[Wed May  6 10:00:30 2026] Memory cgroup out of memory: Killed process 12345 ({name}) total-vm:912345678kB, "
    "anon-rss:1034567890kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:212345kB oom_score_adj:0\n"
)


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (
            "torch.distributed.DistBackendError: NCCL error in: a.cpp:1691, unhandled cuda error",
            "nccl-unhandled-cuda-error",
        ),
        ("EOFError", "worker-pipe-closed"),
        ("RuntimeError: Pin memory thread exited unexpectedly", "pin-memory-thread-exited"),
        ("ray.exceptions.ObjectLostError: All copies of 00ff have been lost due to node failure", "ray-object-lost"),
    ],
)
def test_a_symptom_alone(diagnose_logs: Diagnose, words: str, pattern: str) -> None:
    """A consequence without a victim's page of its own is shown itself, as a symptom, with where to look."""
    diagnosis = diagnose_logs({"train.log": step(1) + traceback(words)})
    assert diagnosis.verdict == "symptom_only"
    root = diagnosis.root_cause
    assert root is not None
    assert (root.pattern, root.confidence) == (pattern, "low")
    assert root.evidence[0].text.endswith(words)
    assert root.fixes
    assert "kernel log" in diagnosis.summary
    assert not diagnosis.fallout


def test_a_kernel_record_alone(diagnose_logs: Diagnose) -> None:
    """The kernel's record that it killed a Python process is a fact, also where the job says nothing."""
    diagnosis = diagnose_logs({"dmesg.log": OOM_KILL.format(name="python3")})
    assert diagnosis.verdict == "identified"
    root = diagnosis.root_cause
    assert root is not None
    assert (root.pattern, root.confidence, root.evidence[0].line) == ("host-oom-kill", "medium", 3)


def test_a_kernel_record_of_another_process(diagnose_logs: Diagnose) -> None:
    """That it killed something else proves nothing of the job."""
    diagnosis = diagnose_logs({"dmesg.log": OOM_KILL.format(name="node_exporter")})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.confidence == "low"
    assert "the job's own logs" in diagnosis.summary


@pytest.mark.parametrize(
    "record",
    [
        OOM_KILL.format(name="python3"),
        "[Wed May  6 10:00:30 2026] mlx5_core 0000:5c:00.0 ibp92s0: Link down\n",
        "[Wed May  6 10:00:30 2026] INFO: task kworker/u256:3:1234 blocked for more than 120 seconds.\n",
    ],
)
def test_the_job_went_on_after_a_kernel_record(diagnose_logs: Diagnose, record: str) -> None:
    """What the kernel recorded minutes before the job's last steps did not end it."""
    steps = "".join(step(number, clock=f"10:{number:02}:00") for number in range(8))
    assert diagnose_logs({"train.log": steps, "dmesg.log": record}).verdict == "no_failure"


def test_the_job_fell_silent_at_a_kernel_record(diagnose_logs: Diagnose) -> None:
    """Where the job's last word stands before it, the record tells how it ended."""
    steps = "".join(step(number, clock=f"09:{number + 50:02}:00") for number in range(8))
    diagnosis = diagnose_logs({"train.log": steps, "dmesg.log": OOM_KILL.format(name="python3")})
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "host-oom-kill"


def test_a_symptom_without_time_above(diagnose_logs: Diagnose) -> None:
    """A line without a time that stands above the first line with one is the first to be hit."""
    flushed = (
        "node3:984:1357 [4] NCCL WARN NET/IB : Got completion from peer 10.0.1.23<34696> with status=5 opcode=0 len=0"
    )
    later = (
        "[rank4]:[E1229 16:47:25.333820755 ProcessGroupNCCL.cpp:541] [Rank 4] found async exception when checking for "
        "NCCL errors: NCCL error: remote process exited or there was a network error, NCCL version 2.22.3\n"
    )
    diagnosis = diagnose_logs({"train.log": f"{flushed}\n{later}"})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].line == 1


def test_last_words_of_the_watchdog(diagnose_logs: Diagnose) -> None:
    """The watchdog's last words are a symptom where nothing else is left; a line that tells more goes first."""
    last = (
        "[rank5]:[E207 19:37:09.983540349 ProcessGroupNCCL.cpp:681] [Rank 5] Some NCCL operations have failed or timed "
    )
    last += (
        "out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted data.\n"
    )
    gone = (
        "[rank5]:[E207 19:37:09.983600771 ProcessGroupNCCL.cpp:1895] [Rank 5] Process group watchdog thread terminated "
    )
    gone += "with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5\n"
    alone = diagnose_logs({"train.log": last}).root_cause
    assert alone is not None
    assert (alone.pattern, alone.evidence[0].line) == ("collective-timed-out", 1)
    both = diagnose_logs({"train.log": last + gone}).root_cause
    assert both is not None
    assert (both.pattern, both.evidence[0].line) == ("peer-lost", 2)
