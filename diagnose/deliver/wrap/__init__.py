"""`diagnose wrap`: runs a job with its output untouched and, if it fails, says why."""

from __future__ import annotations
