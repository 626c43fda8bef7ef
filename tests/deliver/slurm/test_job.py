"""Slurm's words about a job are read into one shape."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.deliver.slurm.job import Job, pairs_of, parse_sacct, parse_scontrol, with_text
from tests.deliver.slurm.recorded import text


def test_failed_job() -> None:
    """State, exit code, user, size and paths come off `scontrol show job`; a name and a path may hold spaces."""
    (job,) = parse_scontrol(text("failed.scontrol.txt"))
    assert (job.id, job.label, job.name, job.user, job.uid) == ("2", "2", "fail job", "root", 0)
    assert (job.state, job.reason, job.exit_code, job.failed) == ("FAILED", "NonZeroExitCode", "3:0", True)
    assert (job.nodes, job.node_count, job.tasks, job.time_limit) == ("vm", 1, 1, "UNLIMITED")
    assert job.stderr == "/home/alice/run/2.err"
    assert job.stdout.endswith("/o_fail job_%5j_root_%%.out")


def test_array() -> None:
    """Every task of an array is a record with the number that users write."""
    assert [job.label for job in parse_scontrol(text("array.scontrol.txt"))] == ["3_2", "3_1"]
    assert [job.id for job in parse_scontrol(text("array.scontrol.txt"))] == ["3", "7"]


def test_time_limit() -> None:
    """A job at its time limit has failed, though its exit code is 0."""
    (job,) = parse_scontrol(text("time-limit.scontrol.txt"))
    assert (job.state, job.time_limit, job.failed, job.ended) == ("TIMEOUT", "00:01:00", True, True)


def test_name_that_looks_like_pairs() -> None:
    """A job's name cannot smuggle in other values."""
    found = pairs_of("JobId=5 JobName=x JobState=COMPLETED UserId=root(0)\n   JobState=FAILED Reason=None\n")
    assert found["JobName"] == "x JobState=COMPLETED UserId=root(0)"
    assert found["JobState"] == "FAILED"


def test_sacct() -> None:
    """The accounting's row gives the same; `CANCELLED by 1000` is CANCELLED."""
    row = "12_3|15|train|alice|1000|CANCELLED by 1000|0:15|node[1-2]|2|16|01:00:00|64G|batch|alpha|2026-01-01T00:00:00|2026-01-01T01:00:00|/home/alice|2"  # noqa: E501
    (job,) = parse_sacct(f"{row}\n\nnot a row\n")
    assert (job.id, job.label, job.state, job.restarts) == ("15", "12_3", "CANCELLED", 2)
    assert job.text.splitlines()[1] == "   JobState=CANCELLED Reason=None"


def test_text_is_read_back() -> None:
    """The form in which separate values are told to the patterns is that of `scontrol`."""
    job = with_text(Job("7", "a b", array_id="3", array_task="1", state="TIMEOUT", reason="TimeLimit", exit_code="0:1"))
    (again,) = parse_scontrol(job.text)
    assert (again.label, again.name, again.state, again.reason) == ("3_1", "a b", "TIMEOUT", "TimeLimit")


@given(st.text(max_size=300))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_any_text(words: str) -> None:
    """Any text is read without an error."""
    parse_scontrol(words)
    parse_scontrol(f"JobId={words}\n JobState={words} Reason={words}")
    parse_sacct(words)
    assert with_text(Job("1", words)).text.count("\n") == 1
