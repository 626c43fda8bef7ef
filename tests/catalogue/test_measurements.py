"""Measured prices are written once and quoted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diagnose.catalogue import load
from diagnose.catalogue.document import read_document
from diagnose.catalogue.form import Form, Report
from diagnose.catalogue.measurements import Workload, quoted, read_measurements

FILE = b"""
- id: llama
  workload: Llama3 70B, 32 GPUs
  source: Guide
  golden: 700
  rows:
    - {id: base, setting: '[core_attn]', tflops: 693, about: true, peak_gb: 58.8, outcome: out of memory}
    - {id: mlp, setting: '[mlp]', tflops: 595, peak_gb: 55.6, source: Other guide}
- id: moon
  workload: Moonlight, 8 GPUs
  source: Guide
  rows:
    - {id: none, setting: 'nothing', step_ms: 457.18}
"""


def table(text: bytes) -> Any:
    """Read YAML into a tree."""
    node, troubles = read_document("m.yaml", text)
    assert not troubles
    return node


@pytest.fixture
def measured() -> dict[str, Workload]:
    """Two workloads."""
    return read_measurements(Report(), table(FILE))


def quote(measured: dict[str, Workload], cost: bytes) -> tuple[tuple[str, str, str] | None, list[str]]:
    """Quote in a cost; give what came out and what was wrong."""
    report = Report()
    form = Form(report, table(cost), "`cost`", ("text", "measured"))
    return quoted(form, measured), [trouble.message for trouble in report.troubles]


def test_one_workload(measured: dict[str, Workload]) -> None:
    """Figures, workload and sources are quoted, with the caveat of one workload."""
    told, troubles = quote(measured, b"text: It is dear.\nmeasured: [llama/mlp, llama/base]\n")
    assert troubles == []
    assert told == (
        "It is dear, on one workload. [mlp]: 595 TFLOP/s/GPU (-15.0 % against golden 700), 55.6 GB; "
        "[core_attn]: about 693 TFLOP/s/GPU (-1.0 %), 58.8 GB, out of memory.",
        "Llama3 70B, 32 GPUs",
        "Other guide; Guide",
    )


def test_several_workloads(measured: dict[str, Workload]) -> None:
    """Rows of several workloads say which is which."""
    told, _ = quote(measured, b"measured: [llama/mlp, moon/none]\n")
    assert told is not None
    assert "; on Moonlight nothing: 457.18 ms a step. One workload each." in told[0]


def test_unknown_row(measured: dict[str, Workload]) -> None:
    """A row that is not there is named."""
    told, troubles = quote(measured, b"measured: [llama/mpl]\n")
    assert told is None
    assert troubles == ["nothing was measured as `llama/mpl`"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (b"{id: a, setting: b}", "nothing was measured"),
        (b"{id: a, setting: b, tflops: -1}", "`tflops` must be a number above zero"),
        (b"{id: a, setting: b, tflops: 1, speed: 2}", "a measured row has no key `speed`"),
    ],
)
def test_broken_row(row: bytes, says: str) -> None:
    """A row without a figure, with a wrong one or with an unknown key is refused."""
    report = Report()
    found = read_measurements(report, table(b"- {id: x, workload: w, source: s, rows: [" + row + b"]}\n"))
    assert found == {}
    assert [trouble.message for trouble in report.troubles] == [says]


def test_catalogue(packaged: Path, write: Any, good: str) -> None:
    """A pattern's cost quotes the shared file; a wrong name is told where it stands."""
    write("packaged/_shared/measurements.yaml", FILE.decode())
    cost = "cost: {text: slower, workload: one, source: own}"
    write("packaged/config/heads-not-divisible.yaml", good.replace(cost, "cost: {measured: [moon/none]}"))
    found = load()
    costs = [fix.cost.text for fix in found.patterns["heads-not-divisible"].fixes if fix.cost]
    assert (found.troubles, costs) == ((), ["nothing: 457.18 ms a step. One workload."])
    path = write("packaged/config/heads-not-divisible.yaml", good.replace(cost, "cost: {measured: [sun/none]}"))
    assert [(each.path, each.message) for each in load().troubles] == [
        (str(path), "nothing was measured as `sun/none`")
    ]
