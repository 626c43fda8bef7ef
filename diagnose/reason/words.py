"""How findings put facts, places and times into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from diagnose.catalogue.condition import Outcome, Seen
from diagnose.catalogue.template import show
from diagnose.read.model import Evidence

_HIDDEN = ("let.", "check.", "capture.")


def place(evidence: Evidence) -> str:
    """Write path:line."""
    return f"{evidence.path}:{evidence.line}"


def speaker(evidence: Evidence) -> str:
    """Write who said it: "rank 3 (node-2)", "node-2", or ""."""
    if evidence.rank is not None:
        return f"rank {evidence.rank}" + (f" ({evidence.node})" if evidence.node else "")
    return evidence.node or ""


def clock(seconds: float | None) -> str:
    """Write the time of day of a moment, in UTC as the log gave it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M:%S") if seconds is not None else ""


def iso(seconds: float | None) -> str | None:
    """Write a moment as ISO 8601, None where there is none."""
    if seconds is None or not 0 <= seconds < 253402300800:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds" if seconds % 1 else "seconds")


def span(seconds: float) -> str:
    """Write a length of time: "38 s", "10 min", "3.2 h"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def ranks(numbers: Sequence[int]) -> str:
    """Write ranks shortly: "rank 3", "ranks 0-6, 9"."""
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in runs[:12]]
    return f"ranks {', '.join(shown)}" + (" …" if len(runs) > 12 else "")


def bare(key: str) -> str:
    """Write a fact's name as a person knows it."""
    space, _, name = key.partition(".")
    return f"version of {name}" if space == "version" else name


def clipped(text: str, most: int) -> str:
    """Cut a text behind its last whole word within `most` characters, and show that it is cut."""
    if len(text) <= most:
        return text
    whole = text[: most + 1].rpartition(" ")[0]
    return f"{whole or text[:most]} …"


def fact(key: str, seen: Seen) -> str:
    """Write one fact: "recompute_granularity = full"."""
    name = bare(key)
    value = show(seen.value)
    return f"{name} = {value if len(value) <= 80 else value[:77] + '…'}"


def facts(outcome: Outcome) -> str:
    """Write the facts that decided a condition."""
    return ", ".join(fact(key, seen) for key, seen in outcome.used.items() if not key.startswith(_HIDDEN))


def origin(seen: Seen) -> str:
    """Say where a fact comes from."""
    if isinstance(seen.evidence, Evidence):
        return place(seen.evidence)
    return {"set": "--set", "default": "the release's default", "derived": "computed"}.get(seen.source, seen.source)


def lines(seen: Iterable[Seen]) -> tuple[Evidence, ...]:
    """Return the distinct lines behind facts, at most three."""
    found: dict[tuple[str, int], Evidence] = {}
    for each in seen:
        if isinstance(each.evidence, Evidence):
            found.setdefault((each.evidence.path, each.evidence.line), each.evidence)
    return tuple(found.values())[:3]
