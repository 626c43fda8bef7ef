"""Out-of-memory messages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.oom import read_oom, show, size

V1 = (
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.15 GiB total capacity; 70.12 GiB already "
    "allocated; 1.03 GiB free; 76.87 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try"
)
V2 = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 310.00 MiB. GPU 0 has a total capacty of 39.56 "
    "GiB of which 108.81 MiB is free. Process 305661 has 39.45 GiB memory in use. Process 7 has 1.00 GiB memory in "
    "use. "
    "Of the allocated memory 33.29 GiB is allocated by PyTorch, and 1.22 GiB is reserved by PyTorch but unallocated."
)
V3 = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 3 has a total capacity of 79.11 GiB "
    "of which 1.21 GiB is free. Including non-PyTorch memory, this process has 77.89 GiB memory in use. 76.00 GiB "
    "allowed; "
    "Of the allocated memory 73.40 GiB is allocated by PyTorch, with 1.25 GiB allocated in private pools (e.g., CUDA "
    "Graphs), and 1.93 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
    "setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)
ASYNC = (
    "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n"
    "Currently allocated     : 70.00 GiB\nRequested               : 2.00 GiB\nDevice limit            : 79.15 GiB\n"
    "Free (according to CUDA): 20.00 MiB\n"
)


def test_torch_2_0() -> None:
    """The first form gives the reserved total; fragmentation is its difference to what is allocated."""
    found = read_oom(V1)
    assert found["requested"] == "2.00 GiB"
    assert found["free"] == "1.03 GiB"
    assert found["reserved"] == "76.87 GiB"
    assert found["unallocated"] == "6.75 GiB"
    assert found["gpu"] == "0"


def test_torch_2_1() -> None:
    """The second form (with its typo) names other processes; they are summed."""
    found = read_oom(V2)
    assert found["total"] == "39.56 GiB"
    assert found["other_processes"] == "40.45 GiB"
    assert found["unallocated"] == "1.22 GiB"
    assert "this_process" not in found


def test_torch_2_3() -> None:
    """The third form has private pools, this process and an allowed share."""
    found = read_oom(V3)
    assert found["pools"] == "1.25 GiB"
    assert found["this_process"] == "77.89 GiB"
    assert found["allowed"] == "76.00 GiB"
    assert found["allocated"] == "73.40 GiB"
    assert found["gpu"] == "3"


def test_other_allocators() -> None:
    """cudaMallocAsync's table and an absurd size are read; Triton's shared memory is not device memory."""
    assert read_oom(ASYNC)["total"] == "79.15 GiB"
    assert read_oom(ASYNC)["requested"] == "2.00 GiB"
    assert size(read_oom("CUDA out of memory. Tried to allocate more than 1EB memory.")["requested"]) == 1e18
    assert read_oom("out of resource: shared memory, Required: 262144, Hardware limit: 232448.") == {}


@pytest.mark.parametrize(
    ("text", "count"), [("1.96 GiB", 1.96 * 2**30), ("20.00 MiB", 20 * 2**20), ("512 bytes", 512), ("80GB", 80e9)]
)
def test_sizes(text: str, count: float) -> None:
    """Binary and decimal units are told apart."""
    assert size(text) == pytest.approx(count)


def test_size_refuses_other_text() -> None:
    """What is no size is an error, not zero."""
    with pytest.raises(ValueError, match="not a size"):
        size("much")


@settings(derandomize=True, max_examples=100)
@given(st.integers(min_value=0, max_value=2**45))
def test_shown_sizes_read_back(count: int) -> None:
    """A printed size reads back to the same number, rounded."""
    assert size(show(count)) == pytest.approx(count, rel=0.01, abs=6)


@settings(derandomize=True, max_examples=100)
@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    """No text crashes."""
    read_oom("Tried to allocate " + text)
