"""Files that the user hands in."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnose.facts.config_file import ConfigFileError, parse_set, read_config_file, read_env_file


def facts(path: Path, content: str) -> dict[str, Any]:
    """The values of a file, by key."""
    path.write_text(content)
    return {one.key: one.value for one in read_config_file(str(path))}


def test_bridge_yaml(tmp_path: Path) -> None:
    """Sections, tags, quotes and line numbers are right."""
    path = tmp_path / "run_config.yaml"
    found = facts(
        path,
        "model:\n  _target_: x.Y\n  recompute_granularity: full\n  cuda_graph_scope: !!python/tuple [attn]\n"
        "  lr_text: '1e-4'\ntrain:\n  global_batch_size: 32\nenv_vars:\n  NCCL_DEBUG: INFO\n",
    )
    assert found["config.recompute_granularity"] == "full"
    assert found["config.cuda_graph_scope"] == ["attn"]
    assert found["config.lr_text"] == "1e-4"
    assert found["config.global_batch_size"] == 32
    assert found["env.NCCL_DEBUG"] == "INFO"
    seen = {one.key: one.evidence for one in read_config_file(str(path))}
    assert seen["config.recompute_granularity"] is not None
    assert seen["config.recompute_granularity"].line == 3


def test_deepspeed_json(tmp_path: Path) -> None:
    """DeepSpeed's file is known by its keys."""
    found = facts(
        tmp_path / "ds.json",
        '{"train_micro_batch_size_per_gpu": 2,\n'
        '\t"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}}',
    )
    assert found["config.deepspeed.zero_optimization.stage"] == 3
    assert found["config.deepspeed.zero_optimization.offload_param.device"] == "cpu"
    assert found["config.micro_batch_size"] == 2


def test_hugging_face_json(tmp_path: Path) -> None:
    """A model's config.json gives Megatron's names."""
    found = facts(
        tmp_path / "config.json", '{"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "x": null}'
    )
    assert found["config.num_layers"] == 80
    assert found["config.hidden_size"] == 8192
    assert found["config.x"] is None


def test_toml(tmp_path: Path) -> None:
    """torchtitan's file is read."""
    found = facts(tmp_path / "job.toml", "[parallelism]\ntensor_parallel_degree = 4\n[training]\nseq_len = 8192\n")
    assert found["config.tensor_model_parallel_size"] == 4
    assert found["config.training.seq_len"] == 8192


def test_launch_script(tmp_path: Path) -> None:
    """Exports, Slurm options, flags in arrays and strings, and the launcher are read; comments are not."""
    found = facts(
        tmp_path / "train.sh",
        "#!/bin/bash\n#SBATCH --time=04:00:00\n#SBATCH --mem=0\n"
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\nexport WANDB_API_KEY=abc\n"
        "# --recompute-granularity full\n"
        "MODEL_ARGS=(\n    --num-layers 80\n    --recompute-granularity selective # cheap\n)\n"
        'EXTRA=" --bf16 --fp8-format hybrid"\n'
        "torchrun --nproc_per_node 8 --nnodes $N \\\n   pretrain_gpt.py ${MODEL_ARGS[@]} --seq-length 4096\n",
    )
    assert found["run.expandable_segments"] is True
    assert found["env.WANDB_API_KEY"] == "[masked]"
    assert found["config.slurm.time"] == "04:00:00"
    assert found["config.num_layers"] == 80
    assert found["config.recompute_granularity"] == "selective"
    assert found["config.fp8"] == "hybrid"
    assert found["config.bf16"] is True
    assert found["config.seq_length"] == 4096
    assert found["run.ranks_per_node"] == 8


def test_argument_file(tmp_path: Path) -> None:
    """A bare list of flags is configuration."""
    assert facts(tmp_path / "args", "--num-layers 4\n--bf16\n") == {"config.num_layers": 4, "config.bf16": True}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.yaml", "model:\n  a: [1\n", ":3:1: It is not valid YAML"),
        ("a.yaml", "- 1\n", ":1:1: It holds no settings"),
        ("a.json", '{"a": 1,}', ":1:9: It is not valid JSON"),
        ("a.toml", "a = \n", ":1:"),
        ("a.py", "x = 1\n", "A Python recipe"),
        ("a.yaml", "a: \0", "not a text file"),
    ],
)
def test_broken_files_say_where_and_what_to_do(tmp_path: Path, name: str, content: str, said: str) -> None:
    """The error names path, line and column, and ends with a way forward."""
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ConfigFileError) as error:
        read_config_file(str(path))
    assert str(error.value).startswith(f"{path}:")
    assert said in str(error.value)


def test_missing_file(tmp_path: Path) -> None:
    """A missing file is an error of the same kind."""
    with pytest.raises(ConfigFileError, match="cannot be opened"):
        read_config_file(str(tmp_path / "none.yaml"))


def test_aliases_cannot_blow_up(tmp_path: Path) -> None:
    """Nested aliases end at a budget."""
    levels = "".join(f"l{n}: &l{n} {{a: *l{n - 1}, b: *l{n - 1}}}\n" for n in range(1, 30))
    assert len(facts(tmp_path / "bomb.yaml", "l0: &l0 {x: 1}\n" + levels)) <= 20_000


def test_env_file(tmp_path: Path) -> None:
    """Bridge's environment dump, with its redacted keys."""
    path = tmp_path / "env_1.log"
    path.write_text("# dump\nHF_TOKEN=[REDACTED]\nNCCL_DEBUG=INFO\nexport A_B=1\n")
    found = {one.key: one.value for one in read_env_file(str(path))}
    assert found == {"env.HF_TOKEN": "[masked]", "env.NCCL_DEBUG": "INFO", "env.A_B": "1"}
    path.write_text("nothing\n")
    with pytest.raises(ConfigFileError, match="NAME=value"):
        read_env_file(str(path))


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("recompute-granularity=full", "config.recompute_granularity", "full"),
        ("num_experts=8", "config.num_moe_experts", 8),
        ("recompute_modules=core_attn,mlp", "config.recompute_modules", ["core_attn", "mlp"]),
        ("core=0.16.1", "version.core", "0.16.1"),
        ("NCCL_DEBUG=INFO", "env.NCCL_DEBUG", "INFO"),
        ("run.world_size=8", "run.world_size", 8),
        ("config.deepspeed.zero_optimization.stage=3", "config.deepspeed.zero_optimization.stage", 3),
    ],
)
def test_set(text: str, key: str, value: object) -> None:
    """The key's form tells what kind of fact it is."""
    seen = parse_set(text)
    assert (seen.key, seen.value, seen.origin) == (key, value, "set")


@pytest.mark.parametrize("text", ["", "x", "=1", "a b=1"])
def test_set_refuses(text: str) -> None:
    """Without key and value there is no fact."""
    with pytest.raises(ValueError, match="KEY=VALUE"):
        parse_set(text)


@settings(derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.text(max_size=200), ending=st.sampled_from(["yaml", "json", "toml", "sh", "txt"]))
def test_any_file(tmp_path: Path, content: str, ending: str) -> None:
    """Any content is read or refused, never a crash."""
    path = tmp_path / f"x.{ending}"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with contextlib.suppress(ConfigFileError):
        read_config_file(str(path))
