"""Takes the numbers out of an out-of-memory message of PyTorch's CUDA allocator.

Source: c10/cuda/CUDACachingAllocator.cpp; the wording changed in torch 2.1 (`capacty`) and 2.3, and the backend
cudaMallocAsync has its own.
"""

from __future__ import annotations

import re

from diagnose.lazy import Lazy

_LONGEST = 4000  # characters of a message
_SIZE = r"(-?\d{1,20}(?:\.\d{1,10})? ?(?:bytes|[KMGTPE]i?B|B)\b)"
_UNITS = Lazy(r"\s*(?:more than )?(-?\d{1,20}(?:\.\d{1,10})?) ?(bytes|byte|[KMGTPE]?i?B)?\s*", re.IGNORECASE)
_POWERS = "KMGTPE"
_FORMS: tuple[tuple[str, Lazy], ...] = tuple(
    (key, Lazy(pattern.replace("%S", _SIZE), needs=(literal,)))
    for key, literal, pattern in (
        ("requested", "Tried to allocate ", r"Tried to allocate (?:more than )?%S"),
        ("requested", "Requested", r"Requested\s{1,40}: %S"),
        ("total", "total capac", r"total capaci?ty of %S"),
        ("total", " total capacity", r"%S total capacity"),
        ("total", "Device limit", r"Device limit\s{1,40}: %S"),
        ("free", "of which ", r"of which %S is free"),
        ("free", " free", r"%S free[;)]"),
        ("free", "Free (according to CUDA)", r"Free \(according to CUDA\)\s{0,40}: %S"),
        ("allocated", "Of the allocated memory ", r"Of the allocated memory %S is allocated by PyTorch"),
        ("allocated", " already allocated", r"%S already allocated"),
        ("allocated", "Currently allocated", r"Currently allocated\s{1,40}: %S"),
        ("reserved", " reserved in total by PyTorch", r"%S reserved in total by PyTorch"),
        ("reserved", " cached", r"%S cached[;)]"),
        ("unallocated", " is reserved by PyTorch but unallocated", r"%S is reserved by PyTorch but unallocated"),
        ("pools", " allocated in private pools", r"with %S allocated in private pools"),
        ("this_process", "this process has ", r"this process has %S memory in use"),
        ("allowed", " allowed;", r"%S allowed;"),
    )
)
_OTHER = Lazy(rf"\bProcess \d{{1,10}} has {_SIZE} memory in use", needs=("Process ",))
_DEVICE = Lazy(r"(?:GPU|device) (\d{1,3})\b")


def read_oom(body: str) -> dict[str, str]:
    """Read the sizes of an out-of-memory message, as printed.

    Keys, where the message has them: `gpu` (its index), `requested total free allocated reserved unallocated pools
    this_process other_processes allowed`. What follows from the others is filled in: memory that is reserved and not
    allocated, and the sum over all other processes.
    """
    body = body[:_LONGEST]
    found: dict[str, str] = {}
    for key, form in _FORMS:
        match = None if key in found else form.search(body)
        if match:
            found[key] = match[1]
    if not found:
        return found
    others = [size(text) for text in _OTHER.findall(body)]
    if others:
        found["other_processes"] = show(sum(others))
    device = _DEVICE.search(body)
    if device:
        found["gpu"] = device[1]
    if "unallocated" not in found and {"reserved", "allocated"} <= found.keys():
        found["unallocated"] = show(max(0.0, size(found["reserved"]) - size(found["allocated"])))
    elif "reserved" not in found and {"unallocated", "allocated"} <= found.keys():
        found["reserved"] = show(size(found["unallocated"]) + size(found["allocated"]))
    return found


def size(text: str) -> float:
    """Turn `1.96 GiB`, `20.00 MiB`, `512 bytes` or `80GB` into bytes; a bare number counts as bytes.

    Raises:
        ValueError: the text is no size.
    """
    found = _UNITS.fullmatch(text)
    if not found:
        raise ValueError(f"not a size: {text[:80]!r}")
    unit = (found[2] or "b").upper()
    power = _POWERS.find(unit[0]) + 1
    return float(found[1]) * float((1024 if "I" in unit else 1000) ** power)


def show(count: float) -> str:
    """Print bytes the way PyTorch does: `11.90 GiB`, `20.00 MiB`, `512 bytes`."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if abs(count) >= 1024**power:
            return f"{count / 1024**power:.2f} {unit}"
    return f"{count:.0f} bytes"
