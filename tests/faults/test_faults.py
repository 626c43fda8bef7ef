"""Real gloo jobs with a fault in them: the rank that failed is named. Slow; skipped where PyTorch is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from diagnose.catalogue.model import Catalogue
from diagnose.facts.collect import Probe, collect
from diagnose.read import find_sources
from diagnose.reason import reason
from tests.faults.injector import FAULTS, Fault, run

PYTHON = os.environ.get("DIAGNOSE_TORCH_PYTHON", sys.executable)  # an interpreter that has PyTorch
NAMED = {fault.name: fault for fault in reversed(FAULTS)}


@pytest.fixture(scope="module")
def torch_python() -> str:
    """An interpreter with PyTorch; skips the test where there is none."""
    found = subprocess.run(
        [PYTHON, "-c", "import torch.distributed as d; assert d.is_gloo_available()"], capture_output=True
    )
    if found.returncode:
        pytest.skip("PyTorch is not installed")
    return PYTHON


@pytest.mark.torch
@pytest.mark.parametrize(
    ("fault", "layout"),
    [
        (NAMED["key-error"], "tree"),
        (NAMED["sigkill"], "merged"),
        (NAMED["hang"], "blocks"),
        (NAMED["out-of-memory"], "zones"),
    ],
    ids=lambda value: value.name if isinstance(value, Fault) else value,
)
def test_fault(fault: Fault, layout: str, tmp_path: Path, packaged: Catalogue, probe: Probe, torch_python: str) -> None:
    """The verdict, the rank, the line and the category are those of the fault."""
    folder = run(fault, layout, tmp_path, python=torch_python)
    sources, problems = find_sources([str(folder)])
    diagnosis = reason([collect(source, probe) for source in sources], packaged, problems=problems)
    root = diagnosis.root_cause
    assert diagnosis.verdict in fault.verdicts, diagnosis.summary
    assert root is not None
    assert root.evidence[0].rank == fault.rank
    assert fault.text in root.evidence[0].text
    assert not fault.categories or root.category in fault.categories
