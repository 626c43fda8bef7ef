"""Which failure is the root, and what the others are called."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import pytest

from diagnose import diagnose
from tests.conftest import Diagnose
from tests.reason.words import CHILD_FAILED, GLOO_CLOSED, OUT_OF_MEMORY, WATCHDOG, step, traceback


def test_memory_before_timeouts(diagnose_logs: Diagnose) -> None:
    """One rank runs out of memory, the others time out ten minutes later: the memory is the root."""
    log = step(1) + traceback(OUT_OF_MEMORY, prefix="[rank3]: ")
    log += "".join(WATCHDOG.format(rank=rank, clock="10:10:01") for rank in (0, 1, 2))
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"
    assert diagnosis.root_cause.evidence[0].rank == 3
    timeouts = next(each for each in diagnosis.fallout if each.pattern == "nccl-watchdog-timeout")
    assert timeouts.ranks == (0, 1, 2)
    assert timeouts.explained_by == "cuda-oom"
    assert "waited from" in timeouts.why


def test_later_in_the_file_yet_root(diagnose_logs: Diagnose) -> None:
    """A victim's lost connection may stand before the failure that caused it."""
    log = traceback(GLOO_CLOSED, prefix="[rank0]: ") + traceback("KeyError: 'labels'", prefix="[rank2]: ")
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 2
    assert [each.pattern for each in diagnosis.fallout] == ["gloo-connection-closed"]


def test_only_consequences(diagnose_logs: Diagnose) -> None:
    """Where every rank that speaks only waited, the verdict says that the cause is elsewhere."""
    log = "".join(WATCHDOG.format(rank=rank, clock="10:10:01") for rank in (0, 1))
    diagnosis = diagnose_logs({"node-0.log": log})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "collective-timed-out"
    assert diagnosis.root_cause.confidence == "low"
    assert "other ranks or nodes" in diagnosis.summary


def test_time_decides_over_files(diagnose_logs: Diagnose) -> None:
    """The earlier stamp wins, whatever the files are called."""
    later = "2026-05-06T10:00:09.000Z " + traceback("ValueError: late", prefix="").replace(
        "\n", "\n2026-05-06T10:00:09.000Z ", 5
    )
    first = "2026-05-06T10:00:01.000Z " + traceback("ValueError: early and bad", prefix="").replace(
        "\n", "\n2026-05-06T10:00:01.000Z ", 5
    )
    diagnosis = diagnose_logs({"rank_0.log": later, "rank_1.log": first})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].text.endswith("early and bad")
    assert diagnosis.root_cause.evidence[0].rank == 1


def test_two_that_cannot_be_told_apart(diagnose_logs: Diagnose) -> None:
    """Two known failures in two files without any time are both named."""
    diagnosis = diagnose_logs(
        {
            "rank_0.log": traceback(OUT_OF_MEMORY),
            "rank_1.log": traceback("OSError: [Errno 28] No space left on device: '/ckpt/x'"),
        }
    )
    assert diagnosis.verdict == "ambiguous"
    assert diagnosis.root_cause is not None
    named = {diagnosis.root_cause.pattern, *(each.pattern for each in diagnosis.alternatives)}
    assert named == {"cuda-oom", "no-space-left"}


def test_recovered(diagnose_logs: Diagnose) -> None:
    """A failure that training went on after is none."""
    log = step(1) + traceback("OSError: [Errno 5] Input/output error") + step(2) + step(3)
    assert diagnose_logs({"train.log": log + step(100)}).verdict == "no_failure"


def test_recovered_then_fatal(diagnose_logs: Diagnose) -> None:
    """An error that was survived does not hide a later one that was not."""
    log = step(1) + traceback("OSError: [Errno 5] Input/output error", function="retry") + step(2) + step(3)
    diagnosis = diagnose_logs({"train.log": log + traceback(OUT_OF_MEMORY)})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"


def test_buffered_progress(diagnose_logs: Diagnose) -> None:
    """Progress of a buffered stdout behind the traceback does not take it back: the launcher says that it failed."""
    log = traceback("ZeroDivisionError: division by zero", prefix="[rank1]: ") + step(1) + step(2) + step(3)
    log += CHILD_FAILED.format(code=1, local=1)
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 1


def test_unknown_exception(diagnose_logs: Diagnose) -> None:
    """What no pattern knows is reported with its type, its words and the user's own frame."""
    log = traceback(
        "acme.errors.FrobnicationError: the frob is out of tune", file="/workspace/acme/frob.py", function="frob"
    )
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.verdict == "unknown"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "unknown-exception"
    assert diagnosis.root_cause.captures["type"] == "acme.errors.FrobnicationError"
    assert "/workspace/acme/frob.py:41" in diagnosis.summary
    assert diagnosis.root_cause.confidence == "low"


