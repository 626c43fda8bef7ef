"""Environment variables in logs."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    "line",
    [
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "+ export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "++ export 'PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64,expandable_segments:True'",
        'declare -x PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"',
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "PYTORCH_ALLOC_CONF=expandable_segments:True python x.py",
        "setenv PYTORCH_ALLOC_CONF expandable_segments:True",
        "environ({'NCCL_DEBUG': 'INFO', 'PYTORCH_CUDA_ALLOC_CONF': 'expandable_segments:True'})",
    ],
)
def test_allocator_settings(log: Any, line: str) -> None:
    """Every way to echo the allocator's variable tells whether expandable segments are on."""
    assert log(f"start\n{line}\nnext\n").facts()["run.expandable_segments"] is True


@pytest.mark.parametrize(
    "line",
    [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. If reserved but unallocated memory is "
        "large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
        "AssertionError: Setting NCCL_GRAPH_REGISTER=0 to avoid illegal memory access when using CUDA Graph with "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
        '    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"',
        "Please export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True and try again",
        "export PYTORCH_CUDA_ALLOC_CONF=$MY_CONF",
    ],
)
def test_advice_is_no_setting(log: Any, line: str) -> None:
    """A message that recommends a variable does not set it."""
    assert log(line + "\n").facts() == {}


def test_other_allocator_settings_mean_off(log: Any) -> None:
    """The variable is seen and expandable segments are not in it."""
    facts = log("export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512\n").facts()
    assert facts["run.expandable_segments"] is False
    assert facts["env.PYTORCH_CUDA_ALLOC_CONF"] == "max_split_size_mb:512"


def test_a_dump_is_believed_whole_and_keeps_no_secret(log: Any) -> None:
    """In a block of five or more every name counts; values of keys and tokens are masked, in the line too."""
    made = log(
        "AWS_SECRET_ACCESS_KEY=s3cr3t\nHOME=/root\nHF_TOKEN=hf_abc\nMASTER_ADDR=n1\nMY_SWITCH=a b\n"
        "NCCL_DEBUG=WARN\nTOKENIZERS_PARALLELISM=false\n"
    )
    facts = made.facts()
    assert facts["env.MY_SWITCH"] == "a b"
    assert facts["env.HF_TOKEN"] == facts["env.AWS_SECRET_ACCESS_KEY"] == "[masked]"
    assert facts["env.TOKENIZERS_PARALLELISM"] == "false"
    assert "s3cr3t" not in repr(made.observations())
    assert len([one for one in made.observations() if one.key == "env.NCCL_DEBUG"]) == 1


def test_nccl_says_what_it_took_from_the_environment(log: Any) -> None:
    """NCCL's own line is the best witness."""
    facts = log("n1:12:34 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.\n").facts()
    assert facts["env.NCCL_IB_TIMEOUT"] == "22"
