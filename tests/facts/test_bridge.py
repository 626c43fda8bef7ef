"""Megatron Bridge's configuration blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data" / "facts"


def test_real_summary(log: Any) -> None:
    """Model fields are flat, other sections keep their name and lend unique keys."""
    facts = log((DATA / "bridge_0.6.0.log").read_bytes()).facts()
    assert facts["run.summary_of_non_defaults"] is True
    assert facts["run.framework"] == "megatron-bridge"
    assert facts["config.cuda_graph_impl"] == "transformer_engine"
    assert facts["config.cuda_graph_modules"] == ["attn"]
    assert facts["config.recompute_granularity"] == "selective"
    assert facts["config.recompute_modules"] == ["core_attn"]
    assert facts["config.train.global_batch_size"] == facts["config.global_batch_size"] == 8
    assert facts["config.seq_length"] == 128
    assert facts["config.tokenizer.tensor_model_parallel_size"] == 1
    assert "config.tensor_model_parallel_size" not in facts
    assert facts["version.bridge"] == "0.6.0"
    assert facts["version.core"] == ">=0.19,<0.20"


def test_summary_that_names_core(log: Any) -> None:
    """`vs Mcore 0.16.1` is a version; a default that holds brackets does not disturb the value."""
    facts = log(
        "Configuration Summary (Non-Default Values vs Megatron Core)\n"
        "[rerun_state_machine]:\n"
        "  check_for_nan_in_loss: False\n"
        "[ddp] Non-default values (vs Mcore 0.16.1):\n"
        "  nccl_ub: True  (Mcore default: False)\n"
        "[model] Non-default values (vs Mcore 0.16.1):\n"
        "  cuda_graph_scope: [<CudaGraphScope.full_iteration: 1>]  (Mcore default: ['full'])\n"
        "======================================================================\n"
        "  recompute_method: 'never'\n"
    ).facts()
    assert facts["version.core"] == "0.16.1"
    assert facts["config.check_for_nan_in_loss"] is False
    assert facts["config.nccl_ub"] is True
    assert facts["config.cuda_graph_scope"] == ["full_iteration"]
    assert "config.recompute_method" not in facts


def test_task_configuration(log: Any) -> None:
    """The YAML document of Bridge up to 0.3.0 is read by indentation, tags and lists included."""
    facts = log(
        "------- Task Configuration -------\n"
        "model:\n"
        "  _target_: megatron.bridge.models.llama.Llama3Provider\n"
        "  recompute_granularity: full\n"
        "  recompute_modules:\n"
        "  - core_attn\n"
        "  - mlp\n"
        "  cuda_graph_scope: null\n"
        "train:\n"
        "  global_batch_size: 32\n"
        "----------------------------------\n"
        "later: 1\n"
    ).facts()
    assert facts["config.recompute_granularity"] == "full"
    assert facts["config.recompute_modules"] == ["core_attn", "mlp"]
    assert facts["config.cuda_graph_scope"] is None
    assert facts["config.global_batch_size"] == 32
    assert "config.later" not in facts


def test_nemo_experiment_configuration(log: Any) -> None:
    """NeMo's spellings are mapped to Megatron Core's."""
    facts = log(
        "    ************** Experiment configuration ***********\n"
        "trainer:\n  devices: 8\n"
        "model:\n  activations_checkpoint_granularity: selective\n  tensor_model_parallel_size: 4\n"
    ).facts()
    assert facts["config.recompute_granularity"] == "selective"
    assert facts["config.tensor_model_parallel_size"] == 4
    assert facts["config.trainer.devices"] == 8
