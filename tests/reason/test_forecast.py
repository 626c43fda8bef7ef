"""The forecast, held against what the real validators said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diagnose
from diagnose.api import load_catalogue
from diagnose.catalogue.model import Catalogue
from diagnose.facts.model import Observation
from diagnose.reason.forecast import Forecast, forecast
from tests.reason.forecasts import facts_of, rows

_CATALOGUE = load_catalogue()
HIDDEN = (
    "recompute-fp8-layernorm-moe-act",
    "transformer-engine-missing",
)  # decided by the installed Transformer Engine


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The packaged catalogue, loaded once."""
    return load_catalogue()


def of(row: dict[str, Any], catalogue: Catalogue, folder: Path) -> Forecast:
    """Judge one row."""
    return forecast(catalogue, *facts_of(row, folder))


def test_what_was_accepted(catalogue: Catalogue, tmp_path: Path) -> None:
    """No configuration that the real validator accepted is called failing."""
    accepted = [row for row in rows() if row["outcome"] == "no_error"]
    wrong = {
        f"{row['framework']} {row['version']} {row['case']}": [each.finding.pattern for each in told.fails]
        for row in accepted
        if (told := of(row, catalogue, tmp_path)).fails
    }
    assert len(accepted) > 50
    assert wrong == {}


def test_what_was_refused(catalogue: Catalogue, tmp_path: Path) -> None:
    """Of what the real validator refused, at least 95 % is foretold with the pattern of its message."""
    refused = [row for row in rows() if row["outcome"] == "raised"]
    missed = [
        f"{row['framework']} {row['version']} {row['case']}: {row['pattern']}"
        for row in refused
        if row["pattern"] not in {each.finding.pattern for each in of(row, catalogue, tmp_path).fails}
    ]
    assert len(refused) > 140
    assert len(missed) <= 0.05 * len(refused), missed


def test_the_error_itself(catalogue: Catalogue, tmp_path: Path) -> None:
    """The error that is foretold is of the type that was really raised."""
    known = [row for row in rows() if row["outcome"] == "raised" and row["pattern"] not in HIDDEN]
    wrong = []
    for row in known:
        told = [each for each in of(row, catalogue, tmp_path).fails if each.finding.pattern == row["pattern"]]
        types = {printed.exception for each in told for printed in each.printed} - {""}
        if types and row["error"].partition(":")[0] not in types:
            wrong.append((row["case"], row["version"], row["error"], types))
    assert len(wrong) <= 0.06 * len(known), wrong


class TestReleases:
    """A configuration without a version is tried against all lines of releases."""

    def test_range(self, catalogue: Catalogue) -> None:
        """It says which releases refuse it, and what each of them prints."""
        arguments = ["--recompute-granularity", "full", "--recompute-method", "uniform", "--recompute-num-layers", "1"]
        told = diagnose.forecast(arguments=[*arguments, "--cuda-graph-impl", "transformer_engine"], catalogue=catalogue)
        graphs = next(each for each in told.fails if each.finding.pattern == "cuda-graph-full-recompute")
        assert told.tried == "Megatron Core 0.12 to 0.19"
        assert graphs.releases == "Megatron Core 0.15 and later"
        assert graphs.printed[-1].releases == "Megatron Core 0.16 and later"
        assert "full iteration CUDA graph" in graphs.printed[-1].message

    def test_one(self, catalogue: Catalogue) -> None:
        """With a version there is one answer: a module that a release does not know is refused by it alone."""
        arguments = ["--recompute-granularity", "selective", "--recompute-modules", "gdn_norm_out"]
        ids = {
            version: {each.finding.pattern for each in told.fails}
            for version in ("0.16.1", "0.19.0")
            if (told := diagnose.forecast(arguments=arguments, versions=[f"core={version}"], catalogue=catalogue))
        }
        assert "recompute-unknown-module" in ids["0.16.1"]
        assert "recompute-unknown-module" not in ids["0.19.0"]
        assert "recompute-gdn-norm-out-without-gdn" in ids["0.19.0"]

    def test_bridge(self, catalogue: Catalogue) -> None:
        """A Bridge release stands for the Megatron Core it pins."""
        told = diagnose.forecast(
            settings=["cuda_graph_impl=full_iteration", "check_for_nan_in_loss=False"],
            versions=["bridge=0.4.2"],
            catalogue=catalogue,
        )
        assert told.framework == "megatron-bridge"
        assert [each.finding.pattern for each in told.fails] == ["cuda-graph-implementation-unknown"]

    def test_settings_are_shown_as_given(self, catalogue: Catalogue) -> None:
        """Where newer releases take a setting for another one, the answer still shows what was written."""
        told = diagnose.forecast(
            arguments=[
                *("cfg.model.recompute_granularity=full", "cfg.model.recompute_method=uniform"),
                *("cfg.model.recompute_num_layers=1", "cfg.model.cuda_graph_impl=transformer_engine"),
                "cfg.model.cuda_graph_scope=[mlp]",
            ],
            catalogue=catalogue,
        )
        found = next(each for each in told.fails if each.finding.pattern == "cuda-graph-full-recompute")
        assert "scope [mlp]" in found.finding.title + told.summary
        assert found.releases == "Megatron Bridge 0.2 to 0.6"


