"""Templates of pattern files: sentences with `{facts}` in them."""

from __future__ import annotations

import re

from diagnose.catalogue.condition import NAMESPACES, VERSIONS, Outcome, Scope, Seen, Unknown, size
from diagnose.lazy import Lazy
from diagnose.typed import Any

PLACEHOLDER = Lazy(r"\{([A-Za-z_][\w.]*)(?::([^{}]*))?\}")
_OPTIONAL = Lazy(r"\[([^\[\]]*\{[A-Za-z_][\w.]*(?::[^{}]*)?\}[^\[\]]*)\]")
_FORMAT = Lazy(r"size|,?(?:\.\d+)?[dfgeE%]?")


def fact_key(name: str) -> str:
    """Return the fact that a placeholder's name means: a bare name is a capture, a version name is a version."""
    if name in VERSIONS:
        return f"version.{name}"
    return name if name.split(".", 1)[0] in NAMESPACES and "." in name else f"capture.{name}"


def placeholders(template: str) -> list[tuple[str, str]]:
    """List (fact key, format) of all placeholders."""
    return [(fact_key(name), form or "") for name, form in PLACEHOLDER.findall(template)]


def valid_format(form: str) -> bool:
    """Tell whether a placeholder's format is one that `render` knows."""
    return _FORMAT.fullmatch(form) is not None


def show_size(value: Any) -> str:
    """Write bytes with a binary unit, as PyTorch does: 1.96 GiB."""
    number = size(value)
    if isinstance(number, Unknown):
        return str(value)
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(number) >= factor:
            return f"{number / factor:.4g} {unit}" if number / factor < 1000 else f"{number / factor:.0f} {unit}"
    return f"{number:.0f} B"


def show(value: Any, form: str = "") -> str:
    """Write one value for a person."""
    if form == "size":
        return show_size(value)
    if form and isinstance(value, int | float | str):
        try:
            return format(float(value) if not isinstance(value, int) or form[-1] in "fgeE%" else value, form)
        except ValueError:
            return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(show(each) for each in value) + "]"
    return str(value)


def render(template: str, scope: Scope, used: Outcome | None = None, *, pasted: bool = False) -> str | None:
    """Fill a template; None where a value outside of an optional `[… {x} …]` part is unknown.

    In a line to paste (`pasted`) brackets are its own: no part is optional.
    """

    def fill(text: str) -> str | None:
        missing = False

        def one(found: re.Match[str]) -> str:
            nonlocal missing
            known: Seen | None = scope.lookup(fact_key(found.group(1)))
            if known is None:
                missing = True
                return ""
            if used is not None:
                used.used.setdefault(fact_key(found.group(1)), known)
            return show(known.value, found.group(2) or "")

        filled = PLACEHOLDER.sub(one, text)
        return None if missing else filled

    def optional(found: re.Match[str]) -> str:
        return fill(found.group(1)) or ""

    return fill(template if pasted else _OPTIONAL.sub(optional, template))
