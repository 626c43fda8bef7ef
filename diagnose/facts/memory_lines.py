"""Reads the memory lines of training loops, in bytes.

Sources: Megatron-LM `report_memory` (its MB are MiB), Megatron Bridge (decimal GB), DeepSpeed `see_memory_usage`
(its GB are GiB), and Megatron's theoretical footprint (MiB).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView
from diagnose.lazy import Lazy
from diagnose.read.model import Line

ORIGIN = "memory-line"
_MIB, _GIB, _GB = 1024.0**2, 1024.0**3, 1e9
_NUMBER = r"(-?\d{1,20}(?:\.\d{1,12})?)"
_REPORT = Lazy(r"\(after (\d{1,12}) iterations\) memory \((MB|GB)\) \|(.*)")
_FIELD = Lazy(rf"([a-z][a-z -]{{2,60}}): {_NUMBER}")
_KEYS = MappingProxyType(
    {
        "allocated": "allocated",
        "max allocated": "peak_allocated",
        "reserved": "reserved",
        "max reserved": "peak_reserved",
        "total device memory used": "device_used",
        "mem-allocated-gigabytes": "allocated",
        "mem-max-allocated-gigabytes": "peak_allocated",
        "mem-reserved-gigabytes": "reserved",
        "mem-max-reserved-gigabytes": "peak_reserved",
    }
)
_RETRIES = frozenset({"mem-alloc-retires", "mem-alloc-retries"})
_THEORETICAL = Lazy(rf"(weight and optimizer|activation|total)={_NUMBER} MB")
_THEORETICAL_KEYS = MappingProxyType(
    {
        "weight and optimizer": "theoretical_weights",
        "activation": "theoretical_activation",
        "total": "theoretical_total",
    }
)
_DEEPSPEED = Lazy(rf"\b(MA|Max_MA|CA|Max_CA) {_NUMBER} GB")
_DEEPSPEED_KEYS = MappingProxyType(
    {"MA": "allocated", "Max_MA": "peak_allocated", "CA": "reserved", "Max_CA": "peak_reserved"}
)


def memory_numbers(body: str) -> dict[str, float]:
    """Read one memory line, in bytes: `allocated peak_allocated reserved peak_reserved device_used theoretical_…`.

    `retries` is a count: how often the allocator had to flush its cache and try again.
    """
    report = _REPORT.search(body)
    if report:
        unit = _MIB if report[2] == "MB" else _GB
        fields = _FIELD.findall(report[3])
        found = {_KEYS[name]: float(number) * unit for name, number in fields if name in _KEYS}
        retries = [float(number) for name, number in fields if name in _RETRIES]
        return {**found, "retries": retries[0]} if retries else found
    if "Theoretical memory footprints" in body:
        return {_THEORETICAL_KEYS[name]: float(number) * _MIB for name, number in _THEORETICAL.findall(body)}
    return {_DEEPSPEED_KEYS[name]: float(number) * _GIB for name, number in _DEEPSPEED.findall(body)}


def _read(text: TextView, line: Line) -> Iterator[Observation]:
    for key, number in memory_numbers(line.text).items():
        yield Observation(f"memory.{key}", number, text.evidence(line), ORIGIN)


MEMORY = Reader(
    "memory-line",
    (b") memory (MB) |", b") memory (GB) |", b"Theoretical memory footprints", b"Max_MA "),
    _read,
    keep=64,
)
