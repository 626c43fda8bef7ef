"""Megatron-LM's argument dump."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data" / "facts"


def test_real_dump_is_read_whole(log: Any) -> None:
    """Names of 46 to 60 characters, empty values, lists of enums and what follows from them are read."""
    facts = log((DATA / "arguments_0.18.2.log").read_bytes()).facts()
    assert facts["config.cuda_graph_impl"] == "transformer_engine"
    assert facts["config.cuda_graph_modules"] == ["attn"]
    assert facts["config.attention_backend"] == "auto"
    assert facts["config.config_logger_dir"] == ""
    assert facts["config.check_for_nan_in_loss"] is True
    assert facts["config.check_weight_hash_across_dp_replicas_interval"] is None
    assert facts["config.ddp_param_name_patterns_for_fp32_local_accumulation"] == []
    assert facts["config.cpu_offloading"] is False
    assert facts["config.num_moe_experts"] is None
    assert facts["config.data_parallel_size"] == 8
    assert facts["run.world_size"] == 8
    assert facts["version.core"] == "0.18.2"


def test_two_labelled_dumps_that_interleave_come_apart(log: Any) -> None:
    """Each rank's own lines make its dump, and the evidence says who printed them."""
    lines = [
        "[default0]:------------------------ arguments ------------------------",
        "[default1]:------------------------ arguments ------------------------",
        "[default0]:  micro_batch_size ................................ 1",
        "[default1]:  micro_batch_size ................................ 2",
        "[default0]:-------------------- end of arguments ---------------------",
        "[default1]:  seq_length ...................................... 4096",
        "[default1]:-------------------- end of arguments ---------------------",
    ]
    seen = log("\n".join(lines)).observations()
    sizes = [(one.value, one.evidence.line) for one in seen if one.key == "config.micro_batch_size"]
    assert sorted(sizes) == [(1, 3), (2, 4)]
    assert [one.evidence.line for one in seen if one.key == "config.seq_length"] == [6]


def test_a_cut_dump_keeps_what_was_printed(log: Any) -> None:
    """A dump without an end is read until it stops looking like one."""
    head = "------------------------ arguments ------------------------\n  fp8 ............. hybrid\n"
    facts = log(head + "noise\n" * 100 + "  later ........ 1\n").facts()
    assert facts["config.fp8"] == "hybrid"
    assert "config.later" not in facts


def test_old_world_size_line(log: Any) -> None:
    """Releases before 0.5 hyphenate differently."""
    facts = log("using world size: 16, data-parallel-size: 8, tensor-model-parallel size: 2\n").facts()
    assert facts["run.world_size"] == 16
    assert facts["config.data_parallel_size"] == 8
    assert facts["config.tensor_model_parallel_size"] == 2


def test_secrets_in_a_dump_are_masked(log: Any) -> None:
    """Neither the value nor the shown line holds the secret."""
    head = "------------------------ arguments ------------------------\n"
    seen = log(head + "  hf_token ........................................ hf_abc\n").observations()
    assert [one.value for one in seen if one.key == "config.hf_token"] == ["[masked]"]
    assert "hf_abc" not in repr(seen)
