"""What ranks say of their collectives names the rank that is behind, or tells that the operation itself hung."""

from __future__ import annotations

import json
import pickle

from tests.conftest import Diagnose
from tests.reason.words import status, step, traceback, watchdog

WORLD = "using world size: 4, data-parallel size: 4, tensor-model-parallel size: 1\n"


def test_all_inside(diagnose_logs: Diagnose) -> None:
    """All ranks in the same operation, with the one before completed: the operation hung, and nobody is blamed."""
    log = WORLD + "".join(
        watchdog(rank, "10:10:05", seq=12) + status(rank, "10:10:05", enqueued=12, completed=11, seq=12)
        for rank in range(4)
    )
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "collective-hung-inside"
    assert "ALLREDUCE number 12" in diagnosis.root_cause.summary
    assert diagnosis.root_cause.category == "collective"
    assert "caught collective operation timeout" in diagnosis.root_cause.evidence[0].text


def test_first_collective(diagnose_logs: Diagnose) -> None:
    """Nothing was ever completed: the ranks cannot reach each other."""
    log = WORLD + "".join(
        watchdog(rank, "10:10:05", seq=1) + status(rank, "10:10:05", enqueued=1, completed=-1, seq=1)
        for rank in range(4)
    )
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "collective-first-failed"


def test_groups_apart(diagnose_logs: Diagnose) -> None:
    """Counters are compared inside one process group only."""
    log = WORLD + "".join(
        status(
            rank,
            "10:10:05",
            enqueued=500 + rank,
            completed=499 + rank,
            seq=500 + rank,
            group=f"{rank} PG GUID {rank}(dp{rank})",
        )
        for rank in range(3)
    )
    log += "".join(status(rank, "10:10:06", enqueued=7 - (rank == 3), completed=6, seq=7) for rank in range(4))
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 3
    assert "default_pg" in diagnosis.root_cause.why


def test_odd_operation(diagnose_logs: Diagnose) -> None:
    """One rank in another operation at the same number took another branch."""
    log = WORLD + "".join(
        watchdog(rank, "10:10:05", seq=12, op="BROADCAST" if rank == 2 else "ALLREDUCE") for rank in range(4)
    )
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "collective-desync"
    assert diagnosis.root_cause.evidence[0].rank == 2


def test_uneven_exchange(diagnose_logs: Diagnose) -> None:
    """Sizes differ rightly in an all-to-all: that is no mismatch."""
    log = WORLD + "".join(
        watchdog(rank, "10:10:05", seq=12, op="ALLTOALL_BASE", numel=100 + rank % 2) for rank in range(4)
    )
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is None or diagnosis.root_cause.pattern != "collective-desync"


def test_tiny_timeout(diagnose_logs: Diagnose) -> None:
    """A time-out of seconds is recognised as too short, with its number."""
    log = WORLD + "".join(watchdog(rank, "10:00:25", limit=20_000) for rank in (0, 1, 2))
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    (check,) = (each for each in diagnosis.root_cause.checks if each.id == "short-timeout")
    assert check.answer == "yes"
    assert "20 s" in check.observed


def test_timeout_shorter_than_a_save(diagnose_logs: Diagnose) -> None:
    """A time-out below the length of an earlier checkpoint is recognised."""
    log = WORLD + "2026-05-06 09:00:00 saving checkpoint at iteration 100 to /ckpt\n"
    log += "2026-05-06 09:12:00   successfully saved checkpoint from iteration     100 to /ckpt\n"
    log += "".join(watchdog(rank, "10:10:05") for rank in (0, 1, 2))
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    (check,) = (each for each in diagnosis.root_cause.checks if each.id == "short-timeout")
    assert check.answer == "yes"
    assert "720 s" in check.observed


def test_words_before_the_hang(diagnose_logs: Diagnose) -> None:
    """Of the straggler the words before the others began to wait are shown, not those of its end."""
    logs = {f"rank_{rank}.log": WORLD + watchdog(rank, "10:10:05") for rank in (0, 1, 3)}
    logs["rank_2.log"] = (
        "2026-05-06 09:59:58 reading shard 17 from /data\n2026-05-06 10:10:20 still here\n2026-05-06 10:10:30 bye\n"
    )
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 2
    assert "reading shard 17" in diagnosis.root_cause.evidence[0].text
    assert "10:00:0" in diagnosis.root_cause.why


