"""Slow runs through the whole pipeline: verdicts, evidence, references, and the published measurements."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from diagnose.api import diagnose
from diagnose.catalogue.model import Catalogue
from diagnose.reason import Diagnosis
from diagnose.reason.slow import BaselineError
from tests.reason.words import OUT_OF_MEMORY, traceback
from tests.runs import GOLDEN, Run, megatron_lines, step_times

CONFIGURATION = """Configuration Summary (Non-Default Values vs Megatron Core)
[model] Non-default values (vs Mcore 0.16.1):
  recompute_granularity: 'selective'  (Mcore default: None)
  recompute_modules: {modules}  (Mcore default: None)
  tensor_model_parallel_size: {tensor}  (Mcore default: 1)
  pipeline_model_parallel_size: {pipeline}  (Mcore default: 1)
  virtual_pipeline_model_parallel_size: 5  (Mcore default: None)
  ffn_hidden_size: 28672  (Mcore default: None)
======================================================================
"""

ORDINARY = Run()


class Bench:
    """Writes logs and diagnoses them."""

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self.folder = folder
        self.catalogue = catalogue

    def write(self, text: str, name: str = "train.log") -> str:
        """Write one log and return its path."""
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def diagnose(self, text: str, *, golden: float | None = None, baseline: str | None = None) -> Diagnosis:
        """Diagnose one log."""
        return diagnose([self.write(text)], catalogue=self.catalogue, golden=golden, baseline=baseline)


@pytest.fixture
def bench(tmp_path: Path, packaged: Catalogue) -> Bench:
    """A folder and the packaged patterns."""
    return Bench(tmp_path, packaged)


def times(run: Run = ORDINARY, seed: int = 1) -> list[float]:
    """Simulate step times."""
    return step_times(run, random.Random(seed))


@pytest.mark.parametrize("seed", range(5))
def test_healthy_runs_are_silent(bench: Bench, seed: int) -> None:
    """Jitter, heavy tails, saves, evaluations and warm-up give no finding."""
    run = Run(iterations=600, jitter=0.03, memory=0.5, save=100, evaluate=200, warm_up=15)
    diagnosis = bench.diagnose(megatron_lines(times(run, seed)))
    assert diagnosis.verdict == "no_failure"
    assert [each for each in diagnosis.risks if each.pattern != "periodic-stalls"] == []
    assert diagnosis.run.throughput["iteration_ms"] == pytest.approx(700, rel=0.02)
    assert diagnosis.run.throughput["steady_from"] > 1


@pytest.mark.parametrize(("at", "drop"), [(100, 0.05), (400, 0.1), (250, 0.2), (333, 0.4)])
def test_drop_inside_a_run(bench: Bench, at: int, drop: float) -> None:
    """The root is the iteration line at which a lasting drop begins, with its size."""
    run = Run(iterations=500, jitter=0.01, drop_at=at, drop=drop, save=50)
    warning = {at: ["[rank7]:[W] GPU clocks were lowered: thermal slowdown"]}
    diagnosis = bench.diagnose(megatron_lines(times(run), between=warning))
    assert diagnosis.verdict == "degraded"
    root = diagnosis.root_cause
    assert root is not None
    assert root.pattern == "throughput-drop-inside-run"
    assert abs(int(root.captures["iteration"]) - at) <= 5
    assert f"iteration {int(root.captures['iteration']):8d}/" in root.evidence[0].text
    assert float(root.captures["change"]) == pytest.approx(-100 * drop, abs=1.5)
    assert any("thermal slowdown" in each.text for each in root.evidence[1:])
    assert diagnosis.action.restart == "unknown"


def test_failure_comes_first(bench: Bench) -> None:
    """A run that was slow and then ran out of memory failed of memory; the drop is a risk."""
    run = Run(iterations=300, jitter=0.01, drop_at=150, drop=0.2)
    diagnosis = bench.diagnose(megatron_lines(times(run), total=900) + traceback(OUT_OF_MEMORY))
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"
    assert "throughput-drop-inside-run" in [each.pattern for each in diagnosis.risks]


def test_drift(bench: Bench) -> None:
    """A slow rise of the step time degrades the run."""
    slower = [time * (1 + 0.25 * at / 600) for at, time in enumerate(times(Run(iterations=600)))]
    diagnosis = bench.diagnose(megatron_lines(slower))
    assert diagnosis.verdict == "degraded"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "throughput-drift"


def test_stalls(bench: Bench) -> None:
    """Heavy stalls at an odd distance degrade the run; stalls beside saves are a risk and name them."""
    stalled = times(Run(iterations=500, tail=0))
    stalled[36::37] = [time * 12 for time in stalled[36::37]]
    odd = bench.diagnose(megatron_lines(stalled))
    assert odd.root_cause is not None
    assert (odd.verdict, odd.root_cause.pattern) == ("degraded", "periodic-stalls")
    assert odd.root_cause.captures["period"] == "37"
    saves = {
        number: [f"saving checkpoint at iteration {number - 1:7d} to /ckpt in torch_dist format"]
        for number in range(37, 500, 37)
    }
    saved = bench.diagnose(megatron_lines(stalled, between=saves))
    assert saved.verdict == "no_failure"
    (risk,) = saved.risks
    assert risk.captures["at"] == "save"
    assert [each.state for each in risk.causes if each.id == "synchronous-save"] == ["confirmed"]


def test_loss_left_out(bench: Bench) -> None:
    """Lines that no longer show a loss, though nothing was skipped, are a NaN loss."""
    gone: dict[int, float | None] = dict.fromkeys(range(200, 301))
    diagnosis = bench.diagnose(megatron_lines(times(Run(iterations=300)), losses=gone))
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "loss-left-out"
    assert diagnosis.root_cause.evidence[0].line == 200


def test_loss_spike_is_a_risk(bench: Bench) -> None:
    """A spike that comes back is told, and fails nothing; one that stays degrades the run."""
    spike = bench.diagnose(megatron_lines(times(), losses={300: 40.0}))
    assert spike.verdict == "no_failure"
    assert [each.pattern for each in spike.risks] == ["loss-spike"]
    up: dict[int, float | None] = dict.fromkeys(range(300, 501), 12.0)
    diverged = bench.diagnose(megatron_lines(times(), losses=up))
    assert diverged.root_cause is not None
    assert (diverged.verdict, diverged.root_cause.evidence[0].line) == ("degraded", 300)


def test_silence_before_the_end(bench: Bench) -> None:
    """A log that goes on for long without another iteration says so, unless the run had reached its end."""
    late = "[2027-01-15 10:00:00] still waiting\n"
    hung = bench.diagnose(megatron_lines(times(), total=1000) + late)
    assert hung.root_cause is not None
    assert (hung.verdict, hung.root_cause.pattern) == ("degraded", "silence-before-end")
    assert hung.root_cause.evidence[0].line == 500
    assert bench.diagnose(megatron_lines(times()) + late).verdict == "no_failure"


def test_straggler_reports(bench: Bench) -> None:
    """A rank that a straggler detector names again and again is the root of a degraded run."""
    report = "[2026-07-10 05:46:31] | MnRtt/Rnk: 740.12ms/3 | MxRtt/Rnk: 912.40ms/17 | MnClk/Rnk: 1100.00MHz/17 | #"
    diagnosis = bench.diagnose(megatron_lines(times(), between={number: [report] for number in (100, 200, 300)}))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "straggling-rank"
    assert diagnosis.root_cause.captures["rank"] == "17"
    warning = "STRAGGLER DETECTION WARNING: Some GPUs have worse relative performance. Affected ranks: [17]"
    named = bench.diagnose(megatron_lines(times(), between={number: [warning] for number in (100, 200, 300)}))
    assert named.root_cause is not None
    assert named.root_cause.captures["rank"] == "17"


# recompute.md §5 and its neighbours: modules, TP, PP, TFLOP/s/GPU, out of memory, verdict, pattern
PUBLISHED = [
    ("['core_attn']", 4, 4, 704.0, True, "identified", "cuda-oom"),
    ("['mlp']", 4, 4, 593.6, False, "degraded", "throughput-drop-mlp-recompute"),
    ("['mlp', 'core_attn']", 4, 4, 586.8, False, "degraded", "throughput-drop-mlp-recompute"),
    ("['core_attn', 'layernorm']", 4, 4, 702.0, True, "identified", "cuda-oom"),
    ("['core_attn']", 4, 4, 704.0, False, "no_failure", None),
    ("['core_attn']", 4, 8, 668.0, False, "degraded", "throughput-below-reference"),
    ("['core_attn']", 8, 4, 508.7, False, "degraded", "throughput-below-reference"),
]


@pytest.mark.parametrize(("modules", "tensor", "pipeline", "tflops", "full", "verdict", "pattern"), PUBLISHED)
def test_published_measurements(
    bench: Bench, modules: str, tensor: int, pipeline: int, tflops: float, full: bool, verdict: str, pattern: str | None
) -> None:
    """The published experiments, as logs, get the published verdicts against the golden 709.93 TFLOP/s/GPU."""
    run = Run(iterations=50, ms=3050.0 * 704 / tflops, jitter=0.004, tail=0)
    text = CONFIGURATION.format(modules=modules, tensor=tensor, pipeline=pipeline)
    text += megatron_lines(times(run), tflops=tflops, total=100 if full else None)
    if full:
        text += traceback(OUT_OF_MEMORY, prefix="[rank0]: ")
    diagnosis = bench.diagnose(text, golden=GOLDEN)
    root = diagnosis.root_cause
    assert diagnosis.verdict == verdict, diagnosis.summary
    assert (root.pattern if root else None) == pattern
    change = (tflops / GOLDEN - 1) * 100
    assert diagnosis.run.throughput["change_percent"] == pytest.approx(change, abs=0.3)
    if root is None or root.category != "performance":
        return
    mlp = "mlp" in modules
    assert root.captures["severity"] == ("severe" if change <= -15 else "regression")
    states = {cause.id: cause.state for cause in root.causes}
    assert states["mlp-on-wide-ffn" if mlp else "mlp-recompute"] == ("confirmed" if mlp else "ruled_out")
    risks = [each.pattern for each in diagnosis.risks]
    assert ("recompute-mlp-core-attn" in risks) is (modules == "['mlp', 'core_attn']")
    if tensor == 8:
        assert states["tensor-parallel"] == "confirmed"


def test_baseline(bench: Bench) -> None:
    """A good run's log is a reference as well; a run as fast as it is healthy."""
    good = bench.write(megatron_lines(times(seed=2)), "good.log")
    assert bench.diagnose(megatron_lines(times(seed=3)), baseline=good).verdict == "no_failure"
    run = replace(Run(), ms=800.0)
    slow = bench.diagnose(megatron_lines(times(run), tflops=700.0 * 7 / 8), baseline=good)
    assert slow.root_cause is not None
    assert slow.root_cause.pattern == "throughput-below-reference"
    assert float(slow.root_cause.captures["change"]) == pytest.approx(-12.5, abs=1)
    assert slow.root_cause.captures["against"].endswith("good.log")


def test_reference_that_cannot_be_used(bench: Bench) -> None:
    """A golden figure needs TFLOP/s in the log, a baseline needs iterations, and must be there."""
    text = megatron_lines(times()).replace("throughput per GPU (TFLOP/s/GPU)", "x")
    assert any("TFLOP/s/GPU" in each for each in bench.diagnose(text, golden=GOLDEN).missing)
    wordless = bench.diagnose(text, baseline=bench.write("nothing here\n", "empty.log"))
    assert any("no number in common" in each for each in wordless.missing)
    with pytest.raises(BaselineError, match=r"absent\.log: there is no such file"):
        bench.diagnose(text, baseline="absent.log")
    with pytest.raises(ValueError, match="golden"):
        bench.diagnose(text, golden=-1.0)


def test_metrics_off(bench: Bench) -> None:
    """Without metrics nothing is measured."""
    run = Run(iterations=500, drop_at=250, drop=0.4)
    path = bench.write(megatron_lines(times(run)))
    diagnosis = diagnose([path], catalogue=bench.catalogue, metrics="off")
    assert (diagnosis.verdict, diagnosis.run.throughput) == ("no_failure", {})
