"""The JSON reports."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.data import data_path
from diagnose.reason.result import ConfigValue, Diagnosis, Run
from diagnose.report import RENDERERS
from tests.report.build import ALL, context, line, out_of_memory


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The published schema."""
    loaded: dict[str, Any] = json.loads((data_path("schemas") / "diagnosis-v1.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(loaded)
    return loaded


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize("name", sorted(ALL))
def test_valid_under_the_schema(name: str, form: str, schema: dict[str, Any]) -> None:
    """Every verdict's JSON is valid under the published schema."""
    jsonschema.validate(json.loads(RENDERERS[form](ALL[name](), context())), schema)


def test_schema_knows_every_key(schema: dict[str, Any]) -> None:
    """Each key that is printed is described in the schema and required by it."""
    data = json.loads(RENDERERS["json"](out_of_memory(), context()))
    assert set(data) == set(schema["properties"]) == set(schema["required"])
    finding, definition = data["root_cause"], schema["definitions"]["finding"]
    assert set(finding) == set(definition["properties"]) == set(definition["required"])
    assert set(data["run"]) == set(schema["definitions"]["run"]["required"])
    assert set(data["plan"][0]) == set(schema["definitions"]["fix"]["required"])


def test_keys_are_never_missing(schema: dict[str, Any]) -> None:
    """A diagnosis that knows nothing has all keys, with null or empty values."""
    data = json.loads(RENDERERS["json"](Diagnosis("no_failure", "Nothing failed."), context()))
    jsonschema.validate(data, schema)
    assert data["root_cause"] is None
    assert data["alternatives"] == []
    assert data["run"]["progress"]["last_iteration"] is None


def test_first_evidence_is_complete() -> None:
    """Evidence carries path, line, text, rank, node and time."""
    data = json.loads(RENDERERS["json"](out_of_memory(), context()))
    evidence = data["root_cause"]["evidence"][0]
    assert (evidence["path"], evidence["line"], evidence["rank"], evidence["node"]) == ("train.log", 88412, 3, "node-2")
    assert evidence["time"] == "2026-07-10T02:14:07"


def test_jsonl_is_one_line() -> None:
    """The jsonl report is one line with the same data."""
    text = RENDERERS["jsonl"](out_of_memory(), context())
    assert text.count("\n") == 1
    assert json.loads(text) == json.loads(RENDERERS["json"](out_of_memory(), context()))


def test_numbers_that_json_does_not_know(schema: dict[str, Any]) -> None:
    """NaN and infinity become null where measured and their names where configured."""
    run = Run(
        config={"clip": ConfigValue(math.inf, "--set"), "tags": ConfigValue({"a": (1, {2})}, "x.log:1")},
        throughput={"tflops": math.nan},
        silent_seconds=math.inf,
    )
    data = json.loads(RENDERERS["json"](Diagnosis("no_failure", "", run=run), context()))
    jsonschema.validate(data, schema)
    assert data["run"]["config"]["clip"]["value"] == "inf"
    assert data["run"]["throughput"]["tflops"] is None
    assert data["run"]["progress"]["silent_seconds"] is None


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.text(st.characters()), st.text())
def test_any_text_can_be_read_again(path: str, text: str) -> None:
    """Whatever a log or a file name holds, the JSON is ASCII and decodes without half characters."""
    printed = RENDERERS["jsonl"](Diagnosis("unknown", text, notes=(line(1, text, path=path),)), context())
    assert printed.isascii()
    json.loads(printed)["summary"].encode("utf-8")
    assert printed.count("\n") == 1


def test_surrogates_are_replaced() -> None:
    """A file name that is not UTF-8 does not put half a character into the JSON."""
    printed = RENDERERS["json"](replace(out_of_memory(), summary="a\udc80b"), context())
    assert json.loads(printed)["summary"] == "a\ufffdb"
