"""Secrets."""

from __future__ import annotations

import pytest

from diagnose.facts.secrets import hide, is_secret


@pytest.mark.parametrize("name", ["HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD"])
def test_secret_names(name: str) -> None:
    """Names that sound like secrets are, wherever the word stands."""
    assert is_secret(name)


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "NCCL_DEBUG", "TORCH_NCCL_KEY_X", "HOME"])
def test_other_names(name: str) -> None:
    """Names of ML variables are not."""
    assert not is_secret(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("export HF_TOKEN='a b' X=1", "export HF_TOKEN=[masked] X=1"),
        ("run --api-key abc --lr 1", "run --api-key [masked] --lr 1"),
        ("'WANDB_API_KEY': 'abc', 'A': '1'", "'WANDB_API_KEY': [masked], 'A': '1'"),
        ("hub_token=hf_x,", "hub_token=[masked],"),
        ("pad_token_id: 0", "pad_token_id: 0"),
        ("KeyError: 'x'", "KeyError: 'x'"),
    ],
)
def test_shown_lines(text: str, shown: str) -> None:
    """Only the value is masked, and nothing that is no secret."""
    assert hide(text) == shown
