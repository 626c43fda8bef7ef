"""The JSON report on one line, for logs and collectors."""

from __future__ import annotations

import json

from diagnose.report.json import as_dict
from diagnose.report.model import Context
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.result import Diagnosis


def render(diagnosis: Diagnosis, context: Context) -> str:
    """Render the diagnosis as one line of JSON."""
    return json.dumps(as_dict(diagnosis, context), separators=(",", ":"), allow_nan=False) + "\n"