def test_wrapper_alone(diagnose_logs: Diagnose) -> None:
    """A launcher's exit code alone says that something failed, never what."""
    diagnosis = diagnose_logs({"train.log": step(1) + CHILD_FAILED.format(code=1, local=0)})
    assert diagnosis.verdict == "unknown"
    assert diagnosis.root_cause is None
    assert diagnosis.plan[0].id == "read-the-worker"  # where to look for what the launcher does not say


def test_killed_is_not_out_of_memory(diagnose_logs: Diagnose) -> None:
    """SIGKILL without a kernel record stays a symptom, and nothing says that memory was lacking."""
    diagnosis = diagnose_logs({"train.log": step(1) + CHILD_FAILED.format(code=-9, local=0)})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.confidence == "low"
    assert "does not say by whom" in diagnosis.summary
    assert "confirmed" not in {each.state for each in diagnosis.root_cause.causes}
    assert any("kernel log" in each for each in diagnosis.missing)


def test_killed_and_confirmed(diagnose_logs: Diagnose) -> None:
    """A kernel record of the out-of-memory killer turns the symptom into a cause."""
    kernel = (
        "[12345.678901] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
        "oom_memcg=/slurm/job_7,task_memcg=/slurm/job_7,task=python3,pid=26179,uid=1000\n"
        "[12345.678950] Memory cgroup out of memory: Killed process 26179 (python3) total-vm:1024kB, anon-rss:512kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:12kB oom_score_adj:0\n"
    )
    diagnosis = diagnose_logs({"train.log": step(1) + CHILD_FAILED.format(code=-9, local=0), "dmesg.txt": kernel})
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert any("Killed process" in each.text or "oom-kill" in each.text for each in diagnosis.root_cause.evidence)


def container_kill(task: str, pid: int) -> str:
    """Compose what the kernel says of a process that went beyond its container's limit."""
    return (
        f"[12345.678950] Memory cgroup out of memory: Killed process {pid} ({task}) total-vm:1024kB, anon-rss:512kB\n"
    )


def test_container_counts_its_processes_apart(diagnose_logs: Diagnose) -> None:
    """The kernel's record of a memory limit proves a kill in a container, which gives the process a lower number."""
    log = step(1) + "/run/start.sh: line 159:   943 Killed                  python3 train.py\n"
    diagnosis = diagnose_logs({"pod.log": log + container_kill("python3", 17811)})
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.category, diagnosis.root_cause.confidence) == ("host-memory", "medium")
    assert "943 Killed" in diagnosis.root_cause.evidence[0].text


@pytest.mark.parametrize("record", [container_kill("java", 17811), container_kill("python3", 17)])
def test_kill_of_another_process_proves_nothing(diagnose_logs: Diagnose, record: str) -> None:
    """Another program, or a number that no process of a container has, does not prove what killed the job."""
    log = step(1) + "/run/start.sh: line 159:   943 Killed                  python3 train.py\n"
    diagnosis = diagnose_logs({"pod.log": log + record})
    assert diagnosis.verdict == "symptom_only"


def test_last_attempt_counts(diagnose_logs: Diagnose) -> None:
    """The last attempt is diagnosed; an earlier one failed for another reason."""
    log = traceback(OUT_OF_MEMORY, prefix="[rank0]: ") + CHILD_FAILED.format(code=1, local=0) + step(1)
    log += traceback("KeyError: 'labels'", prefix="[rank1]: ") + CHILD_FAILED.format(code=1, local=1)
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 1


def test_silent_rank(diagnose_logs: Diagnose) -> None:
    """Three of four ranks time out; the fourth says nothing, and is named."""
    waited = (
        "RuntimeError: [/pytorch/gloo/transport/tcp/unbound_buffer.cc:78] "
        "Timed out waiting 8000ms for recv operation to complete"
    )
    logs = {f"rank_{rank}.log": traceback(waited, prefix=f"[rank{rank}]: ") for rank in (0, 1, 3)}
    logs["rank_2.log"] = "loading shard 17\n"
    diagnosis = diagnose_logs(logs)
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "rank-went-silent"
    assert diagnosis.root_cause.evidence[0].rank == 2
    assert diagnosis.root_cause.evidence[0].text == "loading shard 17"


def test_counters_name_the_straggler(diagnose_logs: Diagnose) -> None:
    """Equal enqueued and completed numbers mean that the rank never entered the collective."""
    line = (
        "[rank{rank}]:[E506 10:10:01.102 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0 Rank {rank}] Exception (either "
        "an error or timeout) detected by watchdog at work: 11, last enqueued NCCL work: {enqueued}, last completed "
        "NCCL work: 10.\n"
    )
    log = "".join(line.format(rank=rank, enqueued=10 if rank == 1 else 11) for rank in range(4))
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 1
    assert "enqueued 10" in diagnosis.root_cause.summary


