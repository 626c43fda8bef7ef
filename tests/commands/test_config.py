"""`diagnose config`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import Run

FULL = ("--recompute-granularity", "full")


def test_fails(run: Run) -> None:
    """A configuration that would fail exits with 1 only where it is asked to."""
    assert run("config", "--", *FULL).code == 0
    outcome = run("config", "--exit-code", "--framework-version", "core=0.16.1", "--", *FULL)
    assert outcome.code == 1
    assert "recompute-full-incomplete" in outcome.out


def test_fails_later(run: Run) -> None:
    """One that starts and fails afterwards would fail, too."""
    later = ("model.cuda_graph_impl=transformer_engine", "model.use_te_rng_tracker=True")
    env = ("--set", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "--set", "NCCL_GRAPH_REGISTER=1")
    outcome = run("config", "--exit-code", "--framework-version", "bridge=0.4.2", *env, "--", *later)
    assert (outcome.code, outcome.out.split(":")[0]) == (1, "Would start and fail later")


def test_fine(run: Run, tmp_path: Path) -> None:
    """One without a conflict exits with 0."""
    (tmp_path / "run.yaml").write_text("num_layers: 4\n")
    outcome = run("config", "--exit-code", str(tmp_path / "run.yaml"), "--framework-version", "0.16.1")
    assert (outcome.code, outcome.out.splitlines()[0][:17]) == (0, "No known conflict")


def test_batch_that_no_number_of_ranks_divides(run: Run) -> None:
    """A global batch that is no multiple of the micro-batch fails whatever the data parallel size is."""
    sizes = ("--micro-batch-size", "3", "--global-batch-size", "256")
    assert "global-batch-size-not-divisible" in run("config", "--", *sizes).out
    assert "global-batch-size-not-divisible" not in run("config", "--", *sizes[:3], "255").out


def test_file_with_overrides(run: Run, tmp_path: Path) -> None:
    """What stands behind `--` goes over the file."""
    (tmp_path / "run.yaml").write_text("model:\n  cpu_offloading: false\n  pipeline_model_parallel_size: 2\n")
    outcome = run("config", str(tmp_path / "run.yaml"), "--format", "json", "--", "model.cpu_offloading=true")
    data = json.loads(outcome.out)
    assert data["framework"] == "megatron-bridge"
    assert "cpu-offload-pipeline-parallel" in [each["finding"]["pattern"] for each in data["fails"]]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("config",), 2, "Name a configuration file"),
        (("config", "--framework-version", "frog", "--", *FULL), 2, "is no version"),
        (("config", "--set", "frog", "--", *FULL), 2, "is not KEY=VALUE"),
        (("config", "nowhere.yaml"), 3, "cannot be opened"),
    ],
)
def test_wrong(run: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    """Wrong usage and unreadable files are told in one line, each with its exit code."""
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1
