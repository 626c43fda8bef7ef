"""Reads diagnose.yaml, the one configuration file; what is wrong in it has a line, a column and a hint."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from diagnose.classes import dataclass, field
from diagnose.deliver.model import NotifySettings
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.document import Node, Table
    from diagnose.catalogue.form import Form, Report
    from diagnose.catalogue.model import Trouble

NAME = "diagnose.yaml"
SITE = "/etc/diagnose/diagnose.yaml"
REPORTS = "/var/lib/diagnose/reports"  # where the controller's hooks put reports, if it is there
_SECTIONS = ("patterns", "redact", "wrap", "slurm", "watch", "notify", "serve")
_DURATION = re.compile(r"(\d{1,9})\s*(s|m|h|d|)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class WrapSettings:
    """Section `wrap`."""

    timeout: float = 60.0  # seconds that a diagnosis may take


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """Section `slurm`."""

    timeout: float = 120.0  # seconds that a diagnosis may take in a hook
    reports: str = REPORTS  # folder for the reports of the controller's hooks
    mailer: str = "/usr/bin/mail"  # the program that sends mail, called like MailProg
    cancelled: bool = False  # True: jobs that somebody cancelled are diagnosed too


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Section `watch`."""

    interval: float = 60.0  # seconds between two looks
    ledger: str = ""  # the file that remembers what was diagnosed; "" is one in the user's state folder
    user: str = ""  # whose jobs; "" are all that one may see


@dataclass(frozen=True, slots=True)
class Settings:
    """What diagnose.yaml says; the defaults where there is none."""

    path: str = ""  # the file; "" where there is none
    patterns: tuple[str, ...] = ()  # folders of further patterns, the strongest layer but for --patterns
    redact: bool = False  # True: reports that stay on this machine are masked too; what leaves it always is
    wrap: WrapSettings = field(default_factory=WrapSettings)
    slurm: SlurmSettings = field(default_factory=SlurmSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
    serve: Table | None = None  # as it stands, each value with its place; the server reads it
    troubles: tuple[Trouble, ...] = ()  # what is wrong in the file; those parts have their defaults


def find_settings(explicit: str | None = None, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the path of the configuration file, or None where there is none.

    The first of: `explicit`, $DIAGNOSE_CONFIG, ./diagnose.yaml, the user's XDG configuration folder, /etc/diagnose.
    The first two are returned whether they are there or not.
    """
    named = explicit or environment.get("DIAGNOSE_CONFIG")
    if named:
        return named
    home = environment.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".config")
    places = (NAME, os.path.join(home, "diagnose", NAME), SITE)
    return next((place for place in places if os.path.isfile(place)), None)


def load_settings(explicit: str | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the configuration file; never raises: what is wrong stands in `troubles`."""
    path = find_settings(explicit, environment)
    return Settings() if path is None else read_settings(path)


def read_settings(path: str) -> Settings:
    """Read one file; what cannot be read stands in `troubles`, and the defaults hold."""
    from diagnose.catalogue.document import MAX_BYTES
    from diagnose.catalogue.model import Trouble

    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return Settings(path, troubles=(Trouble(path, 1, 1, f"it cannot be read: {error.strerror}"),))
    return parse_settings(path, data)


def parse_settings(path: str, data: bytes) -> Settings:
    """Read the bytes of a configuration file."""
    from diagnose.catalogue.document import Table, read_document
    from diagnose.catalogue.form import Form, Report

    if not re.sub(rb"(?m)^\s*(?:#.*|---\s*)?$", b"", data).strip():
        return Settings(path)  # nothing but comments
    root, troubles = read_document(path, data)
    report = Report(list(troubles))
    if root is None:
        return Settings(path, troubles=tuple(report.troubles))
    if not isinstance(root, Table):
        report.add(root.where, "the file must be a mapping", f"with the keys {', '.join(_SECTIONS)}")
        return Settings(path, troubles=tuple(report.troubles))
    form = Form(report, root, "the configuration", _SECTIONS)
    return Settings(
        path=path,
        patterns=tuple(os.path.join(os.path.dirname(path), each) for each in form.texts("patterns", one=True) if each),
        redact=form.flag("redact", False),
        wrap=_wrap(form),
        slurm=_slurm(form),
        watch=_watch(form),
        notify=NotifySettings(tuple(form.tables("notify"))),
        serve=_serve(form, report),
        troubles=tuple(report.troubles),  # the last argument: all others have reported by now
    )


def _wrap(form: Form) -> WrapSettings:
    section = form.form("wrap", ("timeout",), "section `wrap`")
    default = WrapSettings()
    return default if section is None else WrapSettings(_duration(section, "timeout", default.timeout))


def _slurm(form: Form) -> SlurmSettings:
    section = form.form("slurm", ("timeout", "reports", "mailer", "cancelled"), "section `slurm`")
    default = SlurmSettings()
    if section is None:
        return default
    return SlurmSettings(
        timeout=_duration(section, "timeout", default.timeout),
        reports=_absolute(section, "reports", default.reports),
        mailer=_absolute(section, "mailer", default.mailer),
        cancelled=section.flag("cancelled", default.cancelled),
    )


def _watch(form: Form) -> WatchSettings:
    section = form.form("watch", ("interval", "ledger", "user"), "section `watch`")
    default = WatchSettings()
    if section is None:
        return default
    return WatchSettings(
        interval=_duration(section, "interval", default.interval, least=10),
        ledger=_absolute(section, "ledger", default.ledger),
        user=section.text("user"),
    )


def _serve(form: Form, report: Report) -> Table | None:
    from diagnose.catalogue.document import Table

    node: Node | None = form.node("serve")
    if node is None or isinstance(node, Table):
        return node
    report.add(node.where, "`serve` must be a mapping", "write its settings as indented `key: value` lines")
    return None


def _duration(form: Form, key: str, default: float, least: int = 1) -> float:
    """A time as 90, 90s, 2m or 1h, in seconds."""
    if not form.has(key):
        return default
    match = _DURATION.fullmatch(form.raw(key).strip())
    seconds = int(match[1]) * _SECONDS[match[2]] if match else 0
    if not least <= seconds <= 7 * 86400:
        form.complain(key, f"`{key}` must be a time of {least} s or more", "write 90, 90s, 2m or 1h")
        return default
    return float(seconds)


def _absolute(form: Form, key: str, default: str) -> str:
    if not form.has(key):
        return default
    path = os.path.expanduser(form.text(key))
    if not path:
        return default
    if not os.path.isabs(path):
        form.complain(key, f"`{key}` must be an absolute path", "hooks run in folders of their own")
        return default
    return path
