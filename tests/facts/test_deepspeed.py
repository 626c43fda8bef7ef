"""DeepSpeed's and Hugging Face's printed configuration."""

from __future__ import annotations

from typing import Any


def test_engine_configuration(log: Any) -> None:
    """Keys stay under `deepspeed`; the micro-batch also under Megatron's name."""
    stamp = "[2026-11-29 21:32:02,760] [INFO] [config.py:{n}:print] "
    facts = log(
        stamp.format(n=1000) + "DeepSpeedEngine configuration:\n"
        + stamp.format(n=1004) + "  train_micro_batch_size_per_gpu  4\n"
        + stamp.format(n=1004) + "  train_micro_batch_size_per_gpu ............. 4\n"
        + stamp.format(n=1004) + "  zero_enabled ................. True\n"
        + stamp.format(n=1004) + "  amp_params ................... False\n"
    ).facts()  # fmt: skip
    assert facts["config.deepspeed.train_micro_batch_size_per_gpu"] == 4
    assert facts["config.micro_batch_size"] == 4
    assert facts["config.deepspeed.zero_enabled"] is True


def test_training_arguments(log: Any) -> None:
    """The block of keyword arguments is read; tokens are masked."""
    facts = log(
        "TrainingArguments(\n_n_gpu=1,\nbf16=True,\nhub_token=hf_x,\nper_device_train_batch_size=8,\n)\nother=1,\n"
    ).facts()
    assert facts["config.bf16"] is True
    assert facts["config.micro_batch_size"] == 8
    assert facts["config.hub_token"] == "[masked]"
    assert "config.other" not in facts
