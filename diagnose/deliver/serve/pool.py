"""Takes requests from the store and has each diagnosed by a process that is ended when its time is up."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import uuid

from diagnose.deliver.redact import redact_text
from diagnose.deliver.serve.child import Order
from diagnose.deliver.serve.settings import ServeSettings
from diagnose.deliver.serve.store import Job, Store
from diagnose.typed import Any

# The alarm ends it where the server was killed and can end it no more, before its lease is over.
_BOOT = (
    "import json,signal,sys; signal.alarm(int(sys.argv[2])); sys.path[:]=json.loads(sys.argv[1]);"
    " from diagnose.deliver.serve.child import main; main()"
)
_POLL = 0.5  # seconds between two looks for what another server left
_SLACK = 30.0  # seconds that a lease outlasts a job's time limit
_SWEEP = 3600.0  # seconds between two removals of old answers
_REPAY = 60.0  # seconds between two looks for messages that could not be sent
_MEMORY = 8 * 1024**3  # bytes of address space of one worker
_LARGEST = 64 * 1024 * 1024  # bytes of an answer


class Pool:
    """The worker threads of one server; each runs one process at a time."""

    def __init__(self, settings: ServeSettings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._name = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self._stop = threading.Event()
        self._news = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._running: set[subprocess.Popen[bytes]] = set()
        self._swept = 0.0
        self._repaid = 0.0
        self.finished = 0  # diagnoses made by this server
        self.seconds = 0.0  # that they took, together
        self.lost = 0  # workers that died or ran out of time

    def start(self) -> None:
        """Begin to take requests."""
        for number in range(self._settings.workers):
            thread = threading.Thread(target=self._loop, args=(f"{self._name}-{number}",), daemon=True)
            thread.start()
            self._threads.append(thread)

    def wake(self) -> None:
        """Say that a request was added."""
        with self._news:
            self._news.notify()

    def stop(self, grace: float = 20.0) -> None:
        """Take nothing more, wait `grace` seconds for what runs, then give it back to whoever comes next."""
        self._stop.set()
        with self._news:
            self._news.notify_all()
        end = time.monotonic() + grace
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        for process in list(self._running):
            _kill(process)
        for thread in self._threads:
            thread.join(5.0)

    def _loop(self, worker: str) -> None:
        while not self._stop.is_set():
            try:
                job = self._store.claim(worker, time.time(), self._settings.job_timeout + _SLACK)
                if job is not None:
                    self._one(job, worker)
                    continue
                self._sweep()
                self._repay()
            except sqlite3.Error as error:
                print(f"diagnose: the database cannot be used: {error}", file=sys.stderr)
            except Exception as error:  # a thread that ends would leave the queue to nobody
                print(f"diagnose: a worker failed: {type(error).__name__}: {error}", file=sys.stderr)
            with self._news:
                if not self._stop.is_set():
                    self._news.wait(_POLL)

    def _one(self, job: Job, worker: str) -> None:
        started = time.monotonic()
        try:
            answer = self._run(job)
        except OSError:  # this machine has no room for a process now; another time it may
            self._store.release(job.number, worker)
            raise
        except Exception as error:
            self.lost += 1
            answer = {"error": f"the diagnosis could not be started: {type(error).__name__}"}
        if answer is None:
            self._store.release(job.number, worker)
            return
        self.finished += 1
        self.seconds += time.monotonic() - started
        self._store.finish(job.number, worker, time.time(), **answer)

    def _run(self, job: Job) -> dict[str, str] | None:
        """Have a job done; returns what to keep, or None where this server is being stopped."""
        settings = self._settings
        order = pickle.dumps(Order(job.request, settings.roots, settings.patterns, settings.notify, _MEMORY))
        folders = [path for path in sys.path if os.path.isabs(path)]
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOT, json.dumps(folders), str(int(settings.job_timeout + _SLACK / 2))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # the terminal's Ctrl-C is for the server, which ends its workers itself
        )
        self._running.add(process)
        late = False
        try:
            out, error = process.communicate(order, timeout=settings.job_timeout)
        except subprocess.TimeoutExpired:
            late = True
            _kill(process)
            out, error = process.communicate()
        finally:
            self._running.discard(process)
        answer = _read(out)
        if answer is not None:
            return answer
        if self._stop.is_set() and not late:
            return None
        self.lost += 1
        if late:
            return {"error": f"the diagnosis took longer than {settings.job_timeout:.0f} s and was stopped"}
        words = error.decode("utf-8", "replace").strip().splitlines()
        last = redact_text(words[-1])[:500] if words else "it said nothing"
        return {"error": f"the diagnosis failed, exit code {process.returncode}: {last}"}

    def _sweep(self) -> None:
        if time.monotonic() - self._swept > _SWEEP or not self._swept:
            self._swept = time.monotonic()
            self._store.forget(time.time() - self._settings.keep)

    def _repay(self) -> None:
        if self._settings.notify.entries and (time.monotonic() - self._repaid > _REPAY or not self._repaid):
            self._repaid = time.monotonic()
            from diagnose.deliver.notify import repay

            repay(self._settings.notify)


def _read(out: bytes) -> dict[str, str] | None:
    line = out[:_LARGEST].partition(b"\n")[0]
    try:
        content: dict[str, Any] = json.loads(line)
        # SQLite takes no half of a surrogate pair, which stands for a byte of a file name.
        kept = {
            key: str(content[key]).encode("utf-8", "replace").decode()
            for key in ("verdict", "pattern", "summary", "text")
        }
        return {**kept, "result": json.dumps(content["result"])}
    except (ValueError, KeyError, TypeError):
        return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