class TestKinds:
    """What fails at once, what fails later, what depends, and what is only a risk."""

    def test_later(self, catalogue: Catalogue) -> None:
        """What Bridge accepts at start-up and what stops at graph capture is no start-up failure."""
        told = diagnose.forecast(
            settings=[
                *("cuda_graph_impl=transformer_engine", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
                *("use_te_rng_tracker=True", "NCCL_GRAPH_REGISTER=1"),
            ],
            versions=["bridge=0.4.2"],
            catalogue=catalogue,
        )
        assert told.verdict == "would_fail_later"
        assert [each.finding.pattern for each in told.later] == ["cuda-graph-expandable-segments"]

    def test_depends(self, catalogue: Catalogue) -> None:
        """A variable that nobody mentions is named, and the answer is left open."""
        told = diagnose.forecast(
            arguments=["--tensor-model-parallel-size", "2"], versions=["core=0.16.1"], catalogue=catalogue
        )
        assert told.verdict == "no_conflict"
        assert [(each.finding.pattern, each.depends_on) for each in told.depends] == [
            ("cuda-device-max-connections", ("CUDA_DEVICE_MAX_CONNECTIONS", "gpu_model"))
        ]

    def test_risk(self, catalogue: Catalogue) -> None:
        """mlp recompute is no failure; it is a risk with its measured price."""
        told = diagnose.forecast(
            settings=["recompute_granularity=selective", "recompute_modules=[mlp]", "ffn_hidden_size=28672"],
            versions=["core=0.16.1"],
            catalogue=catalogue,
        )
        assert told.verdict == "at_risk"
        risk = next(each for each in told.risks if each.finding.pattern == "throughput-drop-mlp-recompute")
        assert any(fix.cost and "593.6" in fix.cost.text for fix in risk.finding.fixes)
        assert risk.printed == ()

    def test_tight(self, catalogue: Catalogue, tmp_path: Path) -> None:
        """Whole-layer recompute in an environment that does not set expandable_segments pays where it need not."""
        (tmp_path / "run.sh").write_text("export NCCL_DEBUG=INFO\n")
        full = ["recompute_granularity=full", "recompute_method=uniform", "recompute_num_layers=1"]
        ids = [
            [each.finding.pattern for each in told.risks]
            for env in (None, tmp_path / "run.sh")
            if (told := diagnose.forecast(settings=full, versions=["core=0.16.1"], env=env, catalogue=catalogue))
        ]
        assert ids == [[], ["memory-tight-without-expandable-segments"]]

    def test_nothing(self, catalogue: Catalogue) -> None:
        """An ordinary configuration has no conflict."""
        told = diagnose.forecast(settings=["num_layers=4"], versions=["core=0.16.1"], catalogue=catalogue)
        assert (told.verdict, told.fails, told.plan) == ("no_conflict", (), ())


_KEYS = st.sampled_from(
    [
        *("recompute_modules", "cuda_graph_impl", "cuda_graph_scope", "pipeline_model_parallel_size", "fp8"),
        *("cpu_offloading", "rampup_batch_size", "moe_layer_freq", "tensor_model_parallel_size", "num_moe_experts"),
    ]
)
_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 99), st.text(max_size=12), st.lists(st.text(max_size=6), max_size=3)
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=6))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_any_settings(chosen: dict[str, Any]) -> None:
    """Whatever the settings hold, there is a forecast."""
    seen = [Observation(f"config.{key}", value, None, "set") for key, value in chosen.items()]
    told = forecast(_CATALOGUE, [*seen, Observation("version.core", "0.18.2", None, "set")], "megatron-core")
    assert told.summary
