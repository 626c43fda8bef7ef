"""The room that shows a diagnosis: one renderer a file, none decides anything."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from diagnose.report.model import Context, Renderer
from diagnose.typed import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from diagnose.reason.result import Diagnosis

__all__ = ["RENDERERS", "Context", "Renderer", "renderer"]


def renderer(name: str) -> Renderer:
    """Load the renderer of a format, one of RENDERERS."""
    return cast(Renderer, import_module(f"diagnose.report.{name}").render)


def _lazy(name: str) -> Renderer:
    # A run needs one renderer; importing the others would cost start-up time.
    def render(diagnosis: Diagnosis, context: Context) -> str:
        return renderer(name)(diagnosis, context)

    return render


RENDERERS: Mapping[str, Renderer] = MappingProxyType(
    {
        "text": _lazy("text"),
        "json": _lazy("json"),
        "jsonl": _lazy("jsonl"),
        "markdown": _lazy("markdown"),
    }
)
