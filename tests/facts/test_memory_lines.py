"""Memory lines."""

from __future__ import annotations

from typing import Any

import pytest

from diagnose.facts.memory_lines import memory_numbers


def test_megatron_counts_in_mebibytes(log: Any) -> None:
    """Megatron-LM's MB are MiB; the rank is that of the line."""
    seen = log(
        "[Rank 3] (after 1 iterations) memory (MB) | allocated: 54248.7421875 | max allocated: 56783.0 | "
        "reserved: 61480.0 | max reserved: 61480.0 | total device memory used: 66214.50\n"
    ).observations()
    peak = next(one for one in seen if one.key == "memory.peak_allocated")
    assert peak.value == 56783 * 2**20
    assert peak.evidence.rank == 3
    assert {one.key for one in seen} >= {"memory.peak_reserved", "memory.device_used"}


def test_bridge_counts_in_gigabytes() -> None:
    """Bridge's gigabytes are decimal; retries is a count, whatever its spelling."""
    found = memory_numbers(
        "(after 2 iterations) memory (GB) | mem-allocated-gigabytes: 33.121 | mem-reserved-gigabytes: 71.3 | "
        "mem-max-allocated-gigabytes: 58.8 | mem-max-reserved-gigabytes: 72.61 | mem-alloc-retires: 3"
    )
    assert found["peak_allocated"] == pytest.approx(58.8e9)
    assert found["peak_reserved"] == pytest.approx(72.61e9)
    assert found["retries"] == 3


def test_theoretical_footprint() -> None:
    """The three parts are told apart; hybrid models have none."""
    found = memory_numbers(
        "Theoretical memory footprints: weight and optimizer=23023.52 MB, activation=8208.03 MB, total=31231.55 MB"
    )
    assert found["theoretical_total"] == pytest.approx(31231.55 * 2**20)
    assert memory_numbers("Theoretical memory footprints not yet supported for hybrid models.") == {}


def test_deepspeed() -> None:
    """`see_memory_usage` is read."""
    assert memory_numbers("MA 1.5 GB         Max_MA 2.0 GB         CA 3.0 GB         Max_CA 4 GB ") == {
        "allocated": 1.5 * 2**30,
        "peak_allocated": 2 * 2**30,
        "reserved": 3 * 2**30,
        "peak_reserved": 4 * 2**30,
    }
