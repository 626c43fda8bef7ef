"""Attempts: restarts, requeues and submissions after one another."""

from __future__ import annotations

import pytest

from tests.conftest import Diagnose
from tests.reason.words import OUT_OF_MEMORY, step, traceback

NO_SPACE = "OSError: [Errno 28] No space left on device"
JOB = "exp/pretrain_1772300000/llama"


def iterations(hour: int, first: int = 1, total: int = 1000) -> str:
    """Write ten minutes of progress."""
    return "".join(step(first + minute, total, f"{hour}:{minute:02d}:00") for minute in range(10))


def test_output_that_outlives_attempts(diagnose_logs: Diagnose) -> None:
    """A batch script's output holds the words of all attempts; what ended the first one is no root of the second."""
    batch = (
        "slurmstepd: error: *** JOB 42 ON node-3 CANCELLED AT 2026-05-06T10:12:00 DUE TO NODE FAILURE, SEE SLURMCTLD "
        "LOG FOR DETAILS ***\n"
        "srun: error: node-4: task 5: Exited with exit code 1\n"
        "slurmstepd: error: *** STEP 42.0 ON node-3 CANCELLED AT 2026-05-06T12:10:05 ***\n"
    )
    diagnosis = diagnose_logs(
        {
            f"{JOB}/log-a.llama_42_0.out": iterations(10),
            f"{JOB}/log-a.llama_42_1.out": iterations(12) + traceback(OUT_OF_MEMORY, prefix="5: [rank5]: "),
            f"{JOB}/sbatch_a.llama_42.out": batch,
        }
    )
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.pattern, diagnosis.root_cause.evidence[0].rank) == ("cuda-oom", 5)
    assert [each.pattern for each in diagnosis.attempts] == ["slurm-node-failure"]
    assert {"slurm-node-failure"}.isdisjoint(each.pattern for each in diagnosis.fallout)


@pytest.mark.parametrize(
    "names",
    [
        ("slurm-4350.out", "slurm-4377.out"),
        ("log-a.b_900_0.out", "log-a.b_1200_0.out"),
        ("run_20260505_223000.log", "run_20260506_093000.log"),
    ],
)
def test_submissions_in_one_folder(diagnose_logs: Diagnose, names: tuple[str, str]) -> None:
    """Of two jobs that ran one after the other the last is diagnosed, and the first is named."""
    diagnosis = diagnose_logs(
        {
            names[0]: iterations(10) + traceback(OUT_OF_MEMORY, prefix="5: [rank5]: "),
            names[1]: iterations(12) + traceback(NO_SPACE, prefix="2: [rank2]: "),
        }
    )
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "no-space-left"
    assert [each.pattern for each in diagnosis.attempts] == ["cuda-oom"]


def test_jobs_at_the_same_time_are_one(diagnose_logs: Diagnose) -> None:
    """Logs whose times overlap are those of one run, whatever numbers their names hold."""
    diagnosis = diagnose_logs(
        {
            "part-100.out": iterations(10) + traceback(OUT_OF_MEMORY, prefix="[rank5]: "),
            "part-200.out": iterations(10) + "words\n",
        }
    )
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"
    assert diagnosis.attempts == ()


def test_last_submission_reached_its_end(diagnose_logs: Diagnose) -> None:
    """A job that was started again and reached its last iteration has not failed."""
    diagnosis = diagnose_logs(
        {
            "slurm-4350.out": iterations(10) + traceback(OUT_OF_MEMORY, prefix="5: [rank5]: "),
            "slurm-4377.out": iterations(12, total=10),
        }
    )
    assert diagnosis.verdict == "no_failure"


def test_node_of_a_file_named_after_it(diagnose_logs: Diagnose) -> None:
    """A log that is named after a host is that host's where a kernel log names the host."""
    logs = {
        "n2.log": "5: epoch 1\n" + traceback("RuntimeError: uncorrectable ECC error encountered", prefix="5: "),
        "journal.txt": "May  6 10:00:00 n2 kernel: NVRM: Xid (PCI:0000:3b:00): 63, pid=1, Row Remapper: New row\n",
    }
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].node == "n2"


def test_node_of_a_rank_from_the_launcher(diagnose_logs: Diagnose) -> None:
    """The launcher's line says on which node the rank ran whose error names none; that node failing again is said."""
    ecc = "RuntimeError: CUDA error: uncorrectable ECC error encountered"
    told = traceback(ecc, prefix="6: [rank6]: ") + "srun: error: gpu-9: task 6: Exited with exit code 1\n"
    diagnosis = diagnose_logs({f"log-a.job_5_{number}.out": iterations(10 + number) + told for number in range(2)})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].node == "gpu-9"
    assert diagnosis.action.exclude_nodes == ("gpu-9",)
    assert "also ended attempt 0" in diagnosis.action.why


