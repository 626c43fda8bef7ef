"""The comparison as JSON, schema version 1, published as `schemas/comparison-v1.schema.json`.

Keys are only ever added.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from diagnose.report.clean import scrub
from diagnose.report.json import plain, tool
from diagnose.report.model import Context
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnose.reason.compare.model import Comparison

SCHEMA_VERSION = "1"


def render(comparison: Comparison, context: Context) -> str:
    """Render the comparison as indented JSON, in ASCII."""
    return json.dumps(as_dict(comparison, context), indent=2, allow_nan=False) + "\n"


def as_dict(comparison: Comparison, context: Context) -> dict[str, Any]:
    """Give the comparison as plain data, in the order of the schema; no key is ever missing."""
    data = asdict(scrub(comparison))
    return {"schema_version": SCHEMA_VERSION, "tool": tool(context), **{key: plain(data[key]) for key in data}}
