"""One message a failure, to everybody, never an error, never a secret."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from diagnose.deliver.model import NotifySettings
from diagnose.deliver.notify import deliver, repay
from diagnose.deliver.notify.message import body
from diagnose.deliver.notify.webhook import signature
from diagnose.deliver.redact import redact
from diagnose.reason.result import Diagnosis
from tests.deliver.notify.failures import EVENT, failure
from tests.deliver.notify.receiver import Receiver, receiver, settings
from tests.deliver.test_redact import KINDS


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    """A receiver that answers 200."""
    with receiver() as state:
        yield state


def _to(hook: Receiver, more: str = "") -> NotifySettings:
    return settings(f"- {{name: ops, type: webhook, url: '{hook.url}', total: 3, timeout: 1{more}}}")


def test_a_failure_is_sent_as_json(hook: Receiver) -> None:
    """The body holds the event, the fingerprint and the whole diagnosis."""
    outcomes = deliver(failure(), EVENT, _to(hook))
    assert [(each.ok, each.attempts) for each in outcomes] == [(True, 1)]
    content = json.loads(hook.bodies[0])
    assert content["event"]["job_id"] == "123_4"
    assert content["diagnosis"]["root_cause"]["pattern"] == "cuda-oom"
    assert content["omitted"] == []


def test_cloud_event_is_signed(hook: Receiver) -> None:
    """A CloudEvent has its required attributes, and the signature covers time and body."""
    deliver(failure(), EVENT, _to(hook, ", format: cloudevents, secret: s3cret, authorization: Bearer x"))
    content = json.loads(hook.bodies[0])
    assert content["specversion"] == "1.0"
    assert {"id", "source", "type"} <= content.keys()
    assert content["subject"] == "123_4"
    signed = hook.seen[0]["X-Diagnose-Signature"]
    assert signed == signature("s3cret", hook.bodies[0], int(signed[2:].split(",")[0]))
    assert hook.seen[0]["Authorization"] == "Bearer x"
    assert hook.seen[0]["Content-Type"] == "application/cloudevents+json"


def test_plain_text(hook: Receiver) -> None:
    """A webhook may want words instead of JSON."""
    deliver(failure(), EVENT, _to(hook, ", format: text"))
    text = hook.bodies[0].decode()
    assert text.startswith("[eos] job 123_4 llama3-70b (FAILED): CUDA out of memory on rank 3")
    assert "1. Halve the micro-batch." in text


def test_repeats_are_counted_and_summed_up(hook: Receiver, tmp_path: Path) -> None:
    """Five hundred jobs with one failure make one message, and one summary when the window has passed."""
    to = _to(hook, ", window: 600")
    for number in range(20):
        assert deliver(failure(rank=number), replace(EVENT, job_id=f"123_{number}"), to)[0].ok
    assert len(hook.bodies) == 1
    with sqlite3.connect(tmp_path / "diagnose" / "notified.sqlite") as database:
        database.execute("UPDATE told SET since = since - 601")
    database.close()
    deliver(failure("OSError: No space left", pattern="disk-full", category="storage"), EVENT, to)
    assert len(hook.bodies) == 3
    summary = json.loads(hook.bodies[2])
    assert summary["repeats"] == 19


def test_a_burst_from_many_processes_is_one_message(hook: Receiver) -> None:
    """Writers at the same moment do not both tell."""
    to = _to(hook)
    threads = [threading.Thread(target=deliver, args=(failure(), EVENT, to)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hook.bodies) == 1


def test_another_user_is_told_of_the_same_mistake(hook: Receiver) -> None:
    """A mistake is its owner's; a broken file system is everybody's."""
    for user in ("alice", "bob"):
        deliver(failure(), replace(EVENT, user=user), _to(hook))
        deliver(failure(pattern="disk-full", category="storage"), replace(EVENT, user=user), _to(hook))
    assert len(hook.bodies) == 3


def test_a_busy_receiver_is_asked_again(hook: Receiver) -> None:
    """A 503 is tried again, and Retry-After is honoured inside the total."""
    hook.statuses = [503, 200]
    assert deliver(failure(), EVENT, _to(hook))[0].attempts == 2


def test_a_refusal_is_final(hook: Receiver) -> None:
    """A 400 is not tried again, and the error names no URL."""
    hook.statuses = [400]
    outcome = deliver(failure(), EVENT, _to(hook))[0]
    assert (outcome.ok, outcome.attempts) == (False, 1)
    assert outcome.error == "127.0.0.1 answered 400"


def test_a_redirect_is_not_followed(hook: Receiver) -> None:
    """Body and signature go nowhere but to the URL."""
    hook.statuses, hook.headers = [307], {"Location": hook.url}
    assert not deliver(failure(), EVENT, _to(hook))[0].ok
    assert len(hook.bodies) == 1


def test_what_could_not_be_told_is_told_later(hook: Receiver) -> None:
    """A failure to deliver does not use up the message; the next one tells of both."""
    hook.statuses = [400, 200]
    deliver(failure(), EVENT, _to(hook))
    assert deliver(failure(), EVENT, _to(hook))[0].ok
    assert json.loads(hook.bodies[1])["repeats"] == 1


def _later(tmp_path: Path, seconds: float) -> None:
    """Let time pass for the ledger."""
    with sqlite3.connect(tmp_path / "diagnose" / "notified.sqlite") as database:
        database.execute("UPDATE owed SET since = since - ?, next = next - ?", (seconds, seconds))
        database.execute("UPDATE down SET since = since - ?", (seconds,))
    database.close()


def test_what_could_not_be_sent_is_kept(hook: Receiver, tmp_path: Path) -> None:
    """A message that no attempt brought home is sent once its pause is over, by whoever looks, and only once."""
    hook.statuses = [400, 500, 200]
    to = _to(hook)
    deliver(failure(), EVENT, to)
    assert (tmp_path / "diagnose" / "notified.sqlite").stat().st_mode & 0o777 == 0o600
    repay(to)  # its pause is not over
    assert len(hook.bodies) == 1
    _later(tmp_path, 61)
    repay(to)
    assert len(hook.bodies) == 2
    _later(tmp_path, 61)
    repay(to)  # the pause is twice as long now
    assert len(hook.bodies) == 2
    _later(tmp_path, 61)
    for _ in range(3):
        repay(to)
    assert hook.bodies == [hook.bodies[0]] * 3
    assert len({each["Idempotency-Key"] for each in hook.seen}) == 1
    assert deliver(failure(), EVENT, to)[0].attempts == 0  # told


def test_another_failure_takes_along_what_was_kept(hook: Receiver, tmp_path: Path) -> None:
    """Where nothing runs for long, the next delivery that works sends what is due."""
    hook.statuses = [400, 200]
    deliver(failure(), EVENT, _to(hook))
    _later(tmp_path, 61)
    deliver(failure(pattern="disk-full", category="storage"), EVENT, _to(hook))
    patterns = [json.loads(body)["diagnosis"]["root_cause"]["pattern"] for body in hook.bodies]
    assert patterns == ["cuda-oom", "disk-full", "cuda-oom"]


_KILLED = """
import sys
from tests.deliver.notify.failures import EVENT, failure
from tests.deliver.notify.receiver import settings
from diagnose.deliver.notify import deliver, repay
print("start", flush=True)
deliver(failure(), EVENT, settings("- {name: ops, type: webhook, url: '%s', total: 3, timeout: 3}" % sys.argv[1]))
"""


def test_a_process_that_is_killed_while_it_sends(hook: Receiver, tmp_path: Path) -> None:
    """The message of a process that was killed is sent by the next one."""
    hook.pause = 30
    root = Path(__file__).parents[3]
    process = subprocess.Popen([sys.executable, "-c", _KILLED, hook.url], cwd=root)
    deadline = time.monotonic() + 20
    while not hook.bodies and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    hook.pause = 0
    repay(_to(hook))
    assert len(hook.bodies) == 1  # it could still be sending
    _later(tmp_path, 61)
    repay(_to(hook))
    assert hook.bodies == [hook.bodies[0]] * 2


def test_a_dead_receiver_costs_a_burst_little() -> None:
    """After one failure, each of the next tries once and does not wait."""
    to = settings("- {type: webhook, url: 'http://127.0.0.1:9/x', total: 2}")
    first = deliver(failure(), EVENT, to)[0]
    assert not first.ok
    assert "cannot be reached" in first.error
    started = time.monotonic()
    for _ in range(10):
        assert deliver(failure(), EVENT, to)[0].attempts == 1
    assert time.monotonic() - started < 2


def test_a_silent_receiver_ends_in_time(hook: Receiver) -> None:
    """A receiver that never answers holds nobody up for longer than the total."""
    hook.pause = 30
    started = time.monotonic()
    outcome = deliver(failure(), EVENT, _to(hook))[0]
    assert not outcome.ok
    assert time.monotonic() - started < 6


def test_secrets_are_masked_before_they_leave(hook: Receiver) -> None:
    """A secret in the evidence or in the event reaches nobody."""
    deliver(failure("--token Zq7w9Kd02LmX"), replace(EVENT, name="HF_TOKEN=Zq7w9Kd02LmX"), _to(hook))
    assert b"Zq7w9Kd02LmX" not in hook.bodies[0]


@pytest.mark.parametrize("form", ["json", "cloudevents", "text"])
def test_no_planted_secret_leaves_in_any_form(hook: Receiver, form: str) -> None:
    """Secrets of every kind, in the evidence, the summary, a path and the job's name, are in no payload and no chat."""
    secret = "Zq7w9Kd02LmXaB3dE5fG7hJ9kL2mN4p"
    for kind, pattern in KINDS.items():
        text = pattern.replace("{}", secret).replace("{{", "{").replace("}}", "}")
        diagnosis = replace(failure(text, pattern=f"p{len(hook.bodies)}"), summary=f"It failed: {text}")
        event = replace(EVENT, name=text, paths=(f"/logs/{text}",))
        assert deliver(diagnosis, event, _to(hook, f", format: {form}"))[0].ok
        assert secret.encode() not in hook.bodies[-1], kind
        assert secret not in body(redact(diagnosis), redact(event)), kind
    assert len(hook.bodies) == len(KINDS)


