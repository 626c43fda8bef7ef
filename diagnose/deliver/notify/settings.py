"""Reads the `notify` entries of diagnose.yaml."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from diagnose.classes import dataclass
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.document import Table
    from diagnose.catalogue.form import Form
    from diagnose.catalogue.model import Trouble

_KEYS = (
    "name",
    "type",
    "url",
    "format",
    "secret",
    "authorization",
    "timeout",
    "total",
    "size_limit",
    "window",
    "degraded",
    "ledger",
)
_SECRET_FILE = 64 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Notifier:
    """One place to tell. The texts that may be secret are kept out of the representation."""

    name: str
    kind: str  # "webhook", or "apprise" for chats, pagers and e-mail
    url: str
    form: str = "json"  # of a webhook: "json", "cloudevents" or "text"
    secret: str = ""  # key of the signature; "" signs nothing
    authorization: str = ""  # value of the Authorization header
    timeout: float = 10.0  # seconds of one attempt
    total: float = 30.0  # seconds of all attempts together
    size_limit: int = 256 * 1024  # bytes of a body
    window: float = 3600.0  # seconds in which a failure is told once
    degraded: bool = False  # True: slow runs are told as well
    ledger: str = ""  # file of what was told; "" is the one in the user's state folder

    def __repr__(self) -> str:
        """Name it, and nothing that is secret."""
        return f"Notifier({self.name!r}, {self.kind!r})"


def read_notifiers(
    entries: Sequence[Table], environment: Mapping[str, str] = os.environ
) -> tuple[list[Notifier], list[Trouble]]:
    """Read the entries; those with mistakes are left out and their mistakes returned, with line and column.

    `url`, `secret` and `authorization` may be written `env:NAME` or `file:/path`, so that the file holds no secret.
    """
    from diagnose.catalogue.form import Form, Report

    report = Report()
    found: list[Notifier] = []
    for number, table in enumerate(entries, 1):
        before = len(report.troubles)
        notifier = _read(Form(report, table, "a notifier", _KEYS), number, environment)
        if notifier.name in {each.name for each in found}:
            report.add(table.where, f"a notifier called `{notifier.name}` stands above", "give each a `name`")
        if len(report.troubles) == before:
            found.append(notifier)
    return found, report.troubles


def _read(form: Form, number: int, environment: Mapping[str, str]) -> Notifier:
    form.require("type", "url")
    kind = form.choice("type", ("webhook", "apprise"))
    url = resolve(form, "url", environment)
    if kind == "webhook" and url and not re.match(r"https?://[^\s/]", url):
        form.complain("url", "`url` must begin with http:// or https://")
    return Notifier(
        name=form.text("name") or f"{kind or 'notifier'}-{number}",
        kind=kind,
        url=url,
        form=form.choice("format", ("json", "cloudevents", "text"), "json"),
        secret=resolve(form, "secret", environment),
        authorization=resolve(form, "authorization", environment),
        timeout=form.whole("timeout", 10, 120),
        total=form.whole("total", 30, 600),
        size_limit=max(4096, form.whole("size_limit", 256 * 1024, 16 * 1024 * 1024)),
        window=form.whole("window", 3600, 7 * 86_400),
        degraded=form.flag("degraded", False),
        ledger=form.text("ledger"),
    )


def resolve(form: Form, key: str, environment: Mapping[str, str] = os.environ) -> str:
    """Read a text that may be written `env:NAME` or `file:/path`; what cannot be had is noted at its place."""
    text = form.text(key) if form.has(key) else ""
    kind, _, rest = text.partition(":")
    if kind == "env":
        value = environment.get(rest, "")
        if not value:
            form.complain(key, f"the environment has no variable {rest}")
        return value.strip()
    if kind == "file":
        try:
            with open(rest, encoding="utf-8") as file:
                return file.read(_SECRET_FILE).strip()
        except (OSError, UnicodeDecodeError) as error:
            form.complain(key, f"{rest} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}")
            return ""
    return text
