"""One message as it is sent: written once, so that every attempt, also after a restart, says the same."""

from __future__ import annotations

import hashlib
import json
import time

from diagnose.classes import dataclass
from diagnose.deliver.notify.fingerprint import fingerprint
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.model import Event
    from diagnose.deliver.notify.ledger import Repeats
    from diagnose.deliver.notify.settings import Notifier
    from diagnose.reason.result import Diagnosis

_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Letter:
    """What goes to one notifier. Secrets are masked already."""

    id: str  # the same for every attempt
    kind: str  # content type of a webhook's body; "" for what Apprise sends
    heading: str  # title, where it is no part of the body
    body: str
    bad: bool = True  # a failure, not a slow run or a summary


def write(notifier: Notifier, diagnosis: Diagnosis, event: Event, before: int) -> Letter:
    """Write what a notifier is told of a failure; `before` is how often it came since the last message."""
    from diagnose.deliver.notify import message, payload

    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    name = _id(fingerprint(diagnosis), event.cluster, event.job_id, stamp)
    bad = diagnosis.verdict != "degraded"
    if notifier.kind == "webhook" and notifier.form != "text":
        content = payload.data(diagnosis, event, before)
        body, kind = payload.encode(content, notifier.form, message_id=name, now=stamp, limit=notifier.size_limit)
        return Letter(name, kind, "", body.decode(), bad)
    heading = message.title(diagnosis, event)
    text = message.body(diagnosis, event, before)
    if notifier.kind == "apprise":
        return Letter(name, "", heading, text, bad)
    return Letter(name, _TEXT, "", f"{heading}\n\n{text}", bad)


def sum_up(notifier: Notifier, repeats: Repeats, event: Event) -> Letter:
    """Write how often a failure came back since it was told."""
    since = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(repeats.since))
    times = "time" if repeats.count == 1 else "times"
    heading = f"{repeats.count} {times} more: {repeats.summary}"[:200]
    text = f"{repeats.summary}\n\nSeen {repeats.count} {times} more since {since}."
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    name = _id(repeats.failure, moment)
    if notifier.kind == "apprise":
        return Letter(name, "", heading, text, bad=False)
    if notifier.form == "text":
        return Letter(name, _TEXT, "", f"{heading}\n\n{text}", bad=False)
    content = {"summary": repeats.summary, "repeats": repeats.count, "since": since, "cluster": event.cluster}
    if notifier.form != "cloudevents":
        return Letter(name, "application/json", "", json.dumps(content), bad=False)
    envelope = {"specversion": "1.0", "id": name, "source": "/diagnose", "type": "io.train-diagnose.repeats.v1"}
    whole = {**envelope, "time": moment, "datacontenttype": "application/json", "data": content}
    return Letter(name, "application/cloudevents+json", "", json.dumps(whole), bad=False)


def send(notifier: Notifier, letter: Letter, timeout: float) -> None:
    """Send once; raises SendError. `timeout` in seconds."""
    from diagnose.deliver.notify import chat, webhook

    if (notifier.kind == "apprise") != (letter.kind == ""):
        raise webhook.SendError("it was written for a notifier of another type", again=False)
    if notifier.kind == "apprise":
        chat.send(notifier, letter.heading, letter.body, bad=letter.bad)
        return
    body = letter.body.encode("utf-8", "replace")
    if letter.kind == _TEXT:
        body = body[: notifier.size_limit].decode("utf-8", "ignore").encode()  # no half of a character
    webhook.post(notifier, body, letter.kind, letter.id, timeout)


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
