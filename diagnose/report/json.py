"""The JSON report, schema version 1; published as `schemas/diagnosis-v1.schema.json`. Keys are only ever added."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

from diagnose.report.clean import scrub
from diagnose.report.model import Context
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnose.reason.result import ConfigValue, Diagnosis, Run

SCHEMA_VERSION = "1"


def render(diagnosis: Diagnosis, context: Context) -> str:
    """Render the diagnosis as indented JSON, in ASCII: it survives every terminal, pipe and locale."""
    return json.dumps(as_dict(diagnosis, context), indent=2, allow_nan=False) + "\n"


def as_dict(diagnosis: Diagnosis, context: Context) -> dict[str, Any]:
    """Give the diagnosis as plain data, in the order of the schema; no key is ever missing."""
    clean = scrub(diagnosis)
    data = asdict(clean)
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": tool(context),
        **{key: plain(data[key]) for key in ("verdict", "summary", "root_cause", "alternatives", "fallout")},
        **{key: plain(data[key]) for key in ("risks", "plan", "action")},
        "run": _run(clean.run),
        **{key: plain(data[key]) for key in ("inputs", "missing", "attempts", "notes", "provisional")},
    }


def tool(context: Context) -> dict[str, Any]:
    """Say which program, and which patterns, made an answer."""
    patterns = {"count": context.pattern_count, "digest": context.pattern_digest}
    return {"name": "diagnose", "version": context.version, "patterns": patterns}


def _run(run: Run) -> dict[str, Any]:
    return {
        "framework": run.framework,
        "versions": dict(run.versions),
        "config": _values(run.config),
        "environment": _values(run.environment),
        "parallelism": dict(run.parallelism),
        "world_size": run.world_size,
        "progress": {
            "last_iteration": run.last_iteration,
            "last_checkpoint": run.last_checkpoint,
            "first_time": run.first_time,
            "last_time": run.last_time,
            "silent_seconds": _number(run.silent_seconds),
            "phase": run.phase,
        },
        "throughput": {key: _number(value) for key, value in run.throughput.items()},
        "memory": {key: _number(value) for key, value in run.memory.items()},
    }


def _values(values: dict[str, ConfigValue]) -> dict[str, Any]:
    return {key: {"value": plain(item.value), "source": item.source} for key, item in values.items()}


def _number(value: float | None) -> float | None:
    # A measured NaN or infinity has no number in JSON.
    return value if value is None or math.isfinite(value) else None


def plain(value: Any) -> Any:
    """Turn a value into what JSON knows; a configured NaN or infinity becomes its name."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)
