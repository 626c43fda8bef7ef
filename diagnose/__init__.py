"""Says why a training job failed."""

from __future__ import annotations

__version__ = "0.1.0"
