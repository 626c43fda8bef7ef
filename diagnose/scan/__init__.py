"""Scanning: one pass of native code over the bytes, which finds the lines that matter to anyone."""

from __future__ import annotations

from diagnose.scan.database import Database
from diagnose.scan.merge import merged
from diagnose.scan.model import Anchor, Hit, Meter, ScanResult, Stretch, Watcher
from diagnose.scan.parts import PART, parts_of, read_meters
from diagnose.scan.sampler import ALL_UP_TO
from diagnose.scan.scan import scan, scan_stretch

__all__ = [
    "ALL_UP_TO",
    "PART",
    "Anchor",
    "Database",
    "Hit",
    "Meter",
    "ScanResult",
    "Stretch",
    "Watcher",
    "merged",
    "parts_of",
    "read_meters",
    "scan",
    "scan_stretch",
]
