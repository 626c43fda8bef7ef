"""Configurations that were given to the real validators, and the forecast of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from diagnose.facts.intended import intended_facts
from diagnose.facts.model import Observation
from diagnose.facts.versions import pinned_core

ROWS = Path(__file__).parents[1] / "data" / "forecast" / "rows.jsonl"

# What all Megatron-LM rows had on their command line, and all Bridge rows in their configuration.
_ARGUMENTS = (
    *("pretrain_gpt.py", "--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4"),
    *("--seq-length", "128", "--max-position-embeddings", "128", "--micro-batch-size", "1"),
    *("--global-batch-size", "8", "--train-iters", "100", "--lr", "1e-4", "--min-lr", "1e-5", "--bf16"),
    *("--transformer-impl", "local"),
)
_BRIDGE: dict[str, Any] = {
    "model": {"num_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "seq_length": 128, "bf16": True}
    | {"attention_dropout": 0.0, "hidden_dropout": 0.0},
    "train": {"train_iters": 10, "global_batch_size": 8, "micro_batch_size": 1},
    "dataset": {"seq_length": 128},
}


def rows() -> list[dict[str, Any]]:
    """Return all rows: settings, release, and whether the real validator refused them."""
    return [json.loads(line) for line in ROWS.read_text().splitlines()]


def facts_of(row: dict[str, Any], folder: Path) -> tuple[list[Observation], str]:
    """Read a row as `diagnose config` would; `folder` is for the file."""
    env = [f"{name}={value or ''}" for name, value in row["env"].items()]
    if "argv" in row["settings"]:
        if "CUDA_DEVICE_MAX_CONNECTIONS" not in row["env"]:
            env.append("CUDA_DEVICE_MAX_CONNECTIONS=1")
        return intended_facts(
            arguments=[*_ARGUMENTS, *row["settings"]["argv"]],
            settings=[*env, "run.world_size=8"],
            versions=[f"core={row['version']}"],
        )
    file = folder / "run.yaml"
    if row["framework"] == "megatron-core":
        file.write_text(json.dumps(row["settings"]))
        return intended_facts(config=file, settings=env, versions=[f"core={row['version']}"])
    file.write_text(json.dumps(_bridge(row["settings"])))
    found, framework = intended_facts(
        config=file,
        settings=[*env, "run.world_size=8"],
        versions=[f"bridge={row['version']}"],
        framework="megatron-bridge",
    )
    return [*found, Observation("version.core", pinned_core(row["version"]), None, "bridge-pin")], framework


def _bridge(settings: dict[str, Any]) -> dict[str, Any]:
    whole = {section: dict(values) for section, values in _BRIDGE.items()}
    for section, values in (("model", settings["model"]), *settings["other"].items()):
        if section == "_peft":
            whole["peft"] = {"_target_": "megatron.bridge.peft.lora.LoRA", "dim": 8}
        else:
            whole.setdefault(section, {}).update(values)
    return whole
