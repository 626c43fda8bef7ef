"""Delivers a diagnosis: one message a failure to each notifier, all of them at once, never longer than agreed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from diagnose.deliver.model import Outcome
from diagnose.deliver.notify.fingerprint import failure_key, fingerprint
from diagnose.deliver.notify.ledger import Ledger, Repeats, default_path
from diagnose.deliver.notify.settings import Notifier, read_notifiers
from diagnose.deliver.redact import redact, redact_text

if TYPE_CHECKING:
    from diagnose.deliver.model import Event, NotifySettings
    from diagnose.reason.result import Diagnosis

_GRACE = 2.0  # seconds over a notifier's total that are waited for it
_DOWN = 60.0  # seconds after a failure in which only one attempt is made, so that a burst is not held up
_QUIET = frozenset(("no_failure",))


def deliver(diagnosis: Diagnosis, event: Event, settings: NotifySettings) -> list[Outcome]:
    """Tell every notifier of a failed job; secrets are masked first. Never raises.

    A failure that a notifier was told of inside its `window` is counted, and summed up when the window has passed.
    """
    try:
        notifiers, troubles = read_notifiers(settings.entries)
        bad = [Outcome("notify", False, f"{each.path}:{each.line}: {each.message}", 0) for each in troubles]
        wanted = [each for each in notifiers if _wanted(diagnosis, each)]
        return bad + _all(wanted, redact(diagnosis), redact(event))
    except Exception as error:  # whoever calls has a job's report to bring home
        return [Outcome("notify", False, f"{type(error).__name__}: {redact_text(str(error))}", 0)]


def _wanted(diagnosis: Diagnosis, notifier: Notifier) -> bool:
    return diagnosis.verdict not in _QUIET and (diagnosis.verdict != "degraded" or notifier.degraded)


def _all(notifiers: list[Notifier], diagnosis: Diagnosis, event: Event) -> list[Outcome]:
    found: dict[str, Outcome] = {}

    def run(notifier: Notifier) -> None:
        try:
            found[notifier.name] = _one(notifier, diagnosis, event)
        except Exception as error:
            found[notifier.name] = Outcome(notifier.name, False, f"{type(error).__name__}: {redact_text(str(error))}")

    # Daemons, so that a receiver which drips its answer byte by byte holds up neither the others nor the exit.
    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in notifiers]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    for notifier, thread in zip(notifiers, threads, strict=True):
        thread.join(max(0.0, started + notifier.total + _GRACE - time.monotonic()))
    late = {each.name: Outcome(each.name, False, f"no answer in {each.total:.0f} s") for each in notifiers}
    return [found.get(each.name, late[each.name]) for each in notifiers]


def _one(notifier: Notifier, diagnosis: Diagnosis, event: Event) -> Outcome:
    ledger = Ledger(notifier.ledger or default_path())
    failure, now = failure_key(diagnosis, event), time.time()
    before: int | None = 0
    counted, down = True, False
    try:
        down = ledger.is_down(notifier.name, now, _DOWN)
        before = ledger.claim(notifier.name, failure, now, notifier.window, diagnosis.summary)
    except OSError:
        counted = False  # better told twice than never
    if before is None:
        _sum_up(notifier, ledger, now, event)
        return Outcome(notifier.name, True, attempts=0)
    tried, error = _send(notifier, diagnosis, event, before, down)
    if counted:
        try:
            ledger.mark(notifier.name, now, ok=not error)
            if error:
                ledger.release(notifier.name, failure, before)
            else:
                _sum_up(notifier, ledger, now, event)
        except OSError:
            return Outcome(notifier.name, not error, error, tried)
    return Outcome(notifier.name, not error, error, tried)


def _send(notifier: Notifier, diagnosis: Diagnosis, event: Event, before: int, down: bool) -> tuple[int, str]:
    from diagnose.deliver.notify import message
    from diagnose.deliver.notify.webhook import attempts

    heading = message.title(diagnosis, event)
    text = message.body(diagnosis, event, before)
    most = 1 if down else 6

    def once(timeout: float) -> None:
        if notifier.kind == "apprise":
            from diagnose.deliver.notify import chat

            chat.send(notifier, heading, text, bad=diagnosis.verdict != "degraded")
        elif notifier.form == "text":
            _post(notifier, f"{heading}\n\n{text}", message_id, timeout)
        else:
            from diagnose.deliver.notify import payload, webhook

            content = payload.data(diagnosis, event, before)
            encoded, kind = payload.encode(
                content, notifier.form, message_id=message_id, now=stamp, limit=notifier.size_limit
            )
            webhook.post(notifier, encoded, kind, message_id, timeout)

    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    message_id = _message_id(fingerprint(diagnosis), event.cluster, event.job_id, stamp)
    return attempts(once, total=notifier.total, timeout=notifier.timeout, most=most)


def _sum_up(notifier: Notifier, ledger: Ledger, now: float, event: Event) -> None:
    """Say of the failures whose window is over how often they came back; one attempt, and never an error."""
    from diagnose.deliver.notify.webhook import SendError

    try:
        repeats = ledger.due(notifier.name, now, notifier.window)
    except OSError:
        return
    for number, each in enumerate(repeats):
        try:
            _send_summary(notifier, each, event)
        except SendError:
            for untold in repeats[number:]:
                ledger.restore(notifier.name, untold)
            return


def _send_summary(notifier: Notifier, repeats: Repeats, event: Event) -> None:
    from diagnose.deliver.notify import chat, webhook

    since = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(repeats.since))
    times = "time" if repeats.count == 1 else "times"
    heading = f"{repeats.count} {times} more: {repeats.summary}"[:200]
    text = f"{repeats.summary}\n\nSeen {repeats.count} {times} more since {since}."
    if notifier.kind == "apprise":
        chat.send(notifier, heading, text, bad=False)
    elif notifier.form == "text":
        _post(notifier, f"{heading}\n\n{text}", repeats.failure, notifier.timeout)
    else:
        import json

        content = {"summary": repeats.summary, "repeats": repeats.count, "since": since, "cluster": event.cluster}
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if notifier.form == "cloudevents":
            kind = "application/cloudevents+json"
            envelope = {"specversion": "1.0", "id": _message_id(repeats.failure, moment), "source": "/diagnose"}
            about = {"type": "io.train-diagnose.repeats.v1", "time": moment, "datacontenttype": "application/json"}
            encoded = json.dumps({**envelope, **about, "data": content}).encode()
        else:
            kind, encoded = "application/json", json.dumps(content).encode()
        webhook.post(notifier, encoded, kind, _message_id(repeats.failure, moment), notifier.timeout)


def _post(notifier: Notifier, text: str, message_id: str, timeout: float) -> None:
    from diagnose.deliver.notify import webhook

    encoded = text.encode("utf-8", "replace")[: notifier.size_limit]
    webhook.post(notifier, encoded, "text/plain; charset=utf-8", message_id, timeout)


def _message_id(*parts: str) -> str:
    import hashlib

    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
