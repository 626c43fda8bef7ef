"""Remembers which failures were told, so that five hundred jobs with one failure make one message."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager

from diagnose.classes import dataclass
from diagnose.deliver.notify.letter import Letter
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

_WAIT = 15.0  # seconds to wait for another writer
_KEPT = 30 * 86_400  # seconds after which an entry is forgotten
_OWED = 3 * 86_400  # seconds after which a letter that could not be sent is given up
_LETTERS = 100  # of one notifier that are kept; of more the oldest are given up
_TRIES = 20
_PAUSE, _LONGEST_PAUSE = 60.0, 3600.0  # seconds until the next try of a letter; doubled each time
_SCHEMA = """
CREATE TABLE IF NOT EXISTS told (
    notifier TEXT NOT NULL, failure TEXT NOT NULL, since REAL NOT NULL, repeats INTEGER NOT NULL DEFAULT 0,
    summary TEXT NOT NULL DEFAULT '', PRIMARY KEY (notifier, failure)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS owed (
    notifier TEXT NOT NULL, failure TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, heading TEXT NOT NULL,
    body TEXT NOT NULL, bad INTEGER NOT NULL, since REAL NOT NULL, tries INTEGER NOT NULL DEFAULT 0, next REAL NOT NULL,
    PRIMARY KEY (notifier, failure)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS down (notifier TEXT PRIMARY KEY, since REAL NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Repeats:
    """A failure that came back after it was told, and that nobody has been told of again."""

    failure: str  # key of the failure
    count: int
    since: float  # when it was told, seconds since 1970
    summary: str  # what was said then


def default_path(environment: Mapping[str, str] = os.environ) -> str:
    """Give the ledger's place in the user's state folder."""
    state = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "diagnose", "notified.sqlite")


class Ledger:
    """The file behind it; several processes may write at once. Every method raises OSError where it cannot be used."""

    def __init__(self, path: str) -> None:
        self._path = path

    def claim(self, notifier: str, failure: str, now: float, window: float, summary: str) -> int | None:
        """Ask for the right to tell of a failure; whoever gets it must send, or `release`.

        Returns how often the failure was seen untold before, or None where it was told inside the last `window`
        seconds; then this time is counted.
        """
        with self._write() as database:
            row = database.execute(
                "SELECT since, repeats FROM told WHERE notifier = ? AND failure = ?", (notifier, failure)
            ).fetchone()
            if row is not None and abs(now - row[0]) < window:  # a later clock may have come first
                database.execute(
                    "UPDATE told SET repeats = repeats + 1 WHERE notifier = ? AND failure = ?", (notifier, failure)
                )
                return None
            database.execute(
                "INSERT OR REPLACE INTO told (notifier, failure, since, repeats, summary) VALUES (?, ?, ?, 0, ?)",
                (notifier, failure, now, summary[:500].encode("utf-8", "replace").decode()),
            )
            database.execute("DELETE FROM told WHERE since < ? AND repeats = 0", (now - _KEPT,))
            return 0 if row is None else int(row[1])

    def release(self, notifier: str, failure: str, untold: int) -> None:
        """Give the right back because sending failed: the next one may try, and will tell of all before it."""
        with self._write() as database:
            database.execute(
                "UPDATE told SET since = 0, repeats = repeats + ? WHERE notifier = ? AND failure = ?",
                (untold + 1, notifier, failure),
            )

    def due(self, notifier: str, now: float, window: float, limit: int = 20) -> list[Repeats]:
        """Take the failures whose window has passed and that came back inside it; each is handed out once."""
        with self._write() as database:
            rows = database.execute(
                "SELECT failure, repeats, since, summary FROM told"
                " WHERE notifier = ? AND repeats > 0 AND since > 0 AND since < ? ORDER BY since LIMIT ?",
                (notifier, now - window, limit),
            ).fetchall()
            database.executemany(
                "UPDATE told SET repeats = 0 WHERE notifier = ? AND failure = ?", [(notifier, row[0]) for row in rows]
            )
        return [Repeats(row[0], row[1], row[2], row[3]) for row in rows]

    def restore(self, notifier: str, repeats: Repeats) -> None:
        """Put back what `due` handed out and could not be sent."""
        with self._write() as database:
            database.execute(
                "UPDATE told SET repeats = repeats + ? WHERE notifier = ? AND failure = ?",
                (repeats.count, notifier, repeats.failure),
            )

    def owe(self, notifier: str, failure: str, letter: Letter, now: float, lease: float) -> None:
        """Keep a letter until it is `paid`. For `lease` seconds it is the caller's alone to send."""
        values = (letter.id, letter.kind, letter.heading, letter.body, letter.bad)
        clean = [each.encode("utf-8", "replace").decode() if isinstance(each, str) else each for each in values]
        with self._write() as database:
            database.execute(
                "INSERT OR REPLACE INTO owed (notifier, failure, id, kind, heading, body, bad, since, next)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (notifier, failure, *clean, now, now + lease),
            )
            database.execute(
                "DELETE FROM owed WHERE notifier = ? AND failure IN (SELECT failure FROM owed WHERE notifier = ?"
                " ORDER BY since DESC LIMIT -1 OFFSET ?)",
                (notifier, notifier, _LETTERS),
            )

    def paid(self, notifier: str, failure: str, letter_id: str, now: float) -> None:
        """Note that a letter was sent: the failure is told, and so is all that the letter counts."""
        with self._write() as database:
            gone = database.execute(
                "DELETE FROM owed WHERE notifier = ? AND failure = ? AND id = ?", (notifier, failure, letter_id)
            )
            if gone.rowcount:
                database.execute(
                    "UPDATE told SET since = ?, repeats = 0 WHERE notifier = ? AND failure = ? AND since = 0",
                    (now, notifier, failure),
                )

    def put_off(self, notifier: str, failure: str, letter_id: str, now: float) -> None:
        """Note that a letter could not be sent; each time the next try is twice as far away."""
        with self._write() as database:
            database.execute(
                "UPDATE owed SET next = ? + min(?, ? * (1 << min(tries, 16))), tries = tries + 1"
                " WHERE notifier = ? AND failure = ? AND id = ?",
                (now, _LONGEST_PAUSE, _PAUSE, notifier, failure, letter_id),
            )

    def overdue(self, notifier: str, now: float, lease: float) -> tuple[str, Letter] | None:
        """Take the oldest letter whose time has come, with its failure; for `lease` seconds nobody else gets it."""
        with self._write() as database:
            database.execute("DELETE FROM owed WHERE tries >= ? OR since < ?", (_TRIES, now - _OWED))
            row = database.execute(
                "UPDATE owed SET next = ? WHERE notifier = ? AND failure = (SELECT failure FROM owed"
                " WHERE notifier = ? AND next <= ? ORDER BY since LIMIT 1)"
                " RETURNING failure, id, kind, heading, body, bad",
                (now + lease, notifier, notifier, now),
            ).fetchone()
        return None if row is None else (row[0], Letter(row[1], row[2], row[3], row[4], bool(row[5])))

    def waiting(self, notifier: str) -> int:
        """Count the letters that could not be sent yet."""
        with self._write() as database:
            return int(database.execute("SELECT count(*) FROM owed WHERE notifier = ?", (notifier,)).fetchone()[0])

    def is_down(self, notifier: str, now: float, seconds: float) -> bool:
        """Tell whether the notifier failed less than `seconds` ago."""
        with self._write() as database:
            row = database.execute("SELECT since FROM down WHERE notifier = ?", (notifier,)).fetchone()
        return row is not None and abs(now - row[0]) < seconds

    def mark(self, notifier: str, now: float, *, ok: bool) -> None:
        """Note that the notifier works, or does not."""
        with self._write() as database:
            if ok:
                database.execute("DELETE FROM down WHERE notifier = ?", (notifier,))
            else:
                database.execute("INSERT OR REPLACE INTO down VALUES (?, ?)", (notifier, now))

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        import sqlite3

        try:
            os.makedirs(os.path.dirname(self._path) or ".", mode=0o700, exist_ok=True)
            # Created before SQLite does: letters hold lines of other people's logs.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            with closing(sqlite3.connect(self._path, timeout=_WAIT, isolation_level=None)) as database:
                # Only a power cut loses anything, a killed process does not: not worth a wait for the disk in a burst.
                database.execute("PRAGMA synchronous = OFF")
                # Taken at once, so that two processes never both read before either writes.
                database.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA.split(";"):
                    database.execute(statement)
                yield database
                database.execute("COMMIT")
        except sqlite3.Error as error:
            if not isinstance(error, sqlite3.OperationalError):
                self._discard()
            raise OSError(f"{self._path}: {error}") from error

    def _discard(self) -> None:
        """Remove a file that is no ledger any more, so that the next one starts afresh."""
        try:
            os.replace(self._path, f"{self._path}.broken")
        except OSError:
            return
