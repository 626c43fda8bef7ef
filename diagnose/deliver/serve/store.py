"""Accepted requests and their answers, in one SQLite file that several servers may share."""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager

from diagnose.classes import dataclass
from diagnose.typed import Any

_WAIT = 20.0  # seconds to wait for another writer
_ATTEMPTS = 3  # a request that ended its worker so often is given up
_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    once TEXT UNIQUE,
    state TEXT NOT NULL DEFAULT 'queued',
    created REAL NOT NULL,
    finished REAL,
    attempts INTEGER NOT NULL DEFAULT 0,
    worker TEXT NOT NULL DEFAULT '',
    lease REAL NOT NULL DEFAULT 0,
    request TEXT NOT NULL,
    verdict TEXT NOT NULL DEFAULT '',
    pattern TEXT NOT NULL DEFAULT '',
    summary TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS jobs_state ON jobs (state, number);
"""
_ROW = "number, id, state, created, finished, attempts, request, verdict, pattern, summary, error"


class FullError(Exception):
    """The queue is full."""


@dataclass(frozen=True, slots=True)
class Job:
    """One accepted request."""

    number: int  # grows with every request
    id: str
    state: str  # "queued", "running", "done" or "failed"
    created: float  # seconds since 1970
    finished: float | None
    attempts: int
    request: dict[str, Any]
    verdict: str = ""
    pattern: str = ""
    summary: str = ""
    error: str = ""


class Store:
    """The file behind it. Every method opens it anew, so that any thread and any process may call."""

    def __init__(self, path: str) -> None:
        """Open it, and make it where it is not there; raises sqlite3.Error."""
        self._path = os.path.abspath(path)
        # Created before SQLite does, which would let the umask decide who reads other people's logs.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._database() as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(_SCHEMA)

    def add(self, request: dict[str, Any], now: float, limit: int, once: str | None = None) -> tuple[Job, bool]:
        """Accept a request, unless one with the same `once` was accepted before; returns the job and whether it is new.

        Raises FullError where `limit` requests wait already. When it returns, the request is on disk.
        """
        with self._transaction() as database:
            if once is not None:
                known = database.execute(f"SELECT {_ROW} FROM jobs WHERE once = ?", (once,)).fetchone()
                if known is not None:
                    return _job(known), False
            if self._waiting(database) >= limit:
                raise FullError
            name = uuid.uuid4().hex
            database.execute(
                "INSERT INTO jobs (id, once, created, request) VALUES (?, ?, ?, ?)",
                (name, once, now, json.dumps(request)),
            )
            return _job(database.execute(f"SELECT {_ROW} FROM jobs WHERE id = ?", (name,)).fetchone()), True

    def claim(self, worker: str, now: float, lease: float) -> Job | None:
        """Take the oldest request that waits, or whose worker died: for `lease` seconds it is this worker's alone."""
        with self._transaction() as database:
            database.execute(
                "UPDATE jobs SET state = 'failed', finished = ?, error = 'its worker was lost too often'"
                " WHERE state = 'running' AND lease < ? AND attempts >= ?",
                (now, now, _ATTEMPTS),
            )
            row = database.execute(
                "UPDATE jobs SET state = 'running', worker = ?, lease = ?, attempts = attempts + 1 WHERE number ="
                " (SELECT number FROM jobs WHERE state = 'queued' OR (state = 'running' AND lease < ?)"
                f" ORDER BY number LIMIT 1) RETURNING {_ROW}",
                (worker, now + lease, now),
            ).fetchone()
        return None if row is None else _job(row)

    def release(self, number: int, worker: str) -> None:
        """Give a request back unfinished, as if it had not been taken."""
        with self._transaction() as database:
            database.execute(
                "UPDATE jobs SET state = 'queued', worker = '', lease = 0, attempts = attempts - 1"
                " WHERE number = ? AND worker = ? AND state = 'running'",
                (number, worker),
            )

    def finish(self, number: int, worker: str, now: float, **answer: str) -> bool:
        """Keep the answer; False where the request was another worker's by then.

        `answer` holds verdict, pattern, summary, text and result (JSON), or error.
        """
        names = ("verdict", "pattern", "summary", "text", "result", "error")
        values = [answer.get(name, "") for name in names]
        with self._transaction() as database:
            done = database.execute(
                # The text that was handed in may hold secrets, and nobody needs it any more.
                "UPDATE jobs SET request = json_remove(request, '$.text'), state = ?, finished = ?,"
                f" {', '.join(f'{name} = ?' for name in names)}"
                " WHERE number = ? AND worker = ? AND state = 'running'",
                ("failed" if answer.get("error") else "done", now, *values, number, worker),
            )
            return done.rowcount == 1

    def get(self, name: str) -> Job | None:
        """Give a job by its id."""
        with self._database() as database:
            row = database.execute(f"SELECT {_ROW} FROM jobs WHERE id = ?", (name,)).fetchone()
        return None if row is None else _job(row)

    def answer(self, name: str) -> tuple[dict[str, Any] | None, str]:
        """Give a job's diagnosis as JSON data, and as text; None and "" before it is there."""
        with self._database() as database:
            row = database.execute("SELECT result, text FROM jobs WHERE id = ?", (name,)).fetchone()
        return (json.loads(row[0]), row[1]) if row is not None and row[0] else (None, "")

    def recent(self, limit: int, before: int | None = None, state: str = "", verdict: str = "") -> list[Job]:
        """List jobs, newest first, at most `limit`; `before` is the number of the last one on the page before."""
        where, values = ["number < ?"], [2**62 if before is None else before]
        more: list[Any] = list(values)
        for column, value in (("state", state), ("verdict", verdict)):
            if value:
                where.append(f"{column} = ?")
                more.append(value)
        with self._database() as database:
            rows = database.execute(
                f"SELECT {_ROW} FROM jobs WHERE {' AND '.join(where)} ORDER BY number DESC LIMIT ?", (*more, limit)
            ).fetchall()
        return [_job(row) for row in rows]

    def count(self) -> tuple[dict[str, int], dict[tuple[str, str], int], float | None]:
        """Count jobs by state, and finished ones by verdict and pattern; and tell since when the oldest one waits."""
        with self._database() as database:
            states = dict(database.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
            verdicts = database.execute(
                "SELECT verdict, pattern, count(*) FROM jobs WHERE state = 'done' GROUP BY verdict, pattern LIMIT 1000"
            ).fetchall()
            oldest = database.execute("SELECT min(created) FROM jobs WHERE state = 'queued'").fetchone()[0]
        return states, {(row[0], row[1]): row[2] for row in verdicts}, oldest

    def forget(self, before: float) -> int:
        """Remove what was finished before a time; returns how many."""
        with self._transaction() as database:
            return database.execute("DELETE FROM jobs WHERE finished < ?", (before,)).rowcount

    def _waiting(self, database: sqlite3.Connection) -> int:
        return int(database.execute("SELECT count(*) FROM jobs WHERE state = 'queued'").fetchone()[0])

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_WAIT, isolation_level=None)) as database:
            yield database

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._database() as database:
            database.execute("PRAGMA synchronous = FULL")  # accepted means that it is on disk
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")


def _job(row: tuple[Any, ...]) -> Job:
    number, name, state, created, finished, attempts, request, *told = row
    return Job(number, name, state, created, finished, attempts, json.loads(request), *told)
