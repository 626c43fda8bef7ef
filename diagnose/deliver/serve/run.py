"""Starts the server."""

from __future__ import annotations

from diagnose.deliver.serve.settings import ServeSettings, is_loopback
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import uvicorn

_SHUTDOWN = 25  # seconds for answers under way
_CONNECTIONS = 256


class StartError(Exception):
    """The server cannot start; the message says what to do."""


def check(settings: ServeSettings) -> None:
    """Raise StartError where the server must not start, or cannot."""
    from importlib.util import find_spec

    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise StartError("starlette and uvicorn are not installed; pip install 'train-diagnose[serve]'")
    if not settings.token and not is_loopback(settings.host):
        raise StartError(
            f"bound to {settings.host}, the server needs a token: set `token: env:NAME` in the section `serve`, "
            "or DIAGNOSE_TOKEN"
        )
    if settings.token and len(settings.token) < 16:
        raise StartError("the token must have 16 characters or more")


def serve(settings: ServeSettings) -> None:
    """Serve until SIGTERM or SIGINT; raises StartError."""
    import signal

    check(settings)
    made = server(settings)
    # When it has shut down in order, uvicorn sends itself the signal once more; that must not end in an error.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    made.run()


def server(settings: ServeSettings) -> uvicorn.Server:
    """Make the HTTP server; raises StartError where the database cannot be opened."""
    import sqlite3

    import uvicorn
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    from diagnose.deliver.serve.app import build
    from diagnose.deliver.serve.idle import bounded

    try:
        app = build(settings)
    except (OSError, sqlite3.Error) as error:
        raise StartError(f"the database {settings.database} cannot be opened: {error}") from error
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            http=bounded(AutoHTTPProtocol),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=_SHUTDOWN,
        )
    )
