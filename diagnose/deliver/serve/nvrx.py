"""Answers in the form that NVIDIA's resiliency extension expects of its log attribution service.

`ft_launcher --ft-attribution-endpoint` and its Slurm monitor POST a log when a job starts and GET the verdict when it
has failed; the recommendation decides whether they restart. Shapes as in nvidia-resiliency-ext, 2026.
"""

from __future__ import annotations

from diagnose.deliver.serve.store import Job
from diagnose.typed import Any

_ACTIONS = {"as_is": "RESTART", "after_fix": "STOP", "no": "STOP", "unknown": "UNKNOWN"}
NAME = "diagnose"


def submitted(real: str) -> dict[str, Any]:
    """Answer POST /logs."""
    return {
        "submitted": True,
        "normalized_path": real,
        "mode": "single",
        "logs_dir": None,
        "sched_restarts": 0,
        "files_analyzed": 0,
    }


def verdict(job: Job, diagnosis: dict[str, Any] | None, text: str, restart: int) -> dict[str, Any]:
    """Answer GET /logs: the diagnosis, and what to do. `restart` is the workload's restart that was asked for."""
    if diagnosis is None:
        failed = job.state == "failed"
        word = "failed" if failed else "pending"
        return _answer(word, [], {"action": "UNKNOWN" if failed else "TIMEOUT", "reason": job.error}, job, restart)
    action = diagnosis["action"]
    word = "UNKNOWN" if diagnosis["verdict"] == "no_failure" else _ACTIONS[action["restart"]]
    root = diagnosis["root_cause"] or {}
    evidence = root.get("evidence") or []
    item = {
        "raw_text": text,
        "auto_resume": word,
        "auto_resume_explanation": action["why"],
        "attribution_text": diagnosis["summary"],
        "checkpoint_saved_flag": int(diagnosis["run"]["progress"]["last_checkpoint"] is not None),
        "action": word,
        "primary_issues": [entry["text"] for entry in evidence[:1]],
        "secondary_issues": [each["title"] for each in diagnosis["fallout"][:20]],
    }
    reason = action["why"] or diagnosis["summary"]
    answer = _answer("completed", [item], {"action": word, "reason": reason}, job, restart)
    answer["result"]["diagnosis"] = diagnosis
    return answer


def _answer(
    status: str, items: list[dict[str, Any]], recommendation: dict[str, str], job: Job, restart: int
) -> dict[str, Any]:
    return {
        "result": {"module": NAME, "id": job.id, "state": status, "result": items},
        "status": status,
        "wl_restart": restart,
        "wl_restart_count": None,
        "fr_dump_path": None,
        "fr_analysis": None,
        "llm_merged_summary": None,
        "recommendation": {**recommendation, "source": NAME},
    }
