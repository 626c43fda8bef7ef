"""Reads a job's state, size and limits off what `scontrol show job` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView, following, preceding
from diagnose.facts.values import parse_value
from diagnose.lazy import Lazy
from diagnose.read.model import Line

ORIGIN = "slurm"
_RECORD = 45  # lines of one record
_PAIR = Lazy(r"(?:^|\s)(JobState|ExitCode|TimeLimit|NumNodes|NumTasks|MinMemoryNode|MinMemoryCPU|Restarts)=(\S+)")
_KEYS = {
    "JobState": "run.scheduler_state",
    "ExitCode": "run.scheduler_exit_code",
    "Restarts": "run.scheduler_restarts",
    "TimeLimit": "config.slurm.time",
    "NumNodes": "config.slurm.nodes",
    "NumTasks": "config.slurm.ntasks",
    "MinMemoryNode": "config.slurm.mem",
    "MinMemoryCPU": "config.slurm.mem_per_cpu",
}
_TEXTS = ("ExitCode", "TimeLimit", "JobState")  # 3:0 and 00:10:00 are no numbers


def _job(text: TextView, line: Line) -> Iterator[Observation]:
    if not any("JobId=" in each.body for each in preceding(text, line, 4)):
        return
    yield from _pairs(text, line)
    for each in following(text, line, _RECORD):
        if not each.body.strip() or "JobId=" in each.body:
            return
        yield from _pairs(text, each)


def _pairs(text: TextView, line: Line) -> Iterator[Observation]:
    match: re.Match[str]
    for match in _PAIR.finditer(line.body):
        value = match[2] if match[1] in _TEXTS else parse_value(match[2])
        yield Observation(_KEYS[match[1]], value, text.evidence(line), ORIGIN)


JOB = Reader("slurm-job", (b"JobState=",), _job, keep=2)
