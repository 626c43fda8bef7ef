from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from diagnose.catalogue import build, rules
from diagnose.catalogue.measurements import COST_KEYS
from diagnose.catalogue.model import CATEGORIES, CONTEXTS, ROLES, SPECIFICITIES, STATUSES
from diagnose.data import data_path

HERE = Path(__file__).parent
BROKEN: list[dict[str, Any]] = yaml.safe_load((HERE / "data" / "broken.yaml").read_text())
PATTERNS = [path for path in sorted(data_path("patterns").glob("**/*.yaml")) if "_shared" not in path.parts]
SHARED = sorted(data_path("patterns").glob("_shared/*.yaml"))


@pytest.fixture(scope="module")
def schema() -> Any:
    """Return the published schema."""
    return json.loads((data_path("schemas") / "pattern-v1.schema.json").read_text())


@pytest.fixture(scope="module")
def validator(schema: Any) -> Any:
    """Return a draft-07 validator of the published schema."""
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def test_shipped_patterns(validator: Any) -> None:
    """Every shipped pattern file keeps to the schema."""
    faults = [
        f"{path.name}: {list(fault.path)} {fault.message[:200]}"
        for path in PATTERNS
        for fault in validator.iter_errors(yaml.load(path.read_text(), Loader=yaml.CSafeLoader))
    ]
    assert faults == []


def test_shipped_shared_entries(schema: Any) -> None:
    """Every shared check, fix and rule of placement keeps to the schema of its kind."""
    faults = []
    for path in SHARED:
        if path.stem == "measurements":
            continue
        kind = {"checks": "check", "fixes": "fix", "placement": "placement"}[path.stem]
        body = {"$ref": f"#/definitions/{kind}", "definitions": schema["definitions"]}
        entries = yaml.safe_load(path.read_text())
        for entry in entries["rules"] if kind == "placement" else entries:
            faults += [f"{path.name}: {fault.message}" for fault in jsonschema.Draft7Validator(body).iter_errors(entry)]
    assert faults == []


def test_good(validator: Any, good: str) -> None:
    """The file that the loader finds good is good for the schema."""
    assert list(validator.iter_errors(yaml.safe_load(good))) == []


@pytest.mark.parametrize("case", [case for case in BROKEN if case["schema"]], ids=lambda case: str(case["with"])[:40])
def test_broken(case: dict[str, Any], validator: Any, good: str) -> None:
    """What is wrong in shape is refused by the schema as it is by the loader."""
    text = good.replace(case["text"], case["with"], 1)
    assert list(validator.iter_errors(yaml.safe_load(text)))


def test_same_words(schema: Any) -> None:
    """The schema and the loader know the same keys and words."""
    top, parts = schema["properties"], schema["definitions"]
    assert set(top) == set(build.KEYS)
    assert tuple(top["category"]["enum"]) == CATEGORIES
    assert tuple(top["role"]["enum"]) == ROLES
    assert tuple(top["status"]["enum"]) == STATUSES
    assert tuple(top["specificity"]["enum"]) == SPECIFICITIES
    assert tuple(top["action"]["properties"]["restart"]["enum"]) == build.RESTARTS
    assert tuple(top["action"]["properties"]["scope"]["enum"]) == build.SCOPES
    assert set(parts["alternative"]["properties"]) == set(build.ALTERNATIVE_KEYS)
    assert tuple(parts["alternative"]["properties"]["context"]["enum"]) == CONTEXTS
    assert set(parts["check"]["properties"]) == set(rules.CHECK_KEYS)
    assert set(parts["cause"]["properties"]) == set(rules.CAUSE_KEYS)
    assert set(parts["fix"]["properties"]) == set(rules.FIX_KEYS)
    assert set(parts["fix"]["properties"]["cost"]["properties"]) == set(COST_KEYS)
    assert set(parts["fix"]["properties"]["how"]["items"]["properties"]) == {*rules.TARGETS, "when", "holds"}


def test_overlays(validator: Any) -> None:
    """A file that switches a pattern off, or adds to one, needs no more than its id."""
    assert validator.is_valid({"id": "x", "disabled": True})
    assert validator.is_valid({"id": "x", "override": "append", "references": ["more"]})
    assert not validator.is_valid({"id": "x", "override": "replace"})
    assert not validator.is_valid({"id": "x", "disabled": False})
