"""Finds the logs behind the paths that a user gives, and reads what their names tell."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence

from diagnose.classes import dataclass
from diagnose.read.codecs import decoder_for
from diagnose.read.hosts import is_host
from diagnose.read.lazy import Lazy
from diagnose.read.model import Kind, Problem, Source
from diagnose.read.structured import is_structured

MAX_FILES = 20_000  # logs taken from one directory
_MAX_ENTRIES = 500_000  # directory entries looked at
_HEAD = 4096  # bytes of a file that are looked at to tell what it is

_LOG_ENDING = Lazy(r"\.(?:log|out|err|txt|stdout|stderr|console|output|[oe]\d+)(?:[.-]\d+)*$", re.IGNORECASE)
_PACKED = Lazy(r"\.(?:gz|xz|bz2|zst)$", re.IGNORECASE)
_NO_LOG_WORDS = """
7z a arrow bash bin c cc cfg ckpt conf cpp css csv cu cuh db diff distcp egg env gguf gif go h h5 hdf5 hpp
html idx ini ipynb jar java jpeg jpg js json jsonl lock md metadata model mp4 ndjson npy npz nsys-rep o onnx
parquet patch pdf pickle pid pkl png pt pth py pyc pyi pyo rs rst safetensors sbatch sh slurm so sqlite
sqlite3 svg tar tbz tfevents tgz toml ts tsv ttf txz wav whl woff woff2 xml yaml yml zip
"""
_NO_LOG = frozenset(_NO_LOG_WORDS.split())
_ENTRIES = frozenset(("json", "jsonl", "ndjson"))  # logs where they hold one log entry a line
_SKIPPED_FOLDERS = frozenset(("__pycache__", "node_modules", "site-packages"))

_KERNEL_NAME = Lazy(r"(?:^|[._-])(?:dmesg|kern|kernel|journal|journalctl|syslog|messages)(?:$|[._-])", re.IGNORECASE)
_SLURM_NAME = Lazy(r"(?:^|[._-])(?:slurmctld|slurmd|slurmdbd|scontrol|sacct)(?:$|[._-])", re.IGNORECASE)
_DUMP_NAME = Lazy(
    r"(?:nccl|comm_?lib|flight|fr|pg)[-_]?(?:trace|recorder|dump)(?:s|[-_]?rank)?[-_]?\d{1,7}(?:\.(?:pkl|pickle|json))?$",
    re.IGNORECASE,
)
_KERNEL_LINE = re.compile(
    rb"(?:<\d+>)?\[ *\d+\.\d{3,}\]|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\]|.{0,120} kernel: "
)
_SLURM_LINE = re.compile(
    rb"\[\d{4}-\d\d-\d\dT[\d:.]+\] (?:\[\d+\.|_?slurm|sched|_job_complete|error: |debug|Launching batch|launch task)"
    rb"|JobId=\d+ (?:Array\w+=\S+ )*JobName="
)

_ATTEMPT = Lazy(r"(?:^|/)attempt_(\d+)/(\d+)/(?:(stdout|stderr)\.log|error\.json)", needs=("attempt_",))
_RANK = Lazy(r"(?<![a-z])(?:global[-_]?)?rank[-_.=]?(\d{1,6})(?!\d)", re.IGNORECASE, needs=("rank",))
_LOCAL_RANK = Lazy(r"local[-_]?rank[-_.=]?(\d{1,4})(?!\d)", re.IGNORECASE, needs=("rank",))
_NOT_GLOBAL = Lazy(r"(?:local|node|group|all)[-_]?$", re.IGNORECASE)
_RESTART = Lazy(
    r"^log-.+_\d+_(\d{1,4})\.(?:out|err)|(?:^|[._-])(?:train_cycle|restart_?|attempt_?)(\d{1,4})(?!\d)",
    needs=("log-", "train_cycle", "restart", "attempt"),
)
_STREAM = Lazy(r"(?:^|[._-])(std(?:out|err))(?:$|[._-])", re.IGNORECASE, needs=("std",))
_RANK_FOLDER = Lazy(r"(?:global[-_]?)?rank[-_]?(\d{1,6})", re.IGNORECASE, needs=("rank",))
_NODE_FOLDER = Lazy(
    r"(?:node|worker|master|launcher|host|gpu|nid|compute|dgx|hgx|server)s?-?\d[\w.-]*|ip-\d+-\d+-\d+-\d+"
)
_JOB = Lazy(r"slurm|job|log|run|train|exp")
_LOG_WORD = Lazy(r"^(?:log|out|err|stdout|stderr|output|console)[_-]")
_SYSTEM_WORD = r"(?:dmesg|kern(?:el)?|journal(?:ctl)?|syslog|messages)"
_SYSTEM_WORDS = Lazy(rf"^{_SYSTEM_WORD}[._-]|[._-]{_SYSTEM_WORD}(?=\.|$)|\.(?:log|txt|out|json)$")
_NODE_NAME = Lazy(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)


@dataclass(slots=True)
class _Search:
    """What was found so far."""

    sources: list[Source]
    problems: list[Problem]
    seen: set[tuple[int, int]]


def find_sources(paths: Sequence[str]) -> tuple[list[Source], list[Problem]]:
    """Find the logs behind files, directories, globs and "-" (standard input), in a stable order, each once.

    What cannot be read, or is not there, becomes a Problem; nothing is raised.
    """
    search = _Search([], [], set())
    for path in paths:
        if path == "-":
            if not any(source.path == "-" for source in search.sources):
                search.sources.append(Source("-"))
        elif "\0" in path or not path:
            search.problems.append(Problem(path, "this is no path", fatal=True))
        else:
            _take(path, search)
    return search.sources, search.problems


def _take(path: str, search: _Search) -> None:
    try:
        status = os.stat(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and any(mark in path for mark in "*?["):
            import glob

            found = sorted(glob.glob(path, recursive=True))
            if found:
                for name in found:
                    _take(name, search)
                return
            search.problems.append(Problem(path, "no file matches this pattern", fatal=True))
            return
        missing = isinstance(error, FileNotFoundError)
        what = "there is no such file or directory" if missing else f"it cannot be read: {error.strerror}"
        search.problems.append(Problem(path, what, fatal=True))
        return
    if stat.S_ISDIR(status.st_mode):
        _take_directory(path, search)
    elif stat.S_ISREG(status.st_mode):
        _take_file(path, status, search)
    elif stat.S_ISFIFO(status.st_mode):
        search.sources.append(describe(path))
    else:
        search.problems.append(Problem(path, "this is a device or socket, not a file", fatal=True))


def _take_file(path: str, status: os.stat_result, search: _Search) -> None:
    key = (status.st_dev, status.st_ino)
    if key in search.seen:
        return
    head = _head(path)
    if head is None:
        search.problems.append(Problem(path, "it cannot be read: permission denied or disk error", fatal=True))
        return
    search.seen.add(key)
    if not head:
        search.problems.append(Problem(path, "the file is empty"))
    elif decoder_for(head) is None and is_binary(head) and not is_dump(os.path.basename(path), head):
        search.problems.append(Problem(path, "this looks like a binary file, not a log; it is read all the same"))
    search.sources.append(describe(path, head))


def _take_directory(path: str, search: _Search) -> None:
    before = len(search.sources)
    looked, logs = 0, 0
    for name, entry_path in _walk(path, search):
        looked += 1
        if len(search.sources) - before >= MAX_FILES or looked > _MAX_ENTRIES:
            what = f"the directory holds too many files; only the first {len(search.sources) - before} logs are read"
            search.problems.append(Problem(path, what))
            return
        ending = _ending(name)
        if name != "error.json" and ending in _NO_LOG and ending not in _ENTRIES and not _DUMP_NAME.search(name):
            continue
        try:
            status = os.stat(entry_path)
        except OSError:
            continue
        key = (status.st_dev, status.st_ino)
        if key in search.seen:
            logs += 1
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        head = _head(entry_path)
        if head is None:
            search.problems.append(
                Problem(entry_path, "it cannot be read: permission denied or disk error", fatal=True)
            )
            continue
        if decoder_for(head) is None and is_binary(head) and not is_dump(name, head):
            continue
        if ending in _ENTRIES and name != "error.json" and not is_dump(name, head) and not is_structured(head):
            continue
        logs += 1
        search.seen.add(key)
        search.sources.append(describe(entry_path, head))
    if not logs:
        search.problems.append(Problem(path, "the directory holds no logs", fatal=True))


def _walk(path: str, search: _Search) -> Iterator[tuple[str, str]]:
    def failed(error: OSError) -> None:
        search.problems.append(Problem(str(error.filename), f"it cannot be read: {error.strerror}", fatal=True))

    for folder, folders, names in os.walk(path, onerror=failed):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            if name[0] != ".":
                yield name, os.path.join(folder, name)


def _ending(name: str) -> str:
    """The ending that tells the kind of file, lower case; "" for logs, which have many."""
    name = _PACKED.sub("", name)
    if _LOG_ENDING.search(name):
        return ""
    return name.rpartition(".")[2].lower() if "." in name else ""


def _head(path: str) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(_HEAD)
    except OSError:
        return None


def is_binary(head: bytes) -> bool:
    """Do these first bytes of a file belong to no text? UTF-16 text is not taken for binary."""
    if not head or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    odd = sum(map(head.count, (bytes((code,)) for code in (*range(7), *range(14, 27), *range(28, 32)))))
    return odd * 10 > len(head)


def is_dump(name: str, head: bytes) -> bool:
    """Is this a flight-recorder dump: by its name a pickle or JSON, or by its first bytes?"""
    entries = b"pg_config" in head or b"entries" in head
    if head[:1] == b"\x80":
        return entries or _DUMP_NAME.search(name) is not None
    return head[:1] == b"{" and entries and b'"pg_config"' in head


def describe(path: str, head: bytes = b"") -> Source:
    """Read rank, node, attempt, stream and kind off a path, and the kind off the file's first bytes."""
    parts = path.replace(os.sep, "/").split("/")
    name = parts[-1]
    rank, local_rank, node, attempt, stream = None, None, None, None, None
    if match := _ATTEMPT.search("/".join(parts)):
        attempt, local_rank, stream = int(match[1]), int(match[2]), match[3]
    else:
        if match := _RESTART.search(name):
            attempt = int(match[1] or match[2])
        if match := _STREAM.search(name):
            stream = match[1].lower()
        elif re.search(r"\.(?:err|e\d+)$", _PACKED.sub("", name)):
            stream = "stderr"
        rank = _rank(name)
        if match := _LOCAL_RANK.search(name):
            local_rank = int(match[1])
        for folder in reversed(parts[-3:-1]):
            if rank is None and (match := _RANK_FOLDER.fullmatch(folder)):
                rank = int(match[1])
    node = _node(name) or next((part for part in reversed(parts[-7:-1]) if _NODE_FOLDER.fullmatch(part)), None)
    return Source(path, _kind(name, head), rank, local_rank, node, attempt, stream)


