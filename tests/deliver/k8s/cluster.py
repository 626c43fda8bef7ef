"""A stub of the Kubernetes API on loopback, with objects that a test puts into it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

NOW = "2099-07-10T02:14:07Z"


@dataclass
class Stub:
    """Lists by path, logs by pod and container, and what was asked."""

    url: str = ""
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    logs: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    forbidden: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    page: int = 500
    status: int = 200


@contextmanager
def stub() -> Iterator[Stub]:
    """Run one for the length of a block."""
    state = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            state.asked.append(f"{self.headers.get('Authorization')} {parts.path}")
            if state.status != 200:
                self._answer(state.status, b'{"message": "no"}')
            elif parts.path in state.forbidden:
                self._answer(403, b'{"message": "forbidden: cannot list"}')
            elif parts.path.endswith("/log"):
                pod = parts.path.split("/")[-2]
                log = state.logs.get((pod, query.get("container", ""), query.get("previous") == "true"))
                self._answer(404 if log is None else 200, (log or '{"message": "gone"}').encode())
            elif query.get("watch"):
                self._answer(200, b"".join(json.dumps(change).encode() + b"\n" for change in state.changes))
            elif parts.path in state.lists:
                self._list(state.lists[parts.path], query)
            else:
                self._answer(404, b'{"message": "the server could not find the requested resource"}')

        def _list(self, items: list[dict[str, Any]], query: dict[str, str]) -> None:
            name, _, value = query.get("labelSelector", "").partition("=")
            chosen = [item for item in items if not name or item["metadata"].get("labels", {}).get(name) == value]
            first = int(query.get("continue", 0))
            last = first + state.page
            more = {"continue": str(last)} if last < len(chosen) else {}
            self._answer(200, json.dumps({"metadata": more, "items": chosen[first:last]}).encode())

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def workload(name: str, *conditions: tuple[str, str], namespace: str = "team", **about: Any) -> dict[str, Any]:
    """Make a workload with conditions (type, reason) that are true."""
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", **about},
        "status": {
            "conditions": [
                {
                    "type": kind,
                    "status": "True",
                    "reason": reason,
                    "message": f"{reason} it was",
                    "lastTransitionTime": NOW,
                }
                for kind, reason in conditions
            ]
        },
    }


def pod(name: str, label: str, value: str, exit_code: int = 1, reason: str = "Error", **status: Any) -> dict[str, Any]:
    """Make a pod whose container ended."""
    ended = {"exitCode": exit_code, "reason": reason, "startedAt": "2099-07-10T01:00:00Z", "finishedAt": NOW}
    return {
        "metadata": {"name": name, "namespace": "team", "labels": {label: value}},
        "spec": {"nodeName": "gpu-7"},
        "status": {"containerStatuses": [{"name": "trainer", "state": {"terminated": ended}}], **status},
    }


def event(name: str, reason: str, message: str, kind: str = "Pod") -> dict[str, Any]:
    """Make an event."""
    return {
        "type": "Warning",
        "reason": reason,
        "message": message,
        "lastTimestamp": NOW,
        "involvedObject": {"kind": kind, "name": name},
    }