def test_dump_signal(diagnose_logs: Diagnose) -> None:
    """Who signalled the dump first, and who only followed, is told."""
    log = WORLD + watchdog(0, "10:10:05")
    log += "[rank0]:[E506 10:10:05.3 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0 Rank 0] First PG on "
    log += "this rank to signal dumping.\n"
    for rank in (1, 2):
        log += watchdog(rank, "10:10:06") + (
            f"[rank{rank}]:[E506 10:10:06.3 ProcessGroupNCCL.cpp:1685] [PG ID 0 PG GUID 0 Rank {rank}] Observed flight "
            "recorder dump signal from another rank via TCPStore.\n"
        )
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert "rank 0 signalled the dump first; ranks 1-2 only followed" in diagnosis.root_cause.why


def test_key_names_the_absent(diagnose_logs: Diagnose) -> None:
    """The store's key names the rank that did not come."""
    final = "torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /worker/attempt_0/default/0/rank_5"
    log = "using world size: 64, data-parallel size: 64\n" + traceback(final, prefix="[rank0]: ")
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.captures["ranks"] == "rank 5"


def test_monitored_barrier(diagnose_logs: Diagnose) -> None:
    """A monitored barrier names the rank that did not come, and that is the rank of the finding."""
    final = "RuntimeError: [Rank 0]: Ranks 3 failed to pass monitoredBarrier in 600000 ms"
    diagnosis = diagnose_logs({"train.log": step(1) + traceback(final, prefix="[rank0]: ")})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 3


def test_quiet_exit(diagnose_logs: Diagnose) -> None:
    """A rank that the launcher saw fail, and that said nothing, is named; those that it stopped are not."""
    table = (
        "W0506 10:10:42.000000 18581 torch/distributed/elastic/multiprocessing/api.py:1028] "
        "Sending process 300 closing signal SIGTERM\n"
        "E0506 10:10:42.141000 18581 torch/distributed/elastic/multiprocessing/api.py:1002] "
        "failed (exitcode: 1) local_rank: 1 (pid: 301) of binary: /opt/venv/bin/python3\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "Failures:\n[1]:\n  time      : 2026-05-06_10:10:42\n  host      : node-0\n  rank      : 0 (local_rank: 0)\n"
        "  exitcode  : -15 (pid: 300)  (SIGTERM)\n  error_file: <N/A>\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-05-06_10:10:42\n  host      : node-0\n"
        "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 301) \n  error_file: <N/A>\n"
    )
    diagnosis = diagnose_logs({"train.log": step(1) + table})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "rank-exited-silently"
    assert diagnosis.root_cause.evidence[0].rank == 1


def dump(rank: int, *, enqueued: int, completed: int) -> dict[str, object]:
    """Make what the flight recorder of a rank holds."""
    entries = [
        {
            "process_group": ("0", "default_pg"),
            "collective_seq_id": number,
            "profiling_name": "nccl:all_reduce",
            "input_sizes": ((4,),),
            "output_sizes": ((4,),),
            "state": "completed" if number <= completed else "scheduled",
            "frames": [{"filename": "/workspace/train.py", "line": 88, "name": "train_step"}],
        }
        for number in range(completed - 1, enqueued + 1)
    ]
    return {
        "version": "2.5",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},
        "pg_status": {"0": {"last_enqueued_collective": enqueued, "last_completed_collective": completed}},
        "entries": entries,
    }


def test_flight_recorder(diagnose_logs: Diagnose) -> None:
    """Dumps alone name the rank that never entered the collective, and where its last one was called."""
    logs = {
        f"nccl_trace_rank_{rank}.json": json.dumps(dump(rank, enqueued=20 if rank == 1 else 21, completed=20))
        for rank in range(4)
    }
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "rank-went-silent"
    assert diagnosis.root_cause.evidence[0].rank == 1
    assert "train.py:88" in diagnosis.root_cause.evidence[0].text
    assert pickle.dumps(dump(0, enqueued=2, completed=1))[:1] == b"\x80"
