"""Accepted requests are kept, handed out once, and come back where a worker is lost."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from diagnose.deliver.serve.store import FullError, Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty one."""
    return Store(str(tmp_path / "db"))


def test_the_oldest_first(store: Store) -> None:
    """Requests are handed out in the order they came, each once."""
    for number in range(3):
        store.add({"n": number}, float(number), 10)
    taken = [store.claim("w", 10.0, 5.0) for _ in range(4)]
    assert [job and job.request["n"] for job in taken] == [0, 1, 2, None]


def test_a_lost_worker_s_request_comes_back(store: Store) -> None:
    """When the lease is over, another worker gets the request, and the late answer of the first does not count."""
    store.add({}, 0.0, 10)
    first = store.claim("one", 0.0, 5.0)
    assert store.claim("two", 4.0, 5.0) is None
    second = store.claim("two", 6.0, 5.0)
    assert first is not None
    assert second is not None
    assert first.number == second.number
    assert not store.finish(first.number, "one", 7.0, verdict="identified")
    assert store.finish(second.number, "two", 7.0, verdict="no_failure")
    assert [job.verdict for job in store.recent(5)] == ["no_failure"]


def test_a_request_that_kills_its_workers_is_given_up(store: Store) -> None:
    """After three lost workers it fails, and holds nobody up any more."""
    store.add({}, 0.0, 10)
    for number in range(3):
        assert store.claim("w", number * 10.0, 5.0) is not None
    assert store.claim("w", 30.0, 5.0) is None
    assert store.recent(1)[0].state == "failed"


def test_a_released_request_waits_again(store: Store) -> None:
    """Giving it back costs it no attempt."""
    store.add({}, 0.0, 10)
    job = store.claim("w", 0.0, 5.0)
    assert job is not None
    store.release(job.number, "w")
    again = store.claim("v", 0.0, 5.0)
    assert again is not None
    assert again.attempts == 1


def test_the_bound_holds_and_known_ones_pass(store: Store) -> None:
    """A full queue refuses new requests, but knows again what it has accepted."""
    job, new = store.add({}, 0.0, 1, "once")
    assert new
    with pytest.raises(FullError):
        store.add({}, 0.0, 1)
    assert store.add({}, 0.0, 1, "once") == (job, False)


def test_many_claim_at_once(store: Store, tmp_path: Path) -> None:
    """No request is handed to two workers."""
    for _ in range(20):
        store.add({}, 0.0, 100)
    taken: list[int] = []

    def work(name: str) -> None:
        own = Store(str(tmp_path / "db"))
        while (job := own.claim(name, 1.0, 60.0)) is not None:
            taken.append(job.number)

    threads = [threading.Thread(target=work, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(1, 21))


def test_pages_and_forgetting(store: Store) -> None:
    """The list pages backwards, filters, and loses what is old."""
    for number in range(5):
        store.add({"text": "words"}, float(number), 10)
    for _ in range(2):
        job = store.claim("w", 1.0, 5.0)
        assert job is not None
        store.finish(job.number, "w", float(job.number), verdict="unknown", result="{}")
    first = store.recent(2)
    assert [job.number for job in first] == [5, 4]
    assert [job.number for job in store.recent(2, before=4)] == [3, 2]
    assert len(store.recent(9, verdict="unknown")) == 2
    assert store.recent(9, state="done")[0].request == {}
    assert store.forget(1.5) == 1


def test_only_its_owner_reads_it(store: Store, tmp_path: Path) -> None:
    """The file holds other people's logs."""
    assert store.count()[0] == {}
    assert os.stat(tmp_path / "db").st_mode & 0o077 == 0