def _rank(part: str) -> int | None:
    for match in _RANK.finditer(part):
        if not _NOT_GLOBAL.search(part[: match.start()]):
            return int(match[1])
    return None


def _node(name: str) -> str | None:
    """A host name in a file's name: `node-1.log`, `log_gpu-03-04.out`, `slurmd.node-1.log`, `node-1_3.out`."""
    stem = _PACKED.sub("", name)
    if _KERNEL_NAME.search(stem):
        rest = _SYSTEM_WORDS.sub("", stem)
        return rest if _NODE_NAME.fullmatch(rest) and _SYSTEM_WORDS.search(stem) and len(rest) > 1 else None
    bare = _LOG_WORD.sub("", stem)
    if bare != stem and is_host(piece := bare.rpartition(".")[0]):
        return piece
    for piece in (*bare.split(".")[:-1], *bare.partition(".")[0].split("_")):
        if is_host(piece) and ("-" in piece or _NODE_FOLDER.fullmatch(piece)) and not _JOB.match(piece):
            return piece
    return None


def _kind(name: str, head: bytes) -> Kind:
    if name == "error.json" or (head.startswith(b'{"message": {') and b'"extraInfo": {' in head):
        return Kind.ERROR_FILE
    if is_dump(name, head):
        return Kind.FLIGHT_RECORDER
    if _SLURM_NAME.search(name):
        return Kind.SLURM
    if _KERNEL_NAME.search(name):
        return Kind.KERNEL
    lines = [line for line in head.split(b"\n")[:20] if line.strip()]
    if not lines:
        return Kind.LOG
    if sum(_SLURM_LINE.match(line) is not None for line in lines) * 2 > len(lines) or (
        _SLURM_LINE.match(lines[0]) and b"JobName=" in lines[0]
    ):
        return Kind.SLURM
    if sum(_KERNEL_LINE.match(line) is not None for line in lines) * 5 > len(lines) * 4:
        return Kind.KERNEL
    return Kind.LOG
