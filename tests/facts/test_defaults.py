"""Defaults hold for the releases they are given for."""

from __future__ import annotations

import pytest

from diagnose.catalogue.condition import Seen
from diagnose.catalogue.version import Version
from diagnose.facts.defaults import constructed_defaults, defaults_for, unknown_to


def constructed(release: str, framework: str = "megatron-core") -> dict[str, object]:
    """Return the defaults of a release by key."""
    version = Version.parse(release)
    assert version is not None
    return {each.key.removeprefix("config."): each.value for each in constructed_defaults(version, framework)}


@pytest.mark.parametrize(
    ("release", "scope", "modules"),
    [("0.14.0", ["full"], None), ("0.16.1", [], None), ("0.18.2", None, []), (">=0.18,<0.19", None, [])],
)
def test_graph_scope(release: str, scope: object, modules: object) -> None:
    """The scope's default changed with 0.16 and its name with 0.18; a field that is not there counts as off."""
    found = constructed(release)
    assert (found["cuda_graph_scope"], found["cuda_graph_modules"]) == (scope, modules)


def test_frameworks() -> None:
    """What a framework derives from something else has no default; what it sets otherwise has its own."""
    assert constructed("0.16.1")["pipeline_dtype"] is None
    assert "pipeline_dtype" not in constructed("0.16.1", "megatron-lm")
    assert "bf16" not in constructed("0.16.1", "megatron-bridge")
    assert constructed("0.16.1", "megatron-lm")["gradient_accumulation_fusion"] is True


def test_unknown_version() -> None:
    """Without a version only what holds in all releases is listed."""
    keys = {each.key for each in defaults_for(None)}
    assert "config.tensor_model_parallel_size" in keys
    assert "config.cuda_graph_impl" not in keys
    version = Version.parse("0.16.1")
    assert "config.cuda_graph_impl" in {each.key for each in defaults_for(Seen(version))}


def test_unknown_settings() -> None:
    """A setting of later releases is unknown to an older one."""
    version = Version.parse(">=0.13,<0.14")
    assert version is not None
    assert "config.cuda_graph_impl" in unknown_to(version)
    assert "config.recompute_modules" not in unknown_to(version)
