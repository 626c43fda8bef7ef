"""A webhook's receiver on loopback, and the settings that name it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from diagnose.catalogue.document import Items, Table, read_document
from diagnose.deliver.model import NotifySettings


@dataclass
class Receiver:
    """What came in, and what is answered: one status a request, the last one for ever."""

    url: str = ""
    statuses: list[int] = field(default_factory=lambda: [200])
    headers: dict[str, str] = field(default_factory=dict)
    bodies: list[bytes] = field(default_factory=list)
    seen: list[dict[str, str]] = field(default_factory=list)
    pause: float = 0.0


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Run one for the length of a block."""
    state = Receiver()
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.bodies.append(body)
            state.seen.append(dict(self.headers.items()))
            over.wait(state.pause)
            status = state.statuses.pop(0) if len(state.statuses) > 1 else state.statuses[0]
            self.send_response(status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def entries(text: str) -> tuple[Table, ...]:
    """Read YAML entries as they stand below `notify:`."""
    root, troubles = read_document("diagnose.yaml", text.encode())
    assert not troubles
    assert isinstance(root, Items)
    return tuple(item for item in root.items if isinstance(item, Table))


def settings(text: str) -> NotifySettings:
    """Give the settings that hold these entries."""
    return NotifySettings(entries(text))
