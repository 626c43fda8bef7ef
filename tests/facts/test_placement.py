"""Which rank runs where."""

from __future__ import annotations

import pytest

from diagnose.facts.placement import pci_of


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("1b000", "0000:1b:00"),
        ("0000:1B:00.0", "0000:1b:00"),
        ("00000000:3b:00.0", "0000:3b:00"),
        ("2a:00", "0000:2a:00"),
        ("", "0000:00:00"),
    ],
)
def test_one_form_of_an_address(text: str, address: str) -> None:
    """NCCL and the kernel write the same GPU's address in different ways."""
    assert pci_of(text) == address