def test_a_large_body_is_cut_to_size(hook: Receiver) -> None:
    """What does not fit is left out and named."""
    deliver(failure(), EVENT, _to(hook, ", size_limit: 8192"))
    content = json.loads(hook.bodies[0])
    assert len(hook.bodies[0]) <= 8192
    assert content["omitted"] == ["run.config"]


@pytest.mark.parametrize("form", ["json", "cloudevents", "text"])
def test_evidence_of_any_size_fits(hook: Receiver, form: str) -> None:
    """A hundred kilobytes in one line of evidence, of characters that need escapes, keep every form in its limit."""
    huge = failure('\u00fc"\\' * 33_000)
    assert huge.root_cause is not None
    huge = replace(huge, summary=huge.root_cause.evidence[0].text)
    event = replace(EVENT, name="n" * 100_000, paths=("/logs/" + "p" * 100_000,))
    assert deliver(huge, event, _to(hook, f", format: {form}, size_limit: 4096"))[0].ok
    assert len(hook.bodies[0]) <= 4096
    hook.bodies[0].decode()
    if form != "text":
        json.loads(hook.bodies[0])


@pytest.mark.parametrize("url", ["http://[::bad/", "http://127.0.0.1:99999/", "http://127.0.0.1:9/\u00fc"])
def test_a_url_that_is_none_uses_up_nothing(url: str) -> None:
    """A URL that cannot be called is an error each time, in one line, and the failure stays untold."""
    to = settings(f"- {{type: webhook, url: '{url}', total: 1}}")
    for _ in range(2):
        outcome = deliver(failure(), EVENT, to)[0]
        assert not outcome.ok
        assert outcome.attempts
        assert outcome.error.isprintable()