def test_healthy(diagnose_logs: Diagnose) -> None:
    """Progress to the end is no failure."""
    diagnosis = diagnose_logs({"train.log": "".join(step(number) for number in range(1, 101))})
    assert diagnosis.verdict == "no_failure"
    assert diagnosis.run.last_iteration == 100


def test_empty(diagnose_logs: Diagnose) -> None:
    """An empty log fails nothing."""
    assert diagnose_logs({"train.log": ""}).verdict == "no_failure"


def test_restart_that_succeeded(diagnose_logs: Diagnose) -> None:
    """A failed attempt that the launcher restarted, and that trained on to the end, is no failure."""
    log = step(1) + traceback(OUT_OF_MEMORY, prefix="[rank0]: ") + CHILD_FAILED.format(code=1, local=0)
    log += "".join(step(number, clock="10:12:00") for number in range(1, 101))
    assert diagnose_logs({"train.log": log}).verdict == "no_failure"


def test_earlier_attempts_are_named(diagnose_logs: Diagnose) -> None:
    """The result says what ended the attempts before the last."""
    log = traceback(OUT_OF_MEMORY, prefix="[rank0]: ") + CHILD_FAILED.format(code=1, local=0) + step(1)
    log += traceback("KeyError: 'labels'", prefix="[rank1]: ") + CHILD_FAILED.format(code=1, local=1)
    diagnosis = diagnose_logs({"train.log": log})
    assert [(each.number, each.pattern) for each in diagnosis.attempts] == [(0, "cuda-oom")]


def test_log_that_ends_inside_a_traceback(diagnose_logs: Diagnose) -> None:
    """A log that was cut before the exception's own line tells of a failure all the same."""
    log = step(1) + traceback("", prefix="").rstrip("\n") + "\n"
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.verdict == "unknown"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "unknown-exception"
    assert diagnosis.root_cause.confidence == "low"
    assert "step()" in diagnosis.root_cause.evidence[0].text
    assert "step()" in diagnosis.summary


def test_cut_traceback_names_its_place(diagnose_logs: Diagnose) -> None:
    """A traceback that lost its last line is placed by where it was raised."""
    log = "Traceback (most recent call last):\n"
    log += '  File "/workspace/train.py", line 146, in <module>\n    pretrain(args)\n'
    log += '  File "/workspace/arguments.py", line 213, in parse_args\n    assert args.length is not None\n'
    root = diagnose_logs({"train.log": log}).root_cause
    assert root is not None
    assert root.category == "config"
    assert "arguments.py:213, in parse_args" in root.title


def test_cut_traceback_that_was_logged(diagnose_logs: Diagnose) -> None:
    """A log that ends inside a traceback which a logger announced as an error is not called healthy."""
    log = step(1) + "2026-05-06 10:00:04,120 - ERROR - the trainer stopped\n" + traceback("").rstrip("\n") + "\n"
    assert diagnose_logs({"train.log": log}).verdict == "unknown"


def test_cut_traceback_at_its_raise(diagnose_logs: Diagnose) -> None:
    """Where the log ends at the line that raises, the type and the words on that line place the failure."""
    log = (
        traceback("").rstrip("\n")
        + '\n  File "/w/frob.py", line 4, in frob\n    raise acme.SafetensorError(f"bad {x}")\n'
    )
    root = diagnose_logs({"train.log": step(1) + log}).root_cause
    assert root is not None
    assert root.category == "checkpoint"


def test_cut_traceback_inside_another(diagnose_logs: Diagnose) -> None:
    """Where a driver shows a worker's traceback that is cut, the driver's line, which names the type, is shown."""
    passed = (
        "ray.exceptions.RayTaskError(OSError): ray::Runner.run() (pid=42, ip=10.1.1.5, actor_id=78, repr=<x.Runner>)"
    )
    log = f"Traceback (most recent call last):\n{passed}\n"
    log += '  File "x/main.py", line 212, in run\n    trainer.fit()\n' * 2
    log += '  File "x/trainer.py", line 607, in fit\n    trainer.roll(tes\n'
    root = diagnose_logs({"train.log": log}).root_cause
    assert root is not None
    assert "The log ends inside a traceback" in root.title
    assert root.category == "code"
    assert "RayTaskError(OSError)" in root.evidence[0].text


def test_exception_that_nobody_caught(diagnose_logs: Diagnose) -> None:
    """What C++ prints before it ends a process is a failure, whether or not its words are known."""
    log = step(1) + "terminate called after throwing an instance of 'c10::Error'\n  what():  frob\n"
    assert diagnose_logs({"train.log": log}).verdict == "unknown"


