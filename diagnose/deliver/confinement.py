"""Lets this process open only the files that it may show: each is judged once it is open, so no swap of names helps."""

from __future__ import annotations

import builtins
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from diagnose.typed import Any, Self

_PROCESSES = frozenset(("subprocess.Popen", "os.posix_spawn", "os.spawn", "os.exec", "os.system"))
_READS = frozenset(("open", "os.listdir", "os.scandir"))
_PATH = getattr(os, "O_PATH", 0)

Rule = Callable[[int, os.stat_result], str]
"""Says why an open descriptor must not be read, "" where it may be."""


def path_of(fd: int) -> str:
    """Give the path that leads to an open file now, without links; "" where this machine does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""


def owned_by(owner: int) -> Rule:
    """Allow the files and folders of one user id."""

    def judge(_fd: int, status: os.stat_result) -> str:
        return "" if status.st_uid == owner else "it is not a file of the job's user"

    return judge


class Confinement:
    """Refuses to read what the rule refuses, whatever name or link leads there, while it is on.

    A name may lead elsewhere a moment after it was looked at. So a file is first opened without being read (`O_PATH`),
    the descriptor is judged, and that very file is then opened through it. Python's audit hook refuses every other way
    of opening, and every program that would be started. The program's own files may be opened by their names.
    """

    def __init__(self, rule: Rule, places: Sequence[str], also: Sequence[str] = ()) -> None:
        """Install the hook, off.

        Arguments: `rule` judges each descriptor; `places` are the files and folders that it is for, by all their names;
        `also` are further ones that the program itself needs, and where nobody else may be able to write.
        """
        self._rule = rule
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        names = [*filter(os.path.isabs, sys.path), os.path.join(package, "diagnose"), *also]
        self._also = tuple({os.path.abspath(name) for name in names} - {"/"})
        self._places = tuple(map(os.path.abspath, places))
        self._on = False
        self._judging: set[int] = set()  # threads that are opening a file to be judged
        self._open, self._os_open = builtins.open, os.open
        self._scandir, self._listdir = os.scandir, os.listdir
        sys.addaudithook(self._hook)

    @contextmanager
    def on(self) -> Iterator[None]:
        """Confine what happens in the block, in all threads, and in processes that are forked there."""
        before = builtins.open, os.open, os.scandir, os.listdir
        builtins.open = self._judged_open
        os.open, os.scandir, os.listdir = self._judged_os_open, self._judged_scandir, self._judged_listdir
        self._on = True
        try:
            yield
        finally:
            self._on = False
            builtins.open, os.open, os.scandir, os.listdir = before

    def _hook(self, name: str, arguments: tuple[object, ...]) -> None:
        if not self._on:
            return
        if name in _PROCESSES:
            raise PermissionError(1, "no program is started while logs are read")
        if name in _READS and arguments and not self._free(arguments[0]) and threading.get_ident() not in self._judging:
            raise PermissionError(13, "this way of opening is not open to confinement", str(arguments[0]))

    def _free(self, path: object) -> bool:
        """Tell whether this needs no judgement: a descriptor, or a file of the program's own by its own name."""
        if isinstance(path, int):
            return True
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        # The name, not what it leads to: where others may write, that can change at any time.
        name = os.path.abspath(os.fsdecode(path))
        # A server may have been started in the folder of the logs, which is then on Python's path.
        return not _below(name, self._places) and _below(name, self._also)

    def _judged(self, path: Any, flags: int = os.O_RDONLY) -> int:
        """Open a file or folder for reading; raises PermissionError where it must not be read."""
        if not _PATH:
            raise PermissionError(13, "confinement needs Linux", path)
        thread = threading.get_ident()
        self._judging.add(thread)
        try:
            # Touches neither devices nor pipes.
            fd = self._os_open(path, _PATH | os.O_CLOEXEC | flags & os.O_NOFOLLOW)
            try:
                status = os.fstat(fd)
                if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                    raise PermissionError(13, "it is no file and no folder", path)
                reason = self._rule(fd, status)
                if reason:
                    raise PermissionError(13, reason, path)
                return self._os_open(f"/proc/self/fd/{fd}", flags & ~os.O_NOFOLLOW | os.O_CLOEXEC)
            finally:
                os.close(fd)
        finally:
            self._judging.discard(thread)

    def _judged_open(self, file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
        if self._free(file):
            return self._open(file, mode, *more, **named)
        if set(mode) - set("rbt") or "opener" in named:
            raise PermissionError(13, "nothing is written while logs are read", file)
        fd = self._judged(file)
        try:
            return self._open(fd, mode, *more, **named)
        except BaseException:
            os.close(fd)
            raise

    def _judged_os_open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if self._free(path) and dir_fd is None:
            return self._os_open(path, flags, mode)
        if dir_fd is not None or flags & (os.O_ACCMODE | os.O_CREAT | os.O_TRUNC):
            raise PermissionError(13, "nothing is written while logs are read", path)
        return self._judged(path, flags)

    def _judged_listdir(self, path: Any = ".") -> list[Any]:
        if self._free(path):
            return self._listdir(path)
        fd = self._judged(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            names = self._listdir(fd)
        finally:
            os.close(fd)
        return [os.fsencode(name) for name in names] if isinstance(path, bytes) else names

    def _judged_scandir(self, path: Any = ".") -> Any:
        if self._free(path):
            return self._scandir(path)
        return _Entries(self._scandir, self._judged(path, os.O_RDONLY | os.O_DIRECTORY))


def _below(name: str, folders: Sequence[str]) -> bool:
    return any(name == each or name.startswith(each + "/") for each in folders)


class _Entries:
    """The entries of an open folder. Their names are right; their paths are names, too."""

    def __init__(self, scandir: Callable[[int], Any], fd: int) -> None:
        self._fd = fd
        try:
            self._entries = scandir(fd)
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> os.DirEntry[str]:
        entry: os.DirEntry[str] = next(self._entries)
        return entry

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._entries.close()
        self.close()

    def close(self) -> None:
        """Let the folder go; an entry looks its file up through it until then."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()
