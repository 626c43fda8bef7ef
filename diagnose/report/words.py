"""The words that reports share: places, ranks, sizes, and the parts of a diagnosis in the order they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnose.report.layout import spans
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.read.model import Evidence
    from diagnose.reason.result import Action, Diagnosis, Finding, Fix, Run

_VERDICTS = {
    "identified": "failure",
    "ambiguous": "failure",
    "symptom_only": "failure",
    "unknown": "failure",
    "degraded": "degraded",
    "no_failure": "fine",
}
_RESTART = {
    "as_is": "as it is.",
    "after_fix": "after the fix.",
    "no": "no: it would fail again.",
    "unknown": "not known whether it would help.",
}
_PROGRAMS = {
    "core": "Megatron Core",
    "bridge": "Megatron Bridge",
    "lm": "Megatron-LM",
    "te": "Transformer Engine",
    "torch": "PyTorch",
    "nccl": "NCCL",
    "cuda": "CUDA",
    "deepspeed": "DeepSpeed",
}


def tone(diagnosis: Diagnosis) -> str:
    """Say how bad it is: `failure`, `degraded` or `fine`."""
    return _VERDICTS[diagnosis.verdict]


def place(evidence: Evidence) -> str:
    """Name the line so that an editor can open it: `train.log:88412`."""
    return f"{evidence.path}:{evidence.line}" if evidence.line > 0 else evidence.path


def speaker(evidence: Evidence) -> str:
    """Say who wrote the line, and when, as far as it is known: `rank 3, node-2, 02:14:07`."""
    rank = None if evidence.rank is None else f"rank {evidence.rank}"
    return ", ".join(part for part in (rank, evidence.node, evidence.time) if part)


def ranks(numbers: Iterable[int], limit: int = 40) -> str:
    """Name ranks as ranges, or count them where the list would be longer than `limit` characters."""
    known = sorted(set(numbers))
    if not known:
        return ""
    listed = f"rank {known[0]}" if len(known) == 1 else f"ranks {spans(known)}"
    return listed if len(listed) <= limit else f"{len(known)} ranks"


def size(count: float) -> str:
    """Write a number of bytes for people: `1.2 GB`."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def plural(count: int, noun: str) -> str:
    """Write a counted noun: `1 line`, `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def roots(diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """List the root cause, if there is one, and its alternatives."""
    root = () if diagnosis.root_cause is None else (diagnosis.root_cause,)
    return root + diagnosis.alternatives


def fixes(diagnosis: Diagnosis) -> list[Fix]:
    """List the plan, then what is already set: the fixes a person may act on or must not repeat."""
    plan = [fix for fix in diagnosis.plan if fix.state != "not_applicable"]
    known = {fix.id for fix in plan}
    every = [fix for finding in roots(diagnosis) for fix in finding.fixes if fix.id not in known]
    if not plan:
        plan = [fix for fix in every if fix.state in ("recommended", "unknown")]
    applied = {fix.id: fix for fix in every if fix.state == "already_applied"}
    return plan + list(applied.values())


def ruled_out_fixes(diagnosis: Diagnosis) -> list[Fix]:
    """List the fixes that do not apply to this run."""
    every = [*diagnosis.plan, *(fix for finding in roots(diagnosis) for fix in finding.fixes)]
    return list({fix.id: fix for fix in every if fix.state == "not_applicable"}.values())


def forbidden_fixes(diagnosis: Diagnosis) -> list[Fix]:
    """List the fixes that would help and that another setting of the run forbids."""
    return [fix for fix in ruled_out_fixes(diagnosis) if fix.forbidden]


def restart(action: Action, fixes: Sequence[Fix]) -> str:
    """Say whether to start the job again, after which of `fixes`, and without which nodes."""
    parts = [_RESTART[action.restart]]
    if action.restart == "after_fix" and len(fixes) > 1 and fixes[0].state == "recommended":
        parts = ["after fix 1."]
    if action.exclude_nodes:
        parts.append(f"Exclude {', '.join(action.exclude_nodes)}.")
    if action.why:
        parts.append(action.why)
    return " ".join(parts)


def run_line(run: Run) -> str:
    """Describe the run in one line: programs, size, how far it came."""
    programs = [f"{_PROGRAMS[name]} {run.versions[name]}" for name in _PROGRAMS if name in run.versions][:3]
    if not programs and run.framework != "unknown":
        programs = [run.framework]
    layout = " ".join(f"{name.upper()} {number}" for name, number in run.parallelism.items() if number != 1)
    progress = [
        None if run.last_iteration is None else f"last iteration {run.last_iteration}",
        None if run.last_checkpoint is None else f"last checkpoint {run.last_checkpoint}",
        None if run.phase is None else f"phase {run.phase}",
    ]
    world = "" if run.world_size is None else plural(run.world_size, "rank")
    parts = [", ".join(programs), world, layout, ", ".join(part for part in progress if part)]
    return " · ".join(part for part in parts if part)
