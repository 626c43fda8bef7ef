"""Runs side by side: what was changed, what became of speed and memory, and what the catalogue knows of that."""

from __future__ import annotations

from diagnose.reason.compare.compare import compare
from diagnose.reason.compare.model import Comparison

__all__ = ["Comparison", "compare"]
