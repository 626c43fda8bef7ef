"""Versions in banners, lists and paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.versions import pinned_core, versions_in


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("n1:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4", [("nccl", "2.21.5"), ("cuda", "12.4")]),
        ("torch==2.9.0+cu128", [("torch", "2.9.0"), ("cuda", "12.8")]),
        ("torch                     2.9.0", [("torch", "2.9.0")]),
        ("PyTorch version: 2.9.0a0+145a3a7bda.nv25.10", [("torch", "2.9.0a0")]),
        ("megatron-core==0.16.1", [("core", "0.16.1")]),
        ("/x/megatron_core-0.16.1.dist-info/METADATA", [("core", "0.16.1")]),
        ("/opt/megatron-lm/core_v0.14.0/megatron/core/a.py", [("core", "0.14.0")]),
        ("/w/Megatron-LM-core_v0.16.1/megatron/core/a.py", [("core", "0.16.1")]),
        ("/opt/megatron-bridge/v0.4.2/src/megatron/bridge/a.py", [("bridge", "0.4.2")]),
        ("/opt/venv/lib/python3.11/site-packages/torch/a.py", [("python", "3.11")]),
        ("transformer_engine 2.8.0", [("te", "2.8.0")]),
        ("but needs transformer-engine>=2.6.0dev0, but your version is 2.3.0.", [("te", "2.3.0")]),
        (
            "| NVIDIA-SMI 570.124.06  Driver Version: 570.124.06     CUDA Version: 12.8 |",
            [("driver", "570.124.06"), ("driver_cuda", "12.8")],
        ),
        ("DeepSpeed info: version=0.14.0, git-hash=unknown", [("deepspeed", "0.14.0")]),
        ("deepspeed info ................... 0.9.2, unknown", [("deepspeed", "0.9.2")]),
        ("srun --container-image nvcr.io/nvidia/nemo:25.11 x", [("container", "nemo:25.11")]),
        ("ERROR: vllm 0.5 requires torch==2.4.0, which is not installed", []),
        ("transformer-engine>=2.6.0", []),
        ("loss 2.9.0 torchvision 0.2.1", []),
    ],
)
def test_versions_are_found(line: str, found: list[tuple[str, str]]) -> None:
    """What is installed is found; what is only wanted is not."""
    assert sorted(versions_in(line)) == sorted(found)


def test_a_package_list_is_read_as_a_block(log: Any) -> None:
    """`pip list` rows below their header count."""
    facts = log(
        "Package                  Version\n------------------------ -------\n"
        "megatron-core            0.18.2\nnvidia-nccl-cu12         2.27.3\ntransformers             4.57.1\n\n"
        "torch 9.9\n"
    ).facts()
    assert facts == {"version.core": "0.18.2", "version.nccl": "2.27.3", "version.transformers": "4.57.1"}


def test_bridge_pins_core() -> None:
    """A Bridge release implies the Core that it pins."""
    assert pinned_core("0.3.1") == "0.16.1"
    assert pinned_core("0.5.1") == ">=0.18,<0.19"
    assert pinned_core("9.9.9") is None


@settings(derandomize=True, max_examples=100)
@given(st.text(alphabet="torch=megn-_v0.19/ +cuNCL", max_size=200))
def test_any_text_is_searched(text: str) -> None:
    """No text crashes."""
    versions_in(text)
