"""Host names and what looks like them."""

from __future__ import annotations

import pytest

from diagnose.read.hosts import is_host


@pytest.mark.parametrize(
    "name",
    ["worker-3", "node1", "gpu-03-04", "nid001234", "ip-10-0-1-23", "10.0.0.3", "cn42.cluster.local", "dgx-a100-07"],
)
def test_hosts(name: str) -> None:
    """Names of machines, as clusters give them."""
    assert is_host(name)


@pytest.mark.parametrize(
    "name",
    [
        "ValueError",
        "step-100",
        "bf16",
        "python3",
        "libcuda.so.1",
        "utf-8",
        "slurmstepd-node-5",
        "layer1.weight",
        "p99",
        "done",
        "",
        "rank0",
        "Node1",
        "1.2",
        "a" * 80 + "1",
    ],
)
def test_other_words_with_numbers(name: str) -> None:
    """Words that programs count with are no machines."""
    assert not is_host(name)
