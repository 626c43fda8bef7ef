"""Reads the `serve` section of diagnose.yaml."""

from __future__ import annotations

import os
from collections.abc import Mapping

from diagnose.classes import dataclass, field
from diagnose.deliver.model import NotifySettings
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.document import Table
    from diagnose.catalogue.model import Trouble

_KEYS = (
    "host",
    "port",
    "roots",
    "database",
    "token",
    "workers",
    "queue",
    "job_timeout",
    "body_limit",
    "keep_days",
    "alert_paths",
)
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How the server runs. The token is kept out of the representation."""

    roots: tuple[str, ...] = ()  # folders below which logs are opened; without one only text is taken
    host: str = "127.0.0.1"
    port: int = 8377
    database: str = "diagnose.sqlite"
    token: str = field(default="", repr=False)  # what callers must show; may be left out on loopback only
    workers: int = 2  # diagnoses at the same time
    queue: int = 1000  # accepted requests that wait; more are refused
    job_timeout: float = 120.0  # seconds that one diagnosis may take
    body_limit: int = 8 * 1024 * 1024  # bytes of a request
    keep: float = 30.0 * _DAY  # seconds after which an answer is forgotten
    alert_paths: tuple[str, ...] = ()  # where the logs of an alert lie: /logs/{namespace}/{job_name}
    patterns: tuple[str, ...] = ()  # folders of further patterns
    notify: NotifySettings = field(default_factory=NotifySettings, repr=False)


def read_serve(
    table: Table | None,
    *,
    notify: NotifySettings | None = None,
    patterns: tuple[str, ...] = (),
    environment: Mapping[str, str] = os.environ,
) -> tuple[ServeSettings, list[Trouble]]:
    """Read the section; what is wrong in it has its default and is returned as a trouble.

    `token` may be written `env:NAME` or `file:/path`.
    """
    from diagnose.catalogue.document import Table, Where
    from diagnose.catalogue.form import Form, Report
    from diagnose.deliver.notify.settings import resolve

    report = Report()
    form = Form(report, table or Table(Where("", 1, 1)), "section `serve`", _KEYS)
    default = ServeSettings()
    roots = form.texts("roots", one=True)
    for where, root in zip(form.places("roots"), roots, strict=True):
        if not os.path.isabs(root) or os.path.realpath(root) == "/":
            report.add(where, "a root must be an absolute path, and not the whole machine")
    settings = ServeSettings(
        roots=tuple(root for root in roots if os.path.isabs(root) and os.path.realpath(root) != "/"),
        host=form.text("host") or default.host,
        port=form.whole("port", default.port, 65_535),
        database=form.text("database") or default.database,
        token=resolve(form, "token", environment),
        workers=form.whole("workers", default.workers, 64),
        queue=form.whole("queue", default.queue, 100_000),
        job_timeout=form.whole("job_timeout", int(default.job_timeout), 3600),
        body_limit=form.whole("body_limit", default.body_limit, 256 * 1024 * 1024),
        keep=form.whole("keep_days", int(default.keep / _DAY), 3650) * _DAY,
        alert_paths=form.texts("alert_paths", one=True),
        patterns=patterns,
        notify=notify or NotifySettings(),
    )
    return settings, report.troubles


def is_loopback(host: str) -> bool:
    """Whether an address to bind to is reached from this machine only."""
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
