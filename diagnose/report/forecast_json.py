"""The forecast as JSON, schema version 1; published as `schemas/forecast-v1.schema.json`. Keys are only ever added."""

from __future__ import annotations

import json
from dataclasses import asdict

from diagnose.report.clean import scrub
from diagnose.report.json import plain, tool
from diagnose.report.model import Context
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnose.reason.forecast import Forecast

SCHEMA_VERSION = "1"


def render(forecast: Forecast, context: Context) -> str:
    """Render the forecast as indented JSON, in ASCII."""
    return json.dumps(as_dict(forecast, context), indent=2, allow_nan=False) + "\n"


def as_dict(forecast: Forecast, context: Context) -> dict[str, Any]:
    """Give the forecast as plain data, in the order of the schema; no key is ever missing."""
    data = asdict(scrub(forecast))
    return {"schema_version": SCHEMA_VERSION, "tool": tool(context), **{key: plain(data[key]) for key in data}}
