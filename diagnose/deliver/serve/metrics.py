"""The server's numbers in Prometheus' text format."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Counters:
    """Counts requests by route and status; one lives as long as its server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str]] = Counter()

    def request(self, route: str, status: int) -> None:
        """Count one answered request."""
        with self._lock:
            self._requests[route, str(status)] += 1

    def requests(self) -> list[tuple[tuple[str, str], int]]:
        """List what was counted."""
        with self._lock:
            return sorted(self._requests.items())


def page(families: Iterable[tuple[str, str, str, Iterable[tuple[dict[str, str], float]]]]) -> str:
    """Write metrics: for each its name, its kind, what it is, and its values by labels."""
    lines: list[str] = []
    for name, kind, help_text, values in families:
        lines += [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
        for labels, value in values:
            inner = ",".join(f'{key}="{_escape(text)}"' for key, text in labels.items())
            lines.append(f"{name}{{{inner}}} {value:.15g}" if inner else f"{name} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