def test_cut_traceback_that_training_follows(diagnose_logs: Diagnose) -> None:
    """Half a traceback in the middle of a run that goes on is no failure."""
    log = step(1) + traceback("", prefix="").rstrip("\n") + "\n" + step(2) + step(3) + step(4)
    assert diagnose_logs({"train.log": log}).verdict == "no_failure"


def test_empty_log(diagnose_logs: Diagnose) -> None:
    """An empty log is not called healthy."""
    diagnosis = diagnose_logs({"train.log": ""})
    assert diagnosis.verdict == "no_failure"
    assert "empty" in diagnosis.summary


def test_advice_of_another_framework(diagnose_logs: Diagnose) -> None:
    """A Transformers run is not told to set what only Megatron knows."""
    log = traceback(OUT_OF_MEMORY, file="/opt/venv/lib/python3.11/site-packages/transformers/trainer.py")
    plan = diagnose_logs({"train.log": log}).plan
    assert plan
    assert not any("recompute" in fix.id or "pipeline" in fix.id for fix in plan if fix.state == "recommended")
    assert any(fix.id == "gradient-checkpointing" for fix in plan)


def test_position_alone_is_no_proof(diagnose_logs: Diagnose) -> None:
    """Two known failures of two ranks in one file without times: the first is named, the other is offered, not sure."""
    log = traceback("OSError: [Errno 122] Disk quota exceeded", prefix="[rank2]: ")
    log += traceback("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", prefix="[rank5]: ")
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.confidence == "medium"
    assert [each.evidence[0].rank for each in diagnosis.alternatives] == [5]


def test_long_message_is_cut_at_a_word(diagnose_logs: Diagnose) -> None:
    """The sentence about an exception that nobody knows shows that it is cut, and cuts no word."""
    message = "FooError: " + "something about the worlds of it " * 9
    diagnosis = diagnose_logs({"train.log": traceback(message.strip(), prefix="[rank0]: ")})
    assert diagnosis.verdict == "unknown"
    assert " …, raised at " in diagnosis.summary
    said = diagnosis.summary.partition(" …")[0]
    assert said.split()[-1] in message.split()


def test_one_iteration_is_named(diagnose_logs: Diagnose) -> None:
    """Where the failure itself names its iteration, the last one of a run that went on is not added."""
    lines = [step(number).replace("lm loss: ", "xx: ") if number > 12 else step(number) for number in range(1, 31)]
    lines = [re.sub(r"xx: \S+ \| ", "", line) for line in lines]
    diagnosis = diagnose_logs({"train.log": "".join(lines)})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "loss-left-out"
    assert "iteration 13" in diagnosis.summary
    assert "30" not in diagnosis.summary


def test_what_stands_above_the_root_does_not_come_after_it(diagnose_logs: Diagnose) -> None:
    """An exception that quotes the traceback of a child process is told as standing above it, not as later."""
    outer = "torch._inductor.exc.InductorError: SubprocException: An exception occurred in a subprocess:"
    inner = traceback("RuntimeError: Triton Error [CUDA]: device kernel image is invalid", prefix="[rank0]: ")
    diagnosis = diagnose_logs({"train.log": traceback(outer, prefix="[rank0]: ") + "[rank0]: \n" + inner})
    root = diagnosis.root_cause
    assert root is not None
    assert root.pattern == "triton-kernel-rejected"
    assert "above it in the log" in root.why
    assert "the next failure follows" not in root.why
    assert "stands above it in the log" in next(
        each.why for each in diagnosis.fallout if each.pattern == "inductor-failed"
    )


def test_nothing_failed_is_said_of_what_was_read(tmp_path: Path) -> None:
    """Of an archive that is cut and of a file that is no text the rest is not vouched for."""
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress((step(10) + step(11) * 400).encode())[:-40])
    assert diagnose([path]).summary.startswith("Nothing failed in what was read; the last iteration")
    path = tmp_path / "noise.bin"
    path.write_bytes(random.Random(1).randbytes(9000))
    diagnosis = diagnose([path])
    assert diagnosis.summary == "Nothing failed in what was read."
    assert any("binary" in problem for each in diagnosis.inputs for problem in each.problems)


def test_last_checkpoint_answers_checks(diagnose_logs: Diagnose) -> None:
    """A checkpoint that the log reports answers the question whether one was written before the time limit."""
    log = step(100) + "  successfully saved checkpoint from iteration     100 to /ckpt [ t 1/1, p 1/1 ]\n"
    log += "slurmstepd: error: *** STEP 123.0 ON n1 CANCELLED AT 2026-05-06T10:05:00 DUE TO TIME LIMIT ***\n"
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "slurm-time-limit"
    answers = {each.id: each.answer for each in diagnosis.root_cause.checks}
    assert answers["saved"] == "yes"
    assert answers["step-only"] == "unknown"