def test_a_receiver_that_speaks_no_http(tmp_path: Path) -> None:
    """What such a receiver says is quoted on one line, without control characters, and cut."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            peer.recv(65_536)
            peer.sendall(b"\x1b[31m\x00" + b"garbage " * 500 + b"\r\n")
            peer.close()

        thread = threading.Thread(target=answer)
        thread.start()
        port = server.getsockname()[1]
        to = settings(f"- {{type: webhook, url: 'http://127.0.0.1:{port}/', total: 1, timeout: 1}}")
        error = deliver(failure(), EVENT, to)[0].error
        thread.join()
    assert error.isprintable()
    assert len(error) < 300


@pytest.mark.parametrize("verdict", ["no_failure", "degraded"])
def test_good_news_is_no_news(hook: Receiver, verdict: str) -> None:
    """A healthy run is told to nobody, a slow one only to who asks for it."""
    deliver(Diagnosis(verdict, "fine"), EVENT, _to(hook))  # type: ignore[arg-type]
    assert not hook.bodies


def test_no_ledger_no_silence(hook: Receiver) -> None:
    """Where the ledger cannot be written, the message is sent all the same."""
    assert deliver(failure(), EVENT, _to(hook, ", ledger: /proc/none/x"))[0].ok
    assert len(hook.bodies) == 1


def test_a_broken_ledger_is_replaced(hook: Receiver, tmp_path: Path) -> None:
    """A file that is no ledger costs one message too many, not the counting for ever."""
    path = tmp_path / "broken"
    path.write_bytes(b"no database" * 1000)
    for _ in range(3):
        deliver(failure(), EVENT, _to(hook, f", ledger: {path}"))
    assert len(hook.bodies) == 2


def test_mistakes_in_the_settings_are_outcomes() -> None:
    """A wrong entry is named with its line; it stops nothing."""
    outcomes = deliver(failure(), EVENT, settings("- {type: webhok, url: x}\n- {type: webhook, url: 'ftp://x'}"))
    assert [each.ok for each in outcomes] == [False, False]
    assert outcomes[1].error == "diagnose.yaml:2: `url` must begin with http:// or https://"
