"""Says why a training job failed: what failed first, what is only fallout, and which fixes to try."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; the module typing costs a tenth of a start
if TYPE_CHECKING:
    from typing import Any

    from diagnose.api import compare as compare
    from diagnose.api import diagnose as diagnose
    from diagnose.api import forecast as forecast
    from diagnose.reason.result import Diagnosis as Diagnosis

__version__ = "0.1.0"
__all__ = ["Diagnosis", "__version__", "compare", "diagnose", "forecast"]


def __getattr__(name: str) -> Any:
    """Load the library only when it is asked for: `diagnose --version` needs none of it."""
    if name in ("compare", "diagnose", "forecast"):
        from diagnose import api

        return getattr(api, name)
    if name == "Diagnosis":
        from diagnose.reason.result import Diagnosis

        return Diagnosis
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
