"""The reports of a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import diagnose
from diagnose.data import data_path
from diagnose.reason.compare import Comparison
from diagnose.report import compare_json, compare_markdown, compare_text
from tests.reason.compare.logs import bridge_log
from tests.report.build import context


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Three runs, the last of which is slower and needs less memory."""
    folder: Path = tmp_path_factory.mktemp("runs")
    return diagnose.compare(
        [
            bridge_log(folder / "base|line.log", ms=3050, tflops=704, peaks={0: 58.8, 8: 51.0}, oom=0),
            bridge_log(folder / "same.log", ms=3055, tflops=703, peaks={0: 58.8, 8: 51.0}, seed=1),
            bridge_log(
                folder / "mlp.log",
                ms=3617,
                tflops=593.6,
                peaks={0: 55.6, 8: 48.0},
                seed=2,
                model={"recompute_modules": ["mlp"]},
            ),
        ]
    )


def test_json(comparison: Comparison) -> None:
    """The JSON keeps to its published schema."""
    schema = json.loads((data_path("schemas") / "comparison-v1.schema.json").read_text())
    data = json.loads(compare_json.render(comparison, context()))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(data)
    assert list(data) == schema["required"]
    assert [side["peaks"][0]["rank"] for side in data["runs"]] == [0, 0, 0]


def test_text(comparison: Comparison) -> None:
    """Runs, memory, changes and settings stand in columns; what the catalogue knows follows."""
    lines = compare_text.render(comparison, context(width=120)).splitlines()
    header = next(line for line in lines if line.startswith("Runs"))
    speeds = next(line for line in lines if line.strip().startswith("TFLOP/s/GPU"))
    assert speeds.index("704") == header.index("base|line.log")
    assert any("recompute_modules" in line and "[mlp]" in line for line in lines)
    assert any("[throughput-drop-mlp-recompute; " in line for line in lines)
    assert any("cost: About 3 GB more, for about 16 % throughput back, on one workload." in line for line in lines)


def test_quiet(comparison: Comparison) -> None:
    """One line is one line."""
    line = compare_text.render(comparison, context(quiet=True))
    assert line.startswith("mixed: mlp.log no longer fails, but is slower than base|line.log")
    assert line.count("\n") == 1


def test_markdown(comparison: Comparison) -> None:
    """Tables hold, whatever a file is called."""
    text = compare_markdown.render(comparison, context())
    header = next(line for line in text.splitlines() if line.startswith("|  |"))
    assert header == "|  | base\\|line.log | same.log | mlp.log |"
    assert "### Change" in text
    assert "`throughput-drop-mlp-recompute`" in text
