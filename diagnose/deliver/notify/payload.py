"""The JSON that a webhook is sent, plain or as a CloudEvent, never larger than agreed."""

from __future__ import annotations

import json
from dataclasses import asdict

from diagnose import __version__
from diagnose.deliver.notify.fingerprint import fingerprint
from diagnose.report.json import as_dict
from diagnose.report.model import Context
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnose.deliver.model import Event
    from diagnose.reason.result import Diagnosis

EVENT_TYPE = "io.train-diagnose.diagnosis.v1"
_CLOUD_LIMIT = 64 * 1024  # bytes that every CloudEvents intermediary must forward (CloudEvents 1.0, "Size Limits")
_WORDS = (200, 40)  # characters of each word about the job where nothing else helps; five times as many of the summary
# What is left out first when a body is too large.
_LEAST_WANTED = (
    ("run", "config"),
    ("run", "environment"),
    ("inputs",),
    ("notes",),
    ("risks",),
    ("fallout",),
    ("alternatives",),
    ("missing",),
    ("plan",),
)


def data(diagnosis: Diagnosis, event: Event, before: int = 0) -> dict[str, Any]:
    """Give event, fingerprint, count and diagnosis as plain data.

    `before` is how often the failure came since the last message, without this time.
    """
    return {
        "event": asdict(event),
        "fingerprint": fingerprint(diagnosis),
        "repeats": before,
        "omitted": [],
        "diagnosis": as_dict(diagnosis, Context(__version__)),
    }


def encode(content: dict[str, Any], form: str, *, message_id: str, now: str, limit: int) -> tuple[bytes, str]:
    """Encode the data; returns the body and its content type.

    Arguments: what `data` gave; `form`, "json" or "cloudevents"; an id that is the same for every attempt; the time in
    ISO 8601; the most bytes. Parts that do not fit are left out and named in `omitted`.
    """
    cloud = form == "cloudevents"
    kind = "application/cloudevents+json" if cloud else "application/json"
    limit = min(limit, _CLOUD_LIMIT) if cloud else limit

    def dump() -> bytes:
        whole = _cloud_event(content, message_id, now) if cloud else content
        return json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()

    encoded = dump()
    for path in _LEAST_WANTED:
        if len(encoded) <= limit:
            return encoded, kind
        _empty(content, path)
        encoded = dump()
    if len(encoded) > limit:
        content["omitted"].append("all but the summary")
        diagnosis, event = content["diagnosis"], content["event"]
        for longest in _WORDS:
            content["diagnosis"] = {"verdict": diagnosis["verdict"], "summary": diagnosis["summary"][: 5 * longest]}
            content["event"] = {**{key: value[:longest] for key, value in event.items()}, "paths": []}
            encoded = dump()
            if len(encoded) <= limit:
                break
    return encoded, kind


def _empty(content: dict[str, Any], path: tuple[str, ...]) -> None:
    place = content["diagnosis"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = type(place[path[-1]])()
    content["omitted"].append(".".join(path))


def _cloud_event(content: dict[str, Any], message_id: str, now: str) -> dict[str, Any]:
    event = content["event"]
    return {
        "specversion": "1.0",
        "id": message_id,
        "source": "/".join(part for part in ("/diagnose", event["cluster"], event["source"]) if part),
        "type": EVENT_TYPE,
        **({"subject": event["job_id"]} if event["job_id"] else {}),
        "time": now,
        "datacontenttype": "application/json",
        "data": content,
    }
