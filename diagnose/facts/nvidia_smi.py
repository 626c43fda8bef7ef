"""Reads GPU models and sizes off the table of `nvidia-smi` and off device lists."""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView, following
from diagnose.lazy import Lazy
from diagnose.read.model import Line

ORIGIN = "nvidia-smi"
_ROW = Lazy(r"\|\s+(\d{1,3})\s+((?:NVIDIA|Tesla|GeForce|Quadro|AMD)[\w .-]{1,60}?)\s{2,}(?:On|Off|N/A)?\s*\|")
_USAGE = Lazy(r"\|\s*\d{1,8}MiB /\s*(\d{1,8})MiB\s*\|")
_LISTED = Lazy(r"\s{0,8}GPU (\d{1,3}): ((?:NVIDIA|Tesla|GeForce|AMD)[\w .-]{1,60}?)(?: \(UUID.*)?\s*$")
_TABLE = 200  # lines of a table


def _table(text: TextView, head: Line) -> Iterator[Observation]:
    index = -1
    for line in following(text, head, _TABLE):
        row, usage = _ROW.match(line.body), _USAGE.search(line.body)
        if row:
            if int(row[1]) <= index:
                return
            index = int(row[1])
            yield Observation("run.gpu_model", row[2], text.evidence(line), ORIGIN)
        elif usage:
            yield Observation("run.gpu_memory", int(usage[1]) * 1024.0**2, text.evidence(line), ORIGIN)
        elif "Processes:" in line.body:
            return


def _list(text: TextView, line: Line) -> Iterator[Observation]:
    found = _LISTED.match(line.body)
    if found:
        yield Observation("run.gpu_model", found[2], text.evidence(line), ORIGIN)


TABLE = Reader("nvidia-smi", (b"| NVIDIA-SMI ",), _table, keep=2)
LIST = Reader("gpu-list", (b"GPU 0: NVIDIA", b"GPU 0: Tesla", b"GPU 0: AMD"), _list, keep=4)
