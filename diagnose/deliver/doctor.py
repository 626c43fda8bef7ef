"""Says what is wired, what works and what is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec

from diagnose.classes import dataclass
from diagnose.deliver.settings import Settings, find_settings, load_settings
from diagnose.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from diagnose.deliver.notify.settings import Notifier

State = Literal["ok", "missing", "off", "wrong"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    area: str  # "program", "configuration", "slurm", …
    name: str
    state: State  # missing: something optional is not there; off: not set up; wrong: set up, and does not work
    detail: str = ""
    hint: str = ""  # what to do


def examine(settings_path: str | None = None, *, online: bool = False) -> Iterator[Check]:
    """Look at everything; with `online`, also try whether the notifiers' hosts can be reached."""
    settings = load_settings(settings_path)
    areas: tuple[Callable[[], Iterable[Check]], ...] = (
        _program,
        lambda: _configuration(settings, settings_path),
        lambda: _patterns(settings),
        lambda: _slurm(settings),
        _kubernetes,
        lambda: _notifiers(settings, online),
        lambda: _server(settings),
    )
    for area in areas:
        yield from area()


def _program() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("program", "Python", "ok", f"{version}, {sys.executable}")
    yield _module("scan engine", "hyperscan", "pip install hyperscan; without it a slower engine is used")
    yield _module("second scan engine", "ahocorasick_rs", "pip install 'train-diagnose[fast]'")
    yield _module("fast gzip", "isal", "pip install 'train-diagnose[fast]'")
    if sys.version_info < (3, 14):
        yield _module("zstd", "zstandard", "pip install 'train-diagnose[zstd]'; .zst logs cannot be read without it")
    yield _cache()


def _module(name: str, module: str, hint: str) -> Check:
    try:
        there = find_spec(module) is not None
    except (ImportError, ValueError):
        there = False
    return Check("program", name, "ok" if there else "missing", module, "" if there else hint)


def _cache() -> Check:
    home = os.environ.get("XDG_CACHE_HOME", "")
    folder = os.path.join(home if os.path.isabs(home) else os.path.expanduser("~/.cache"), "diagnose")
    near = folder
    while not os.path.exists(near):
        near = os.path.dirname(near)
    if os.access(near, os.W_OK):
        return Check("program", "cache", "ok", folder)
    hint = "every start compiles the patterns anew; set XDG_CACHE_HOME to a folder that can be written"
    return Check("program", "cache", "missing", f"{folder} cannot be written", hint)


def _configuration(settings: Settings, explicit: str | None) -> Iterator[Check]:
    path = find_settings(explicit)
    if path is None:
        yield Check("configuration", "diagnose.yaml", "off", "none; the defaults hold")
        return
    for trouble in settings.troubles:
        where = f"{trouble.path}:{trouble.line}:{trouble.column}"
        yield Check("configuration", "diagnose.yaml", "wrong", f"{where}: {trouble.message}", trouble.hint)
    if not settings.troubles:
        yield Check("configuration", "diagnose.yaml", "ok", path)


def _patterns(settings: Settings) -> Iterator[Check]:
    from diagnose.api import load_catalogue

    for folder in settings.patterns:
        if not os.path.exists(folder):
            yield Check("patterns", folder, "wrong", "there is no such folder", "correct `patterns` in diagnose.yaml")
    catalogue = load_catalogue(each for each in settings.patterns if os.path.exists(each))
    if catalogue.troubles:
        first = catalogue.troubles[0]
        more = f" and {len(catalogue.troubles) - 1} more" if len(catalogue.troubles) > 1 else ""
        yield Check("patterns", "files", "wrong", f"{first.path}:{first.line}: {first.message}{more}",
                    "diagnose patterns check")  # fmt: skip
    yield Check("patterns", "in force", "ok", str(len(catalogue.patterns)))


def _slurm(settings: Settings) -> Iterator[Check]:
    from diagnose.deliver.slurm.query import SlurmError, find_command, run_command

    missing = [name for name in ("squeue", "scontrol", "sacct") if find_command(name) is None]
    if "scontrol" in missing:
        yield Check("slurm", "commands", "off", "Slurm is not installed here")
        return
    if missing:
        yield Check("slurm", "commands", "missing", ", ".join(missing))
    try:
        answer = run_command(["scontrol", "show", "config"])
    except SlurmError as error:
        yield Check("slurm", "controller", "wrong", str(error))
        return
    if answer.code:
        words = answer.error.strip().splitlines()
        yield Check("slurm", "controller", "wrong", words[-1] if words else "no answer", "scontrol ping")
        return
    yield Check("slurm", "controller", "ok")
    yield from _hooks(answer.out)
    folder = settings.slurm.reports
    writable = os.path.isdir(folder) and os.access(folder, os.W_OK)
    hint = "" if writable else f"mkdir -p {folder}, owned by SlurmUser; the hooks write their reports there"
    yield Check("slurm", "reports", "ok" if writable else "off", folder, hint)


def _hooks(configuration: str) -> Iterator[Check]:
    from diagnose.deliver.slurm.hooks import is_hook

    values = dict(_config_lines(configuration))
    for key, kind in (("MailProg", "mailprog"), ("EpilogSlurmctld", "epilog-slurmctld"), ("JobCompLoc", "jobcomp")):
        paths = [path for path in values.get(key, "").split(",") if path.startswith("/")]
        ours = next((path for path in paths if is_hook(path)), None)
        if ours is None:
            yield Check("slurm", key, "off", ", ".join(paths), f"diagnose hook slurm {kind} --install PATH")
        elif not os.access(ours, os.X_OK):
            yield Check("slurm", key, "wrong", f"{ours} is not executable", f"chmod 755 {ours}")
        else:
            yield Check("slurm", key, "ok", ours)


