"""The words and rows that all reports of a comparison share."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.report.words import plural
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.compare.model import Change, Comparison, Difference, Peak, Side
    from diagnose.reason.result import ConfigValue

OUTCOMES = {
    "both_ran": "both ran",
    "both_failed": "both failed",
    "fixed": "no longer fails",
    "broke": "fails now",
}
_WIDE = 2  # runs beside each other that leave room for reserved memory


def ending(side: Side) -> str:
    """Say how a run ended: the pattern of its root cause, or how far it came."""
    if side.failed:
        return f"failed: {side.pattern or side.verdict}"
    last = "" if side.last_iteration is None else f", iteration {side.last_iteration}"
    if not last and side.verdict == "no_failure":
        return "no progress seen"
    return f"ran{last}" if side.verdict == "no_failure" else f"degraded{last}"


def speed_rows(comparison: Comparison) -> list[list[str]]:
    """Give the rows of the speed: a label, then a cell a run."""
    speeds = [side.speed for side in comparison.runs]
    rows = []
    for label, key, form in (
        ("TFLOP/s/GPU", "tflops_per_gpu", "{:.1f}"),
        ("iteration ms", "iteration_ms", "{:.1f}"),
        ("samples/s", "samples_per_second", "{:.4g}"),
        ("tokens/s", "tokens_per_second", "{:.4g}"),
    ):
        values = [getattr(speed, key) if speed is not None else None for speed in speeds]
        if any(value is not None for value in values):
            rows.append([label, *("?" if value is None else form.format(value) for value in values)])
    if any(speed is not None for speed in speeds):
        rows.append(["± 95 %", *("?" if speed is None else _sure(speed.error_percent) for speed in speeds)])
        counts = ["?" if speed is None else plural(speed.iterations, "iteration") for speed in speeds]
        rows.append(["measured on", *counts])
    return rows


def _sure(error: float) -> str:
    return f"{error:.2g} %" if error else "not known"


def peak_rows(comparison: Comparison, most: int | None) -> list[list[str]]:
    """Give the rows of the peak memory, a rank a row, highest ranks first where only `most` are shown."""
    ranks = sorted({peak.rank for side in comparison.runs for peak in side.peaks}, key=lambda r: (r is None, r or 0))
    by_rank = [{peak.rank: peak for peak in side.peaks} for side in comparison.runs]
    if most is not None and len(ranks) > most:
        heights = {rank: max(_height(each.get(rank)) for each in by_rank) for rank in ranks}
        ranks = sorted(sorted(ranks, key=lambda rank: -heights[rank])[:most], key=lambda r: (r is None, r or 0))
    wide = len(by_rank) <= _WIDE
    return [
        ["any rank" if rank is None else f"rank {rank}", *(_peak(each.get(rank), wide) for each in by_rank)]
        for rank in ranks
    ]


def _height(peak: Peak | None) -> float:
    return max(peak.allocated or 0.0, peak.reserved or 0.0) if peak else 0.0


def _peak(peak: Peak | None, wide: bool) -> str:
    if peak is None:
        return "?"
    allocated = "" if peak.allocated is None else f"{peak.allocated / 1e9:.1f} GB"
    reserved = "" if peak.reserved is None else f"{peak.reserved / 1e9:.1f} GB reserved"
    return ", ".join(part for part in (allocated, reserved) if part) if wide else allocated or reserved


def change_rows(changes: Sequence[Change]) -> list[list[str]]:
    """Give one row a later run: throughput, peak memory and outcome against the first, and the verdict."""
    rows = []
    for change in changes:
        speed, memory = change.throughput, change.memory
        sure = f" ± {speed.error_percent:.1f}" if speed is not None and speed.error_percent else ""
        rows.append(
            [
                change.name,
                "?" if speed is None else f"{speed.percent:+.1f} %{sure}",
                "?" if memory is None else f"{memory.percent:+.1f} %",
                OUTCOMES[change.outcome],
                change.verdict.replace("_", " "),
            ]
        )
    return rows


def difference_rows(differences: Sequence[Difference]) -> list[list[str]]:
    """Give the rows of differing settings: the key, then a cell a run."""
    return [[each.key, *map(_setting, each.values)] for each in differences]


def _setting(value: ConfigValue | None) -> str:
    if value is None:
        return "not seen"
    shown = value.value
    text = f"[{', '.join(map(str, shown))}]" if isinstance(shown, list) else str(shown)
    return text if len(text) <= 60 else text[:59] + "…"
