"""Whose code raised an exception decides its category, and nothing else does."""

from __future__ import annotations

import pytest

from tests.conftest import Diagnose
from tests.reason.words import traceback


@pytest.mark.parametrize(
    ("file", "category"),
    [
        ("/data/lee/Megatron-LM/megatron/model/transformer.py", "code"),
        ("/mnt/data/someone/project/src/model/attention.py", "code"),
        ("/opt/acme/data/reader.py", "data"),
        ("/opt/acme/datasets/text/reader.py", "data"),
    ],
)
def test_data_folder(diagnose_logs: Diagnose, file: str, category: str) -> None:
    """A disk that is called data makes no data loader of the code below it."""
    diagnosis = diagnose_logs({"train.log": traceback("acme.FrobError: out of tune", file=file)})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == category