def _config_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            yield key.strip().partition("[")[0], value.strip()


def _kubernetes() -> Iterator[Check]:
    inside = "KUBERNETES_SERVICE_HOST" in os.environ
    there = find_spec("kubernetes") is not None
    if there:
        yield Check("kubernetes", "client", "ok", "inside a cluster" if inside else "outside of a cluster")
    else:
        hint = "pip install 'train-diagnose[k8s]'" if inside else ""
        yield Check("kubernetes", "client", "missing" if inside else "off", "not installed", hint)


def _notifiers(settings: Settings, online: bool) -> Iterator[Check]:
    from diagnose.deliver.notify.settings import read_notifiers

    if not settings.notify.entries:
        yield Check("notify", "notifiers", "off", "none; add `notify` to diagnose.yaml to be told of failures")
    notifiers, troubles = read_notifiers(settings.notify.entries)
    for trouble in troubles:
        where = f"{trouble.path}:{trouble.line}:{trouble.column}"
        yield Check("notify", "notifiers", "wrong", f"{where}: {trouble.message}", trouble.hint)
    for each in notifiers:
        if each.kind == "apprise" and find_spec("apprise") is None:
            yield Check("notify", each.name, "wrong", "apprise is missing", "pip install 'train-diagnose[notify]'")
        elif online:
            yield _reach(each.name, each.url)
        else:
            yield Check("notify", each.name, "ok", "set up; --online-check tries its host")
        yield from _waiting(each)


def _waiting(notifier: Notifier) -> Iterator[Check]:
    from diagnose.deliver.notify.ledger import Ledger, default_path

    path = notifier.ledger or default_path()
    try:
        count = Ledger(path).waiting(notifier.name) if os.path.exists(path) else 0
    except OSError as error:
        yield Check("notify", notifier.name, "wrong", str(error), "failures are told, but repeats are not counted")
        return
    if count:
        what = "1 message waits" if count == 1 else f"{count} messages wait"
        hint = "the next delivery, `watch` or `serve` tries again; they are given up after 3 days"
        yield Check("notify", notifier.name, "wrong", f"{what} because delivery failed", hint)


def _reach(name: str, address: str) -> Check:
    """Open a connection and close it again; nothing is sent, and the address, which may be a secret, is not shown."""
    import socket
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        if not parts.hostname or parts.scheme not in ("http", "https"):
            return Check("notify", name, "ok", "set up; only http and https can be tried")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        proxy = _proxy(parts.scheme, parts.hostname)
        with socket.create_connection(proxy or (parts.hostname, port), timeout=5) as connection:
            if proxy:
                return Check("notify", name, "ok", f"the proxy {proxy[0]} can be reached")
            if parts.scheme == "https":
                import ssl

                ssl.create_default_context().wrap_socket(connection, server_hostname=parts.hostname).close()
            return Check("notify", name, "ok", f"{parts.hostname} can be reached")
    except (OSError, ValueError) as error:
        refused = getattr(error, "verify_message", "")
        if refused:
            hint = "SSL_CERT_FILE names further authorities"
            return Check("notify", name, "wrong", f"its certificate was refused: {refused}", hint)
        return Check("notify", name, "wrong", f"it cannot be reached: {error}", "look at the address and the firewall")


def _proxy(scheme: str, host: str) -> tuple[str, int] | None:
    """The proxy that a delivery goes through, None where it goes straight."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    address = getproxies().get(scheme, "")
    if not address or proxy_bypass(host):
        return None
    parts = urlsplit(address if "://" in address else f"http://{address}")
    return (parts.hostname, parts.port or 80) if parts.hostname else None


def _server(settings: Settings) -> Iterator[Check]:
    there = all(find_spec(module) is not None for module in ("starlette", "uvicorn"))
    if settings.serve is None:
        yield Check("serve", "server", "off", "no section `serve` in diagnose.yaml")
    elif not there:
        yield Check(
            "serve", "server", "wrong", "starlette or uvicorn is missing", "pip install 'train-diagnose[serve]'"
        )
    else:
        yield _serve_section(settings)


def _serve_section(settings: Settings) -> Check:
    from diagnose.deliver.serve.run import StartError, check
    from diagnose.deliver.serve.settings import read_serve

    found, troubles = read_serve(settings.serve, notify=settings.notify, patterns=settings.patterns)
    for trouble in troubles[:1]:
        where = f"{trouble.path}:{trouble.line}:{trouble.column}"
        return Check("serve", "server", "wrong", f"{where}: {trouble.message}", trouble.hint)
    missing = next((root for root in found.roots if not os.path.isdir(root)), "")
    if missing:
        return Check("serve", "server", "wrong", f"the root {missing} is no folder")
    try:
        check(found)
    except StartError as error:
        return Check("serve", "server", "wrong", str(error))
    if not found.roots:
        return Check("serve", "server", "ok", "set up without `roots`: it diagnoses what is sent, and opens no file")
    return Check("serve", "server", "ok", f"set up for {found.host}:{found.port}")
