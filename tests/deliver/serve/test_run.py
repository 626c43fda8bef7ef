"""The server as a process: it starts, serves, and ends without losing what it accepted."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from diagnose.deliver.serve.store import Store

pytest.importorskip("uvicorn")


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _call(url: str, body: object = None) -> dict[str, object]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=10) as answer:
        found: dict[str, object] = json.load(answer)
        return found


def test_it_ends_on_sigterm_and_keeps_what_it_accepted(tmp_path: Path) -> None:
    """SIGTERM ends it with 0 in time; what was accepted and not done is on disk."""
    port = _port()
    database = str(tmp_path / "db")
    command = [sys.executable, "-m", "diagnose", "serve", "--port", str(port), "--database", database, "--workers", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                assert _call(f"{url}/healthz") == {"status": "ok"}
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        names = [_call(f"{url}/v1/diagnoses", {"text": "x\n" * 100})["id"] for _ in range(4)]
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=40)
    finally:
        process.kill()
    assert process.returncode == 0, said
    jobs = {job.id: job for job in Store(database).recent(10)}
    assert set(jobs) == set(names)
    assert all(job.state in ("queued", "done") for job in jobs.values())


def test_it_says_why_it_does_not_start(tmp_path: Path) -> None:
    """Without a token on the network, or with a database that cannot be opened, it ends with 2 and one line."""
    for more, word in ((["--host", "0.0.0.0"], "token"), (["--database", str(tmp_path)], "cannot be opened")):
        command = [sys.executable, "-m", "diagnose", "serve", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 2
        assert word in done.stderr
