"""Clocks of several sources are brought together before times are compared."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.model import SourceRecord, Step
from diagnose.read.model import Evidence
from diagnose.reason.clocks import align
from tests.conftest import Diagnose
from tests.reason.words import CHILD_FAILED, OUT_OF_MEMORY, stamped, step, traceback

NO_SPACE = "OSError: [Errno 28] No space left on device: '/ckpt/x'"


def steps(hour: int, count: int = 8) -> str:
    """Write a minute's iterations from the full hour on."""
    return "".join(step(number, clock=f"{hour:02d}:00:{number * 5:02d}") for number in range(1, count))


def test_zones_by_iterations(diagnose_logs: Diagnose) -> None:
    """Two nodes whose clocks are nine hours apart: the earlier failure is the root, and the why says what was done."""
    logs = {
        "node-0.log": steps(10) + stamped(traceback(NO_SPACE, prefix="[rank0]: "), "2026-05-06 10:00:50"),
        "node-1.log": steps(19) + stamped(traceback(OUT_OF_MEMORY, prefix="[rank1]: "), "2026-05-06 19:00:40"),
    }
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"
    assert "9.0 h more" in diagnosis.root_cause.why
    assert "iteration 1" in diagnosis.root_cause.why


def test_drift_by_iterations(diagnose_logs: Diagnose) -> None:
    """A host's clock that is forty seconds ahead does not make its failure the later one."""
    ahead = "".join(
        step(number, clock=f"10:{(number * 5 + 40) // 60:02d}:{(number * 5 + 40) % 60:02d}") for number in range(1, 8)
    )
    logs = {
        "node-0.log": steps(10) + stamped(traceback(NO_SPACE, prefix="[rank0]: "), "2026-05-06 10:00:55"),
        "node-1.log": ahead + stamped(traceback(OUT_OF_MEMORY, prefix="[rank1]: "), "2026-05-06 10:01:20"),
    }
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"


def test_zones_by_begin_and_end(diagnose_logs: Diagnose) -> None:
    """Where no iteration is shared, files that begin and end with the same whole hours between them are aligned."""
    first = stamped("start\n", "2026-05-06 10:00:01") + stamped(
        traceback(NO_SPACE, prefix="[rank0]: "), "2026-05-06 10:20:50"
    )
    other = stamped("start\n", "2026-05-06 15:30:03") + stamped(
        traceback(OUT_OF_MEMORY, prefix="[rank1]: "), "2026-05-06 15:50:41"
    )
    diagnosis = diagnose_logs({"node-0.log": first, "node-1.log": other})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"


def test_zones_by_collective(diagnose_logs: Diagnose) -> None:
    """Watchdogs that give up the same collective do so at the same moment."""
    watchdog = (
        "[rank{rank}]:[E506 {clock}.102 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=88123, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 "
        "milliseconds before timing out.\n"
    )
    logs = {
        "node-0.log": watchdog.format(rank=0, clock="10:10:05"),
        "node-1.log": stamped(traceback(OUT_OF_MEMORY, prefix="[rank2]: "), "2026-05-06 12:00:02")
        + watchdog.format(rank=3, clock="12:10:06"),
    }
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 2
    (waited,) = (each for each in diagnosis.fallout if each.pattern == "nccl-watchdog-timeout")
    assert "10:00:0" in waited.why or "12:00:0" in waited.why


def test_kernel_clock_by_pid(diagnose_logs: Diagnose) -> None:
    """Seconds since boot become a time where the kernel names a process whose end the launcher dated."""
    kernel = (
        "[12000.000000] Memory cgroup out of memory: Killed process 111 (python3) total-vm:1024kB, anon-rss:512kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:12kB oom_score_adj:0\n"
        "[99345.678950] Memory cgroup out of memory: Killed process 26179 (python3) total-vm:1024kB, anon-rss:512kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:12kB oom_score_adj:0\n"
    )
    diagnosis = diagnose_logs({"train.log": step(1) + CHILD_FAILED.format(code=-9, local=0), "dmesg.txt": kernel})
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert not any("process 111 " in each.text for each in diagnosis.root_cause.evidence)


def record(path: str, start: float, numbers: range, seconds: float = 3.0) -> SourceRecord:
    """Make a record of iterations."""
    told = [
        Step("iteration", number, number * 100, Evidence(path, number, ""), start + at * seconds)
        for at, number in enumerate(numbers)
    ]
    end = start + (len(numbers) - 1) * seconds
    return SourceRecord(path, steps=told, first_time=start, last_time=end)


def test_two_attempts_are_not_aligned() -> None:
    """A second attempt that repeats some iterations half an hour later is no rank with another clock."""
    records = [record("a", 1e9, range(1, 101)), record("b", 1e9 + 1800.0, range(90, 200))]
    aligned, shifts = align(records)
    assert not shifts
    assert aligned == records


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(-48, 48), min_size=1, max_size=6))
def test_any_zones(quarters: list[int]) -> None:
    """Whatever the zones of the ranks, their iterations coincide after alignment."""
    zones = [0, *(each * 2 for each in quarters)]
    aligned, _ = align([record(f"r{at}", 1e9 + zone * 900.0, range(1, 20)) for at, zone in enumerate(zones)])
    assert len({tuple(each.time for each in one.steps) for one in aligned}) == 1
