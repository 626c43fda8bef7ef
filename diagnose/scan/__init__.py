"""Scanning: one pass of native code over the bytes, which finds the lines that matter to anyone."""

from __future__ import annotations

from diagnose.scan.database import Database
from diagnose.scan.model import Anchor, Hit, Meter, ScanResult
from diagnose.scan.scan import scan

__all__ = ["Anchor", "Database", "Hit", "Meter", "ScanResult", "scan"]
