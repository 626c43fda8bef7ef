"""The reports of a forecast."""

from __future__ import annotations

import json

import jsonschema
import pytest

import diagnose
from diagnose.data import data_path
from diagnose.reason.forecast import Forecast
from diagnose.report import forecast_json, forecast_text
from tests.report.build import context


@pytest.fixture(scope="module")
def forecast() -> Forecast:
    """A configuration that would fail, with a risk beside it."""
    return diagnose.forecast(
        arguments=[
            *("pretrain_gpt.py", "--cpu-offloading-num-layers", "2", "--pipeline-model-parallel-size", "2"),
            *("--num-layers", "4", "--recompute-granularity", "selective", "--recompute-modules", "mlp"),
        ],
    )


def test_json(forecast: Forecast) -> None:
    """The JSON keeps to its published schema."""
    schema = json.loads((data_path("schemas") / "forecast-v1.schema.json").read_text())
    data = json.loads(forecast_json.render(forecast, context()))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(data)
    assert list(data) == schema["required"]
    assert data["fails"][0]["printed"][0]["exception"] == "ValueError"


def test_text(forecast: Forecast) -> None:
    """The text says what fails, what it prints, in which releases, and the way out; it fits the width."""
    text = forecast_text.render(forecast, context(width=100))
    assert "Would fail at start-up" in text
    assert "prints ValueError: Currently there is no support for Pipeline parallelism with CPU" in text
    assert "Megatron Core 0.12 to 0.19" in text
    assert "[cpu-offload-pipeline-parallel]" in text
    assert "throughput-drop-mlp-recompute" in text
    assert all(len(line) <= 100 for line in text.splitlines() if "export" not in line and "--" not in line)


def test_quiet_and_verbose(forecast: Forecast) -> None:
    """One line is one line; everything shows what the first screen leaves out."""
    assert forecast_text.render(forecast, context(quiet=True)).count("\n") == 1
    plain, verbose = (forecast_text.render(forecast, context(verbose=flag)) for flag in (False, True))
    assert len(verbose) > len(plain)
    assert "more fix" in plain
    assert "more fix" not in verbose
