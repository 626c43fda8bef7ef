"""Reads which global rank runs where: from torchrun's agent and from NCCL's own lines.

Sources: torch/distributed/elastic/agent/server/api.py, "Rendezvous complete for workers"; nccl/src/init.cc, "Init
COMPLETE".
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.facts.model import Observation, Value
from diagnose.facts.reader import Reader, TextView
from diagnose.lazy import Lazy
from diagnose.read.model import Line

KEY = "run.placement"
_RANKS = Lazy(r"global_ranks=\[([\d, ]{1,2000})\]")
_COMM = Lazy(
    r"\brank (\d{1,7}) n[Rr]anks (\d{1,7}) cudaDev (\d{1,4}) (?:nvmlDev \d{1,4} )?(?:busId (?:0x)?([0-9a-f]{1,9})\b)?"
)
_LEAST = 2  # ranks: the smallest communicator that may be that of the whole job


def pci_of(text: str) -> str:
    """Write a GPU's PCI address as "0000:1b:00", from NCCL's `1b000` (hexadecimal) or the kernel's `0000:1B:00.0`."""
    parts = text.lower().partition(".")[0].split(":")
    if len(parts) == 1:
        digits = text.lower().zfill(9)
        parts = [digits[:4], digits[4:6], digits[6:8]]
    return ":".join(["0000", *parts][-3:])[-10:]


def _read(text: TextView, line: Line) -> Iterator[Observation]:
    listed = _RANKS.search(line.text)
    if listed:
        ranks: list[Value] = [int(rank) for rank in listed[1].split(",") if rank.strip().isdigit()]
        yield Observation(KEY, {"ranks": ranks}, text.evidence(line), "rendezvous")
    comm = _COMM.search(line.text)
    if comm and int(comm[2]) >= _LEAST:
        found: dict[str, Value] = {"rank": int(comm[1]), "world": int(comm[2]), "local": int(comm[3])}
        if line.node:
            found["node"] = line.node
        if comm[4]:
            found["pci"] = pci_of(comm[4])
        yield Observation(KEY, found, text.evidence(line), "nccl")


PLACEMENT = Reader("placement", (b"global_ranks=[", b" nranks "), _read, keep=64)