def test_requeued_into_the_same_file(diagnose_logs: Diagnose) -> None:
    """Progress long after the scheduler ended the job is that of the next attempt, in one appended file too."""
    ended = "slurmstepd: error: *** {what} 5 ON n1 CANCELLED AT 2026-05-06T10:10:00 DUE TO PREEMPTION ***\n"
    log = (
        iterations(10) + ended.format(what="JOB") + ended.format(what="STEP") + "srun: error: n1: task 0: Terminated\n"
    )
    diagnosis = diagnose_logs(
        {"slurm-5.out": log + iterations(12, 10) + traceback(OUT_OF_MEMORY, prefix="3: [rank3]: ")}
    )
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.pattern, diagnosis.root_cause.evidence[0].rank) == ("cuda-oom", 3)
    assert [each.pattern for each in diagnosis.attempts] == ["slurm-preempted"]


def test_requeued_job_that_fails_while_it_loads(diagnose_logs: Diagnose) -> None:
    """A checkpoint that is loaded behind the scheduler's last word on a job that had trained is the next attempt's."""
    ended = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-05-06T10:10:00 DUE TO NODE FAILURE ***\n"
    again = " loading checkpoint from /ckpt at iteration 10\n"
    broken = "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory"
    log = iterations(10) + ended + again + traceback(broken, prefix="[rank3]: ")
    diagnosis = diagnose_logs({"slurm-5.out": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "checkpoint-archive-corrupt"
    assert [each.pattern for each in diagnosis.attempts] == ["slurm-node-failure"]


def test_words_left_in_a_buffer_are_no_attempt(diagnose_logs: Diagnose) -> None:
    """Progress that stands behind the scheduler's word but was made before it does not begin an attempt."""
    ended = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-05-06T10:10:00 DUE TO PREEMPTION ***\n"
    diagnosis = diagnose_logs({"slurm-5.out": step(1) + ended + iterations(10, 2)})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "slurm-preempted"
    assert diagnosis.attempts == ()


RESTARTS = "[default] Worker group FAILED. 3/3 attempts left; will restart worker group\n"


def test_restart_that_trains_on(diagnose_logs: Diagnose) -> None:
    """After torchrun's word that it restarts the workers, iterations show that the failure was survived."""
    log = iterations(10) + traceback("KeyError: 'labels'", prefix="[rank1]: ") + RESTARTS + iterations(12, 5)
    assert diagnose_logs({"train.log": log}).verdict == "no_failure"


def test_restart_that_fails_in_another_file(diagnose_logs: Diagnose) -> None:
    """What another file says without a time is not lost when the launcher's log tells of a restart."""
    launcher = iterations(10) + traceback("KeyError: 'labels'", prefix="[rank1]: ") + RESTARTS + iterations(12, 5)
    diagnosis = diagnose_logs({"launcher.log": launcher, "rank_3.log": traceback(OUT_OF_MEMORY)})
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.pattern, diagnosis.root_cause.evidence[0].rank) == ("cuda-oom", 3)
    assert [each.pattern for each in diagnosis.attempts] == ["python-exception"]


def test_started_again_by_a_loop(diagnose_logs: Diagnose) -> None:
    """A script that starts the job again into the same file: iterations are counted again from a lower number."""
    log = iterations(10) + traceback("KeyError: 'labels'", prefix="[rank1]: ") + iterations(12, 5)
    diagnosis = diagnose_logs({"train.log": log + traceback(OUT_OF_MEMORY, prefix="[rank3]: ")})
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.pattern, diagnosis.root_cause.evidence[0].rank) == ("cuda-oom", 3)


def test_other_file_by_time(diagnose_logs: Diagnose) -> None:
    """Where the restart is dated, what another file says before it belongs to the attempt before."""
    launcher = iterations(10) + "".join(
        f"E0506 {hour}:10:00.000000 4001 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
        f"local_rank: {rank} (pid: 90{rank}) of binary: /usr/bin/python3\n"
        for hour, rank in ((10, 1), (12, 2))
    )
    early = "".join(f"2026-05-06 10:09:00 {line}\n" for line in traceback(OUT_OF_MEMORY).splitlines())
    late = "".join(f"2026-05-06 12:09:00 {line}\n" for line in traceback("KeyError: 'labels'").splitlines())
    diagnosis = diagnose_logs({"launcher.log": launcher, "rank_1.log": early, "rank_2.log": late})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].path.endswith("rank_2.log")
    assert [each.pattern for each in diagnosis.attempts] == ["cuda-oom"]
