"""A request that cannot be worked on costs itself, and never the workers."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from diagnose.deliver.serve.pool import Pool, _read
from diagnose.deliver.serve.store import Job, Store
from tests.deliver.serve.serving import World

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def test_a_request_that_cannot_be_handed_over_fails_alone(here: World) -> None:
    """A configuration nested too deep to be handed to a worker fails; the next request is done."""
    deep = '{"text": "RuntimeError: x", "config": ' + '{"a":' * 700 + "1" + "}" * 701
    headers = {"content-type": "application/json"}
    with here.client() as client:
        bad = client.post("/v1/diagnoses?wait=30", content=deep, headers=headers).json()
        assert bad["state"] == "failed"
        assert client.post("/v1/diagnoses?wait=60", json={"paths": [here.log()]}).json()["state"] == "done"


def test_without_room_for_a_process_the_request_is_given_back(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be started now, the request waits, and the failed start is not counted against it."""
    store = Store(here.settings.database)
    pool = Pool(here.settings, store)
    added, _ = store.add({"paths": [here.log()]}, 1.0, 10)
    job = store.claim("w", 2.0, 60.0)
    assert job is not None

    def no_room(_job: Job) -> Any:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(pool, "_run", no_room)
    with pytest.raises(BlockingIOError):
        pool._one(job, "w")
    after = store.get(added.id)
    assert after is not None
    assert (after.state, after.attempts) == ("queued", 0)


def test_an_answer_with_undecodable_bytes_can_be_stored() -> None:
    """A file name that is no UTF-8 stands in an answer; what is kept of it can be encoded."""
    answer = {"verdict": "unknown", "pattern": "", "summary": "in b\udcff.log", "text": "b\udcff.log", "result": {}}
    kept = _read(json.dumps(answer).encode() + b"\n")
    assert kept is not None
    assert kept["summary"].encode() == b"in b?.log"
