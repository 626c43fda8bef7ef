"""What Slurm says of a job: `scontrol show job` and `sacct`, read into one shape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from diagnose.classes import dataclass, field

FAILED_STATES = frozenset(
    (
        "BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
        "RECONFIG_FAIL", "REVOKED", "TIMEOUT",
    )
)  # fmt: skip
ENDED_STATES = FAILED_STATES | {"COMPLETED"}
NO_TASK = "4294967294"  # jobcomp's array index of a job that is no array (NO_VAL)
SACCT_FIELDS = (
    "JobID", "JobIDRaw", "JobName", "User", "UID", "State", "ExitCode", "NodeList", "NNodes", "NTasks", "Timelimit",
    "ReqMem", "Partition", "Cluster", "Start", "End", "WorkDir", "Restarts",
)  # fmt: skip

# Values hold spaces and equal signs; a key is one of Slurm's own words at the start or behind white space.
_PAIR = re.compile(r"(?:^|\s)([A-Z][A-Za-z/:]*)=")
_LINE_LONG = frozenset(("Command", "WorkDir", "StdErr", "StdIn", "StdOut", "Comment", "AdminComment", "SystemComment"))
_NONE = frozenset(("", "(null)", "N/A", "None", "Unknown", "None assigned"))


@dataclass(frozen=True, slots=True)
class Job:
    """One job, or one task of an array."""

    id: str  # the raw number
    name: str = ""
    user: str = ""
    uid: int | None = None
    array_id: str = ""  # the array's job id; "" where it is no array
    array_task: str = ""
    state: str = ""  # in Slurm's words
    reason: str = ""
    exit_code: str = ""  # "3:0": exit code and signal
    nodes: str = ""  # as Slurm writes it: node[1-4]
    node_count: int | None = None
    tasks: int | None = None
    time_limit: str = ""
    memory: str = ""
    partition: str = ""
    cluster: str = ""
    restarts: int = 0
    start: str = ""
    end: str = ""
    work_dir: str = ""
    stdout: str = ""  # the path as Slurm knows it, symbols perhaps not replaced; "" where it was not asked for
    stderr: str = ""
    text: str = field(default="", repr=False)  # Slurm's own words

    @property
    def label(self) -> str:
        """The id as users write it: 123, or 123_4 for a task of an array."""
        return f"{self.array_id}_{self.array_task}" if self.array_id and self.array_task else self.id

    @property
    def failed(self) -> bool:
        """Did it end, and not well?"""
        return self.state in FAILED_STATES

    @property
    def ended(self) -> bool:
        """Is it over?"""
        return self.state in ENDED_STATES


def parse_scontrol(text: str) -> list[Job]:
    """Read the output of `scontrol show job`: one record a job, separated by empty lines."""
    return [_from_scontrol(block) for block in re.split(r"\n\s*\n", text) if block.lstrip().startswith("JobId=")]


def pairs_of(block: str) -> dict[str, str]:
    """Read the `Key=value` pairs of one record; a path or a job's name may hold spaces."""
    found: dict[str, str] = {}
    for line in block.splitlines():
        for key, value in _pairs(line):
            found.setdefault(key, value)
    return found


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    marks = list(_PAIR.finditer(line))
    for number, mark in enumerate(marks):
        if mark[1] in _LINE_LONG:
            yield mark[1], line[mark.end() :].strip()
            return
        following = marks[number + 1].start() if number + 1 < len(marks) else len(line)
        # Nothing follows a job's name on its line, and a name may look like further pairs.
        yield mark[1], line[mark.end() :].strip() if mark[1] == "JobName" else line[mark.end() : following].strip()
        if mark[1] == "JobName":
            return


