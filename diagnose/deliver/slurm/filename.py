"""Slurm's filename patterns: `logs/%x-%j_%t.out` and the files that it stands for."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from itertools import islice

from diagnose.deliver.slurm.job import Job

_SYMBOL = re.compile(r"%(\d*)([A-Za-z%])")
_MANY = frozenset("tNnsJ")  # one file a task, node or step; the job alone does not tell which
_LOG = re.compile(r"\.(?:out|err|log|txt)(?:\.gz|\.zst|\.xz)?$")
_TELLING = 4  # digits
_ENTRIES = 50_000  # of a folder that are looked at
_MOST = 2000  # files
_WIDEST = 10  # Slurm ignores a larger width
DEFAULT = "slurm-%j.out"
DEFAULT_ARRAY = "slurm-%A_%a.out"


def log_paths(job: Job) -> list[str]:
    """Name the files that hold a job's stdout and stderr, each once, absolute where the working directory is known.

    A path that stands for one file a task, node or step is given as a pattern with `*`.
    """
    standard = job.stdout or (DEFAULT_ARRAY if job.array_task else DEFAULT)
    found: list[str] = []
    for path in (standard, job.stderr or standard):
        expanded = expand(path, job)
        if expanded != os.devnull and expanded not in found:
            found.append(expanded)
    return found


def related_logs(job: Job, paths: Sequence[str]) -> list[str]:
    """Name further logs in the folders of `paths` whose names hold the job's number: those of `srun --output`.

    A number of fewer than four digits stands in too many names to mean a job.
    """
    numbers = [number for number in (job.label, job.id) if len(number) >= _TELLING]
    found: list[str] = []
    for folder in dict.fromkeys(os.path.dirname(path) for path in paths):
        if not numbers or not os.path.isabs(folder) or any(mark in folder for mark in "*?["):
            continue
        mark = re.compile("|".join(rf"(?<!\d){re.escape(number)}(?!\d)" for number in numbers))
        found += [path for path in _logs(folder) if mark.search(os.path.basename(path)) and path not in paths]
    return found[:_MOST]


def _logs(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, _ENTRIES)]
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if _LOG.search(name)]


def expand(pattern: str, job: Job) -> str:
    """Replace the symbols of a filename pattern (sbatch, "filename pattern") by the job's values.

    `%t %N %n %s %J` become `*`: such a path stands for several files. Text that a glob would act on is escaped, but
    only where the path becomes one. A path that holds a backslash is taken as it stands, as Slurm does.
    """
    if "\\" in pattern:
        return _below(pattern.replace("\\", ""), job)
    globbed = any(match[2] in _MANY for match in _SYMBOL.finditer(pattern))
    quote = glob.escape if globbed else str
    parts: list[str] = []
    here = 0
    for match in _SYMBOL.finditer(pattern):
        parts += [quote(pattern[here : match.start()]), _value(match, job, globbed)]
        here = match.end()
    parts.append(quote(pattern[here:]))
    return _below("".join(parts), job)


def _below(path: str, job: Job) -> str:
    return path if os.path.isabs(path) or not job.work_dir else os.path.join(job.work_dir, path)


def _value(match: re.Match[str], job: Job, globbed: bool) -> str:
    symbol = match[2]
    if symbol == "%":
        return "%"
    if symbol in _MANY:
        return "*"
    values = {
        "A": job.array_id or job.id,
        "a": job.array_task or NO_ARRAY,
        "b": str(int(job.array_task) % 10) if job.array_task.isdigit() else NO_ARRAY,
        "j": job.id,
        "r": str(job.restarts),
        "u": job.user,
        "x": job.name,
    }
    if symbol not in values:
        return glob.escape(match[0]) if globbed else match[0]
    value = values[symbol]
    if match[1] and symbol in "Aabjr" and value.isdigit():
        value = value.zfill(min(int(match[1]), _WIDEST))
    return glob.escape(value) if globbed else value


NO_ARRAY = "4294967294"  # what Slurm itself writes for %a in a job that is no array
