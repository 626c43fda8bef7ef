"""Turns what callers send into requests: the API's own form, CloudEvents and other JSON, Alertmanager, NVRx."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from diagnose.classes import dataclass, field
from diagnose.deliver.redact import redact_text
from diagnose.deliver.serve.guard import RefusedError, Roots
from diagnose.typed import Any

_EVENT = ("job_id", "name", "user", "cluster", "time", "state")
_MOST_PATHS = 256
_MOST_SETTINGS = 256
_LONGEST = 1000  # characters of one word about a job
_LABEL = re.compile(r"[A-Za-z0-9][\w.@:+-]{0,252}")
_HOLE = re.compile(r"\{(\w{1,100})\}")
# Alertmanager's labels and what they tell of a job, the first that is there.
_ALERT_NAMES = {
    "job_id": ("slurm_job_id", "jobid", "job_id", "job_name"),
    "name": ("job_name", "exported_job", "pod", "alertname"),
    "user": ("user", "owner"),
    "cluster": ("cluster", "namespace"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """One request, checked: what is to be read, and a key under which it is accepted only once."""

    request: dict[str, Any]
    once: str | None = None


@dataclass(slots=True)
class Alerts:
    """What became of the alerts in one notification."""

    wanted: list[Wanted] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # sentences


def own_form(body: Mapping[str, Any], roots: Roots) -> Wanted:
    """Read `{"paths": […] | "text": "…", "config": …, "settings": …, "job_id": …}`; raises RefusedError."""
    paths = body.get("paths", body.get("log_paths", body.get("log_path", body.get("path"))))
    names = [paths] if isinstance(paths, str) else paths or []
    if not isinstance(names, list) or len(names) > _MOST_PATHS:
        raise _wrong(f"`paths` must be a list of at most {_MOST_PATHS} paths")
    text = body.get("text") or ""
    if not isinstance(text, str) or not (text or names):
        raise _wrong("name logs in `paths`, or hand one in as `text`")
    request: dict[str, Any] = {"paths": [roots.check(name) for name in names], "event": about(body)}
    if text:
        request["text"] = text
    config = body.get("config")
    if isinstance(config, str):
        request["config"] = roots.check(config)
    elif isinstance(config, dict):
        request["config"] = config
    elif config is not None:
        raise _wrong("`config` must be a path or a mapping")
    settings = body.get("settings") or []
    if isinstance(settings, dict):
        settings = [f"{key}={value}" for key, value in settings.items()]
    if settings:
        request["settings"] = _settings(settings)
    return Wanted(request)


def _settings(settings: Any) -> list[str]:
    from diagnose.facts.config_file import parse_set

    if not isinstance(settings, list) or len(settings) > _MOST_SETTINGS:
        raise _wrong("`settings` must be a mapping or a list of KEY=VALUE")
    for setting in settings:
        try:
            parse_set(str(setting))
        except ValueError as error:
            raise _wrong(str(error)) from None
    return [str(setting) for setting in settings]


def about(body: Mapping[str, Any]) -> dict[str, str]:
    """Read what is told of the job; what is no word is left out."""
    event = {key: _word(str(body[key])) for key in _EVENT if isinstance(body.get(key), str | int)}
    return {key: value for key, value in event.items() if value}


def cloud_events(body: Any, headers: Mapping[str, str], roots: Roots) -> list[Wanted]:
    """Read CloudEvents 1.0 (structured, batched, binary) or plain JSON in the API's own form; raises RefusedError."""
    if "ce-specversion" in headers:
        key = (headers.get("ce-source", ""), headers.get("ce-id", ""))
        return [_cloud_event(body, key, headers.get("ce-subject"), roots)]
    events = body if isinstance(body, list) else [body]
    if len(events) > 100:
        raise _wrong("a batch holds at most 100 events")
    found = []
    for event in events:
        if not isinstance(event, dict):
            raise _wrong("an event must be a JSON object")
        if "specversion" in event:
            key = (str(event.get("source", "")), str(event.get("id", "")))
            found.append(_cloud_event(event.get("data"), key, event.get("subject"), roots))
        else:
            found.append(own_form(event, roots))
    return found


def _cloud_event(data: Any, key: tuple[str, str], subject: Any, roots: Roots) -> Wanted:
    if not all(key):
        raise _wrong("a CloudEvent needs `source` and `id`")
    if not isinstance(data, dict):
        raise _wrong("the event's `data` must be a JSON object")
    wanted = own_form({**({"job_id": subject} if subject else {}), **data}, roots)
    return Wanted(wanted.request, _once("ce", *key))


def alertmanager(body: Mapping[str, Any], roots: Roots, templates: Sequence[str]) -> Alerts:
    """Read Alertmanager's webhook, version 4 (Grafana's is the same and more); raises RefusedError.

    An alert that is sent again keeps its key. Where its logs lie is told by an annotation or label `log_path`, or by
    the `templates`, whose holes are filled from the labels.
    """
    alerts = body.get("alerts")
    if not isinstance(alerts, list) or len(alerts) > 1000:
        raise _wrong("this is no Alertmanager notification: `alerts` must be a list")
    found = Alerts()
    for alert in alerts:
        if not isinstance(alert, dict):
            raise _wrong("an alert must be a JSON object")
        labels = {**_texts(body.get("commonLabels")), **_texts(alert.get("labels"))}
        name = labels.get("alertname", "alert")
        if alert.get("status", body.get("status")) != "firing":
            found.ignored.append(f"{name}: resolved")
            continue
        notes = {**_texts(body.get("commonAnnotations")), **_texts(alert.get("annotations"))}
        try:
            paths = _alert_paths(labels, notes, roots, templates)
        except RefusedError as error:
            found.ignored.append(f"{name}: {error}")
            continue
        starts = str(alert.get("startsAt", ""))
        event = {
            key: next((labels[each] for each in each_of if each in labels), "") for key, each_of in _ALERT_NAMES.items()
        }
        event = {key: _word(value) for key, value in {**event, "time": starts, "state": name}.items() if value}
        key = _once("am", str(body.get("groupKey", "")), str(alert.get("fingerprint", "")), starts)
        found.wanted.append(Wanted({"paths": paths, "event": event}, key))
    return found


def _alert_paths(
    labels: Mapping[str, str], notes: Mapping[str, str], roots: Roots, templates: Sequence[str]
) -> list[str]:
    named = notes.get("log_path") or labels.get("log_path")
    if named:
        return [roots.check(named)]
    error = RefusedError(404, "not_found", "neither `log_path` nor a template of `alert_paths` leads to its logs")
    for template in templates:
        holes = _HOLE.findall(template)
        # A label is a name here, never a piece of a path or a pattern.
        if all(_LABEL.fullmatch(labels.get(hole, "")) and ".." not in labels[hole] for hole in holes):
            try:
                return [roots.check(_HOLE.sub(lambda match: labels[match[1]], template))]
            except RefusedError as refused:
                error = refused
    raise error


def log_key(real: str) -> str:
    """Name a log as it is now: when it grows, it is another one."""
    import os

    status = os.stat(real)
    return _once("log", real, str(status.st_mtime_ns), str(status.st_size))


def _word(text: str) -> str:
    # Half of a surrogate pair is no text; who is told of the job could not encode it.
    return redact_text(text[:_LONGEST].encode("utf-8", "replace").decode())


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(item) for key, item in value.items()} if isinstance(value, dict) else {}


def _once(*parts: str) -> str:
    return parts[0] + ":" + hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def _wrong(message: str) -> RefusedError:
    return RefusedError(400, "invalid_request", message)
