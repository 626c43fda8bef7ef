"""Configurations that have not run, as files, arguments and overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.facts.intended import intended_facts
from diagnose.facts.run import Facts

YAML = "model:\n  recompute_granularity: full\ntrain:\n  micro_batch_size: 1\n"


@pytest.mark.parametrize(
    ("name", "content", "framework"),
    [
        ("run.yaml", YAML, "megatron-bridge"),
        ("fields.yaml", "recompute_granularity: full\n", "megatron-core"),
        ("run.sh", "#!/bin/bash\ntorchrun pretrain_gpt.py \\\n  --recompute-granularity full\n", "megatron-lm"),
        ("args.txt", "--recompute-granularity full\n--num-layers 4\n", "megatron-lm"),
        ("nemo.yaml", "trainer:\n  devices: 8\nmodel:\n  recompute_granularity: full\n", "nemo"),
    ],
)
def test_form(tmp_path: Path, name: str, content: str, framework: str) -> None:
    """The form of a file tells who constructs it, and its settings are read."""
    (tmp_path / name).write_text(content)
    found, told = intended_facts(config=tmp_path / name)
    assert told == framework
    assert Facts(found).value("config.recompute_granularity") == "full"


@pytest.mark.parametrize(
    ("arguments", "framework"),
    [
        (["pretrain_gpt.py", "--recompute-granularity", "full"], "megatron-lm"),
        (["torchrun --nproc-per-node 8 pretrain_gpt.py --recompute-granularity full"], "megatron-lm"),
        (["model.recompute_granularity=full"], "megatron-bridge"),
        (["model.recompute_granularity", "=", "full"], "megatron-bridge"),
        (["model.recompute_granularity=", "full"], "megatron-bridge"),
        (["cfg.model.recompute_granularity", "=full", "cfg.train.train_iters", "=", "5"], "megatron-bridge"),
        (["cfg.model.recompute_granularity = full"], "megatron-bridge"),
        (['cfg.model.recompute_granularity = "full"', "cfg.train.train_iters = 5"], "megatron-bridge"),
    ],
)
def test_arguments(arguments: list[str], framework: str) -> None:
    """A command line may come as words, as one text, or as overrides."""
    found, told = intended_facts(arguments=arguments)
    assert told == framework
    assert Facts(found).value("config.recompute_granularity") == "full"


def test_nothing_in_them() -> None:
    """Arguments that hold no setting are no configuration without a conflict."""
    with pytest.raises(ValueError, match="'foo bar' holds no setting"):
        intended_facts(arguments=["foo", "bar"])


def test_overrides_go_over_the_file(tmp_path: Path) -> None:
    """What stands on the command line is stronger than the file."""
    (tmp_path / "run.yaml").write_text(YAML)
    found, framework = intended_facts(config=tmp_path / "run.yaml", arguments=["model.recompute_granularity=selective"])
    assert framework == "megatron-bridge"
    assert Facts(found).value("config.recompute_granularity") == "selective"


@pytest.mark.parametrize(("text", "framework"), [("bridge=0.4.2", "megatron-bridge"), ("lm=0.16.1", "megatron-lm")])
def test_version_tells(text: str, framework: str) -> None:
    """A named version tells the framework too."""
    assert intended_facts(versions=[text])[1] == framework


@pytest.mark.parametrize("text", ["frog", "core=", "core=new", "frog=1.0"])
def test_no_version(text: str) -> None:
    """What is no version is refused with an example."""
    with pytest.raises(ValueError, match=r"core=0\.16\.1"):
        intended_facts(versions=[text])
