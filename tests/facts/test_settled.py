"""What frameworks make of settings before they validate them."""

from __future__ import annotations

from typing import Any

import pytest

from diagnose.catalogue.version import Version
from diagnose.facts.model import Observation
from diagnose.facts.run import Facts
from diagnose.facts.settled import settled


def changed(release: str, framework: str = "megatron-core", **config: Any) -> dict[str, Any]:
    """Return what is changed, by key."""
    version = Version.parse(release)
    assert version is not None
    facts = Facts([Observation(f"config.{key}", value, None, "set") for key, value in config.items()])
    return {each.key.removeprefix("config."): each.value for each in settled(facts, version, framework)}


@pytest.mark.parametrize(
    ("framework", "off"), [("megatron-core", False), ("megatron-lm", True), ("megatron-bridge", True)]
)
def test_sequence_parallel(framework: str, off: bool) -> None:
    """Megatron-LM and Bridge switch sequence parallelism off without tensor parallelism; Core refuses it."""
    found = changed("0.16.1", framework, sequence_parallel=True, tensor_model_parallel_size=1)
    assert ("sequence_parallel" in found) is off


def test_old_graph_flags() -> None:
    """From 0.15 on an old flag stands for an implementation."""
    flags: dict[str, Any] = {"enable_cuda_graph": True, "cuda_graph_impl": "none"}
    assert changed("0.16.1", **flags)["cuda_graph_impl"] == "local"
    assert "cuda_graph_impl" not in changed("0.14.0", **flags)


def test_scope_becomes_modules() -> None:
    """From 0.18 on a scope is a list of modules, and the full iteration an implementation."""
    found = changed("0.18.2", cuda_graph_impl="local", cuda_graph_scope=["full_iteration"])
    assert (found["cuda_graph_impl"], found["cuda_graph_modules"]) == ("full_iteration", [])
    both = changed("0.18.2", cuda_graph_impl="local", cuda_graph_scope=["attn"], cuda_graph_modules=["mlp"])
    assert "cuda_graph_modules" not in both


def test_sizes() -> None:
    """Sizes that nobody sets follow from others."""
    found = changed("0.16.1", num_attention_heads=8, hidden_size=64, tensor_model_parallel_size=2)
    assert (found["num_query_groups"], found["ffn_hidden_size"], found["expert_tensor_parallel_size"]) == (8, 256, 2)
