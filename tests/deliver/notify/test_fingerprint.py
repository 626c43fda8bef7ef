"""The same failure has one name, whatever rank, host, process or step it happened on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnose.deliver.notify.fingerprint import failure_key, fingerprint
from tests.deliver.notify.failures import EVENT, failure


def _unknown(text: str) -> str:
    return fingerprint(failure(text, pattern="unknown-exception", category="code"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[rank3]: ValueError: bad shape at step 1402", "[rank17]: ValueError: bad shape at step 9"),
        ("connection to node-12 (10.0.0.3:29500) lost, pid 4711", "connection to node-7 (10.0.1.9:29501) lost, pid 1"),
        ("invalid address 0x7f00aa10", "invalid address 0x1"),
        ("cannot read /data/a/shard_001.bin", "cannot read /scratch/b/c/shard_9.idx"),
    ],
)
def test_what_varies_does_not_count(one: str, other: str) -> None:
    """Ranks, hosts, ports, processes, addresses, steps and paths are no part of it."""
    assert _unknown(one) == _unknown(other)


def test_different_words_are_different_failures() -> None:
    """Two unknown exceptions with different words differ, and so do two patterns."""
    assert _unknown("ValueError: bad shape") != _unknown("ValueError: bad type")
    assert fingerprint(failure()) != fingerprint(failure(pattern="loss-nan"))


def test_a_known_pattern_stands_for_itself() -> None:
    """Its line may differ in sizes."""
    assert fingerprint(failure("Tried to allocate 320 MiB")) == fingerprint(failure("Tried to allocate 2 GiB", rank=9))


def test_tasks_of_an_array_share_a_message() -> None:
    """The array's number stays, the task's does not."""
    event = replace(EVENT, name="")
    assert failure_key(failure(), replace(event, job_id="77_1")) == failure_key(
        failure(), replace(event, job_id="77_23")
    )
    assert failure_key(failure(), replace(event, job_id="77_1")) != failure_key(
        failure(), replace(event, job_id="78_1")
    )
