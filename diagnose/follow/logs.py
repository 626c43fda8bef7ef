"""The growing set of a job's logs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence

from diagnose.facts.live import AT_ONCE, LiveSource, StillSource, is_still
from diagnose.read.model import Problem, Source
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.model import Catalogue
    from diagnose.facts.model import SourceRecord
    from diagnose.facts.numbers import Metrics

_ROOM, _MOST_ROOM = 32_000_000, 16_000_000  # bytes of memory for what is kept of all files together, and of one
_CLOSELY = 32  # logs that are read with all their facts
_COPY = re.compile(r"[.-]\d+(?:[.-]\d+)*(?:\.(?:gz|xz|bz2|zst))?")  # what a rotated log's name has more


class Logs:
    """The growing set of a job's logs.

    Args:
        paths: files, folders and globs, which need not exist yet.
        catalogue: the patterns.
        metrics: as in `collect`.
    """

    def __init__(self, paths: Sequence[str], catalogue: Catalogue, metrics: Metrics) -> None:
        from diagnose.facts.probe import prepare

        self._paths = list(paths)
        self._probe = prepare(catalogue)
        self._metrics: Metrics = metrics
        self._logs: dict[str, LiveSource | StillSource] = {}
        self._identities: dict[tuple[int, int], str] = {}  # of files that are or were followed -> their first name
        self._first = True  # was nothing found yet?
        self.behind = False  # is there more to read at once?
        self.problems: list[Problem] = []

    def __len__(self) -> int:
        return len(self._logs)

    @property
    def sources(self) -> list[Source]:
        """The sources, in a stable order."""
        return [self._logs[path].source for path in sorted(self._logs)]

    @property
    def news(self) -> int:
        """How many lines were found that may matter."""
        return sum(log.news for log in self._logs.values())

    def look(self) -> None:
        """Find files that are new."""
        from diagnose.read import find_sources

        sources, self.problems = find_sources(self._paths)
        fresh = [source for source in sources if source.path not in self._logs and self._is_new(source)]
        if not fresh:
            return
        allow_files(len(self._logs) + len(fresh))
        count = max(1, len(self._logs) + len(fresh))
        room = min(_MOST_ROOM, _ROOM // count)
        for source in fresh:
            still = is_still(source, packed=_is_packed(source.path))
            self._logs[source.path] = (
                StillSource(source, self._probe, metrics=self._metrics)
                if still
                else LiveSource(
                    source, self._probe, metrics=self._metrics, room=room, brief=len(self._logs) >= _CLOSELY
                )
            )
        self._first = False

    def _is_new(self, source: Source) -> bool:
        """Is this a log of its own? Not an empty one, nor one that was renamed or copied away while it was followed."""
        try:
            status = os.stat(source.path)
        except OSError:
            return False
        if status.st_size == 0 or (status.st_dev, status.st_ino) in self._identities:
            return False
        return self._first or not any(
            source.path.startswith(path) and _COPY.fullmatch(source.path[len(path) :]) for path in self._logs
        )

    def read(self) -> int:
        """Read what was added to all of them; returns how many bytes."""
        read, self.behind = 0, False
        for path, log in self._logs.items():
            more = log.read()
            read += more
            self.behind = self.behind or (more >= AT_ONCE and isinstance(log, LiveSource))
            if log.identity is not None:
                self._identities.setdefault(log.identity, path)
        return read

    def end(self) -> None:
        """Read the last lines too that have no end."""
        for log in self._logs.values():
            log.end()

    def records(self) -> list[SourceRecord]:
        """Return the records of all of them, in a stable order."""
        return [self._logs[path].record() for path in sorted(self._logs)]

    def close(self) -> None:
        """Let all files go."""
        for log in self._logs.values():
            log.close()


def _is_packed(path: str) -> bool:
    from diagnose.read.codecs import decoder_for

    try:
        with open(path, "rb") as file:
            return decoder_for(file.read(16)) is not None
    except OSError:
        return False


def allow_files(count: int) -> None:
    """Ask the system to let this process hold so many files open, as far as it may."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = count + 64
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
