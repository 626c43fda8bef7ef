"""Says why a training job failed: what failed first, what is only fallout, and which fixes to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnose.api import diagnose as diagnose
    from diagnose.reason.result import Diagnosis as Diagnosis

__version__ = "0.1.0"
__all__ = ["Diagnosis", "__version__", "diagnose"]


def __getattr__(name: str) -> Any:
    """Load the library only when it is asked for: `diagnose --version` needs none of it."""
    if name == "diagnose":
        from diagnose.api import diagnose

        return diagnose
    if name == "Diagnosis":
        from diagnose.reason.result import Diagnosis

        return Diagnosis
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
