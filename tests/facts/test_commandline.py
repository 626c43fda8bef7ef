"""Command lines that logs echo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent.parent / "data" / "facts"


def test_traced_torchrun_with_continuations(log: Any) -> None:
    """The launcher's options give the world size, the program's give the configuration."""
    facts = log(
        "+ NCCL_DEBUG=INFO torchrun --nnodes 2 --nproc_per_node 8 --master_addr n1 pretrain_gpt.py \\\n"
        "    --tensor-model-parallel-size 4 \\\n"
        "    --recompute-granularity selective --recompute-modules core_attn mlp \\\n"
        "    --fp8-format hybrid --lr 1.5e-4 --num-experts 8 \\\n"
        "    --no-check-for-nan-in-loss-and-grad --bf16\n"
        "--not-part 3\n"
    ).facts()
    assert facts["run.world_size"] == 16
    assert facts["env.NCCL_DEBUG"] == "INFO"
    assert facts["config.tensor_model_parallel_size"] == 4
    assert facts["config.recompute_granularity"] == "selective"
    assert facts["config.recompute_modules"] == ["core_attn", "mlp"]
    assert facts["config.fp8"] == "hybrid"
    assert facts["config.lr"] == 1.5e-4
    assert facts["config.num_moe_experts"] == 8
    assert facts["config.check_for_nan_in_loss"] is False
    assert facts["config.bf16"] is True
    assert not [key for key in facts if "nproc" in key or "master" in key or "not_part" in key]


@pytest.mark.parametrize(
    "line",
    [
        "srun --ntasks 8 --export=ALL,NCCL_DEBUG=INFO python -u pretrain_gpt.py --recompute-granularity full",
        "[2026-11-29 21:32:06,267] [INFO] [runner.py:571:main] cmd = /usr/bin/python3 -u -m "
        "deepspeed.launcher.launch --world_info=e30= pretrain_gpt.py --recompute-granularity=full",
        "argv: ['/w/pretrain_gpt.py', '--recompute-granularity', 'full']",
        "COMMAND: python -m torch.distributed.run --nproc_per_node=8 pretrain_gpt.py --recompute-granularity full",
        "+ python recipe.py model.recompute_granularity=full --config-name x",
        "accelerate launch --num_processes 8 pretrain_gpt.py --recompute-granularity full",
    ],
)
def test_launchers(log: Any, line: str) -> None:
    """Every launcher's echo is read."""
    assert log(line + "\n").facts()["config.recompute_granularity"] == "full"


def test_bridge_overrides(log: Any) -> None:
    """Hydra-style overrides are nested settings."""
    facts = log(
        "+ torchrun --nproc_per_node=8 run.py model.cuda_graph_impl=none train.global_batch_size=32 "
        "rerun_state_machine.check_for_nan_in_loss=False '+model.recompute_modules=[core_attn,mlp]'\n"
    ).facts()
    assert facts["config.cuda_graph_impl"] == "none"
    assert facts["config.global_batch_size"] == 32
    assert facts["config.check_for_nan_in_loss"] is False
    assert facts["config.recompute_modules"] == ["core_attn", "mlp"]


@pytest.mark.parametrize(
    "line",
    [
        "usage: pretrain_gpt.py [-h] --tensor-model-parallel-size N [--recompute-granularity {full,selective}]",
        "pretrain_gpt.py: error: argument --recompute-granularity: invalid choice: 'ful' (choose from 'full')",
        "  --recompute-granularity {full,selective}",
        "  --recompute-granularity full is what you want when nothing else fits",
        "ValueError: try torchrun --recompute-granularity full",
        "Set --tensor-model-parallel-size 4 in pretrain_gpt.py --recompute-granularity full",
        "torchrun is deprecated, see the manual",
    ],
)
def test_words_about_options_are_no_settings(log: Any, line: str) -> None:
    """Help, errors and prose that quote options set nothing."""
    assert [key for key in log(line + "\n").facts() if key.startswith("config.")] == []


def test_help_text_sets_nothing(log: Any) -> None:
    """The real help of Megatron-LM holds hundreds of options and no setting."""
    assert [key for key in log((DATA / "mcore_help.log").read_bytes()).facts() if key.startswith("config.")] == []


def test_secrets_on_a_command_line_are_masked(log: Any) -> None:
    """Neither the value nor the shown line holds the secret."""
    seen = log("+ WANDB_API_KEY=abcdef123 torchrun train.py --hf-token hf_secret9 --lr 1\n").observations()
    assert "abcdef123" not in repr(seen)
    assert "hf_secret9" not in repr(seen)
    assert any(one.key == "config.lr" for one in seen)


def test_unknown_shell_variables_are_left_out(log: Any) -> None:
    """`$TP` tells nothing; a default in braces does."""
    facts = log("+ torchrun train.py --tensor-model-parallel-size $TP --seq-length ${SEQ:-4096}\n").facts()
    assert "config.tensor_model_parallel_size" not in facts
    assert facts["config.seq_length"] == 4096


def test_world_size_is_not_guessed(log: Any) -> None:
    """With an unknown number of nodes only the ranks of one node are known."""
    facts = log("+ torchrun --nnodes $N --nproc_per_node 8 train.py --lr 1\n").facts()
    assert facts["run.ranks_per_node"] == 8
    assert "run.world_size" not in facts