def _from_scontrol(block: str) -> Job:
    pairs = {key: "" if value in _NONE else value for key, value in pairs_of(block).items()}
    user, _, uid = pairs.get("UserId", "").partition("(")
    return Job(
        id=pairs.get("JobId", ""),
        name=pairs.get("JobName", ""),
        user=user,
        uid=whole(uid.rstrip(")")),
        array_id=pairs.get("ArrayJobId", ""),
        array_task=pairs.get("ArrayTaskId", ""),
        state=_state(pairs.get("JobState", "")),
        reason=pairs.get("Reason", ""),
        exit_code=pairs.get("ExitCode", ""),
        nodes=pairs.get("NodeList", ""),
        node_count=whole(pairs.get("NumNodes", "").partition("-")[0]),
        tasks=whole(pairs.get("NumTasks", "")),
        time_limit=pairs.get("TimeLimit", ""),
        memory=pairs.get("MinMemoryNode", "") or pairs.get("MinMemoryCPU", ""),
        partition=pairs.get("Partition", ""),
        restarts=whole(pairs.get("Restarts", "")) or 0,
        start=pairs.get("StartTime", ""),
        end=pairs.get("EndTime", ""),
        work_dir=pairs.get("WorkDir", ""),
        stdout=pairs.get("StdOut", ""),
        stderr=pairs.get("StdErr", ""),
        text=block.rstrip() + "\n",
    )


def parse_sacct(text: str) -> list[Job]:
    """Read the output of `sacct --allocations --noheader --parsable2 --format=` with `SACCT_FIELDS` (or its head)."""
    found = []
    for line in text.splitlines():
        values = line.split("|")
        if len(values) >= len(SACCT_FIELDS) - 1:
            found.append(_from_sacct(dict(zip(SACCT_FIELDS, values, strict=False))))
    return found


def _from_sacct(row: Mapping[str, str]) -> Job:
    pairs = {key: "" if value in _NONE else value for key, value in row.items()}
    array, _, task = pairs["JobID"].partition("_")
    job = Job(
        id=pairs["JobIDRaw"] or array,
        name=pairs["JobName"],
        user=pairs["User"],
        uid=whole(pairs["UID"]),
        array_id=array if task else "",
        array_task=task,
        state=_state(pairs["State"]),
        exit_code=pairs["ExitCode"],
        nodes=pairs["NodeList"],
        node_count=whole(pairs["NNodes"]),
        tasks=whole(pairs["NTasks"]),
        time_limit=pairs["Timelimit"],
        memory=pairs["ReqMem"],
        partition=pairs["Partition"],
        cluster=pairs["Cluster"],
        restarts=whole(pairs.get("Restarts", "")) or 0,
        start=pairs["Start"],
        end=pairs["End"],
        work_dir=pairs["WorkDir"],
    )
    return with_text(job)


def with_text(job: Job) -> Job:
    """Give a job that came as separate values the form in which `scontrol` shows it, which is what patterns know."""
    from dataclasses import replace

    array = f" ArrayJobId={job.array_id} ArrayTaskId={job.array_task}" if job.array_task else ""
    counts = [("NumNodes", job.node_count), ("NumTasks", job.tasks)]
    lines = [
        f"JobId={job.id}{array} JobName={_flat(job.name)}",
        f"   JobState={job.state} Reason={job.reason or 'None'}" if job.state else "",
        f"   Restarts={job.restarts} ExitCode={job.exit_code}" if job.exit_code else "",
        f"   TimeLimit={job.time_limit}" if job.time_limit else "",
        f"   StartTime={job.start} EndTime={job.end}" if job.end else "",
        f"   Partition={job.partition}" if job.partition else "",
        f"   NodeList={job.nodes}" if job.nodes else "",
        "   " + " ".join(f"{key}={count}" for key, count in counts if count is not None),
        f"   MinMemoryNode={job.memory}" if job.memory else "",
        f"   WorkDir={_flat(job.work_dir)}" if job.work_dir else "",
    ]
    return replace(job, text="\n".join(line for line in lines if line.strip()) + "\n")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _state(text: str) -> str:
    """`CANCELLED by 1000` and `NODE_FAIL+` are states with something behind them."""
    return text.split()[0].rstrip("+") if text.split() else ""


def whole(text: str) -> int | None:
    """Read a whole number that Slurm wrote; None where it wrote something else."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
