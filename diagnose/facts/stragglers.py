"""Reads the reports of straggler detectors: which rank was slowest.

Sources: Megatron-LM `StragglerDetector.report` (0.6 and later), Megatron Bridge's use of nvidia-resiliency-ext.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.facts.model import Observation, Value
from diagnose.facts.reader import Reader, TextView
from diagnose.lazy import Lazy
from diagnose.read.model import Line

ORIGIN = "straggler-report"
_ROUND_TRIP = Lazy(r"MnRtt/Rnk: ([\d.]{1,15})ms/(\d{1,7}) \| MxRtt/Rnk: ([\d.]{1,15})ms/(\d{1,7})")
_EXTRA = Lazy(r"\b(MnClk|MxTmp|MnPwr)/Rnk: ([\d.]{1,12})[A-Za-z]{0,4}/(\d{1,7})")
_NAMED = Lazy(r"STRAGGLER DETECTION WARNING: .{0,200}?\[([\d, ]{1,400})\]")


def _read(text: TextView, line: Line) -> Iterator[Observation]:
    found = _ROUND_TRIP.search(line.text)
    if found:
        value: dict[str, Value] = {
            "least": float(found[1]),
            "least_rank": int(found[2]),
            "most": float(found[3]),
            "most_rank": int(found[4]),
        }
        for name, number, rank in _EXTRA.findall(line.text):
            value[name] = f"{number} on rank {rank}"
        yield Observation("straggler.report", value, text.evidence(line), ORIGIN)
    named = _NAMED.search(line.text)
    if named:
        ranks: list[Value] = [int(rank) for rank in named[1].split(",") if rank.strip().isdigit()]
        yield Observation("straggler.named", ranks, text.evidence(line), ORIGIN)


STRAGGLERS = Reader("stragglers", (b"MxRtt/Rnk: ", b"STRAGGLER DETECTION WARNING"), _read, keep=100)
