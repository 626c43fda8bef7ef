"""Orders what happened, separates root from fallout, asks the checks, and gives the verdict."""

from __future__ import annotations

from diagnose.reason.diagnosis import reason
from diagnose.reason.result import Diagnosis

__all__ = ["Diagnosis", "reason"]
