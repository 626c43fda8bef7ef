"""Comparisons of runs with published figures come to the published verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import diagnose
from diagnose.api import UnreadableError, load_catalogue
from diagnose.catalogue.model import Catalogue
from diagnose.reason.compare import Comparison
from tests.reason.compare.logs import bridge_log

WORK = 704 * 3050  # TFLOP/s/GPU times milliseconds a step: the same work in every run


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The packaged catalogue, loaded once."""
    return load_catalogue()


class Runs:
    """Writes runs of one workload and compares them."""

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self.folder = folder
        self.catalogue = catalogue
        self.seed = 0

    def llama(self, name: str, tflops: float, peak: float, **options: Any) -> str:
        """Write a run of Llama3 70B SFT with a published throughput and peak."""
        self.seed += 1
        peaks = {0: peak, 8: peak - 7}
        return bridge_log(self.folder / name, tflops=tflops, ms=WORK / tflops, peaks=peaks, seed=self.seed, **options)

    def timed(self, name: str, ms: float, peak: float, **options: Any) -> str:
        """Write a run of which only step time and peak are published."""
        self.seed += 1
        return bridge_log(self.folder / name, ms=ms, peaks={0: peak}, seed=self.seed, **options)

    def compare(self, *paths: str) -> Comparison:
        """Compare them."""
        return diagnose.compare(paths, catalogue=self.catalogue)


@pytest.fixture
def runs(tmp_path: Path, catalogue: Catalogue) -> Runs:
    """An empty set of runs."""
    return Runs(tmp_path, catalogue)


def ids(comparison: Comparison) -> list[str]:
    """Name the patterns that were noticed."""
    return [each.finding.pattern for each in comparison.findings]


class TestPublished:
    """Llama3 70B SFT on 32 H100: the table of the activation-recompute and memory-tuning guidance."""

    def test_mlp(self, runs: Runs) -> None:
        """[mlp] in place of [core_attn]: a regression of about 16 %, with less memory."""
        told = runs.compare(
            runs.llama("base", 704, 58.8), runs.llama("mlp", 593.6, 55.6, model={"recompute_modules": ["mlp"]})
        )
        speed, memory = told.changes[0].throughput, told.changes[0].memory
        assert told.verdict == "worse"
        assert speed is not None
        assert speed.percent == pytest.approx(-15.7, abs=0.5)
        assert 0 < speed.error_percent < 1
        assert memory is not None
        assert memory.percent == pytest.approx(-5.4, abs=0.1)
        assert ids(told) == ["throughput-drop-mlp-recompute"]

    @pytest.mark.parametrize("seed", range(3))
    def test_mlp_with_core_attn(self, runs: Runs, seed: int) -> None:
        """[mlp, core_attn] is slower than [mlp], by 1.1 % and beyond the uncertainty."""
        runs.seed = 10 * seed
        told = runs.compare(
            runs.llama("mlp", 593.6, 55.6, model={"recompute_modules": ["mlp"]}),
            runs.llama("both", 586.8, 55.6, model={"recompute_modules": ["mlp", "core_attn"]}),
        )
        assert "recompute-mlp-core-attn" in ids(told)
        assert told.changes[0].memory is not None
        assert told.changes[0].memory.direction == "no_difference"

    def test_layernorm(self, runs: Runs) -> None:
        """layernorm added, the peak is not lower, and it still runs out of memory."""
        told = runs.compare(
            runs.llama("base", 704, 58.8, oom=0),
            runs.llama("more", 702, 59.6, oom=0, model={"recompute_modules": ["core_attn", "layernorm"]}),
        )
        assert told.changes[0].outcome == "both_failed"
        assert ids(told) == ["oom-layernorm-recompute"]
        assert [peak.rank for peak in told.runs[0].peaks] == [0, 8]

    def test_pipeline(self, runs: Runs) -> None:
        """PP 4 to 8 is a memory fix with its price of about 5 %."""
        told = runs.compare(
            runs.llama("base", 704, 58.8), runs.llama("pp8", 668.0, 53.2, model={"pipeline_model_parallel_size": 8})
        )
        assert told.verdict == "worse"
        assert ids(told) == ["memory-fix-by-pipeline-parallel"]
        assert "-5." in told.findings[0].finding.summary

    def test_tensor(self, runs: Runs) -> None:
        """TP 4 to 8 cures the out-of-memory error at the price of 28 %; fewer would be lost with pipeline stages."""
        told = runs.compare(
            runs.llama("base", 704, 58.8, oom=0),
            runs.llama("tp8", 508.7, 50.2, model={"tensor_model_parallel_size": 8}),
        )
        assert (told.verdict, told.changes[0].outcome) == ("mixed", "fixed")
        assert ids(told) == ["memory-fix-by-tensor-parallel"]
        costs = [fix.cost.text for fix in told.findings[0].finding.fixes if fix.cost]
        assert any("668" in cost for cost in costs)
        assert any("508.7" in cost and "-28.4 %" in cost for cost in costs)

    def test_virtual_pipeline(self, runs: Runs) -> None:
        """Virtual stages are not what cured the error: the peak went up."""
        told = runs.compare(
            runs.llama("base", 704, 58.8, oom=0),
            runs.llama("vpp", 706, 60.2, model={"virtual_pipeline_model_parallel_size": 10}),
        )
        assert told.changes[0].outcome == "fixed"
        assert ids(told) == ["vpp-credited-with-memory"]

    def test_table(self, runs: Runs) -> None:
        """Four runs make a table, and the closest pair speaks for a pattern."""
        told = runs.compare(
            runs.llama("base", 704, 58.8),
            runs.llama("mlp", 593.6, 55.6, model={"recompute_modules": ["mlp"]}),
            runs.llama("both", 586.8, 55.6, model={"recompute_modules": ["mlp", "core_attn"]}),
            runs.llama("pp8", 668.0, 53.2, model={"pipeline_model_parallel_size": 8}),
        )
        stacked = next(each for each in told.findings if each.finding.pattern == "recompute-mlp-core-attn")
        assert (stacked.before, stacked.after) == ("mlp", "both")
        assert [change.name for change in told.changes] == ["mlp", "both", "pp8"]


class TestNeighbours:
    """Other workloads whose measurements upstream carries."""

    def test_core_attn_without_gain(self, runs: Runs) -> None:
        """Moonlight 16B: core_attn costs time and gives back no memory."""
        told = runs.compare(
            runs.timed("none", 457.18, 36.618, model={"recompute_modules": []}),
            runs.timed("core", 474.80, 36.614, model={"recompute_modules": ["core_attn"]}),
        )
        assert told.verdict == "worse"
        assert "recompute-core-attn-fused" in ids(told)

    def test_moe_act(self, runs: Runs) -> None:
        """Moonlight 16B: moe_act costs 2 % and gives back 2 %."""
        told = runs.compare(
            runs.timed("none", 457.18, 36.618, model={"recompute_modules": []}),
            runs.timed("act", 466.26, 35.941, model={"recompute_modules": ["moe_act"]}),
        )
        speed, memory = told.changes[0].throughput, told.changes[0].memory
        assert speed is not None
        assert memory is not None
        assert (speed.direction, memory.direction) == ("worse", "better")
        assert ids(told) == []

    @pytest.mark.parametrize(
        ("before", "after", "speed", "memory"),
        [
            ((457.18, 36.618, []), (480.89, 35.902, ["mla_up_proj"]), -4.9, "better"),
            ((480.89, 35.902, ["mla_up_proj"]), (496.73, 35.917, ["mla_up_proj", "mlp"]), -3.2, "no_difference"),
            ((457.18, 36.618, []), (506.53, 35.949, ["layernorm", "moe_act"]), -9.7, "better"),
            ((466.26, 35.941, ["moe_act"]), (506.53, 35.949, ["layernorm", "moe_act"]), -8.0, "no_difference"),
        ],
    )
    def test_moonlight(self, runs: Runs, before: Any, after: Any, speed: float, memory: str) -> None:
        """Moonlight 16B: each further module costs time; only the first gives back memory."""
        (ms, peak, modules), (ms_after, peak_after, modules_after) = before, after
        told = runs.compare(
            runs.timed("before", ms, peak, model={"recompute_modules": modules}),
            runs.timed("after", ms_after, peak_after, model={"recompute_modules": modules_after}),
        )
        change = told.changes[0]
        assert told.verdict == "worse"
        assert change.throughput is not None
        assert change.memory is not None
        assert change.throughput.percent == pytest.approx(speed, abs=0.4)
        assert change.memory.direction == memory

    def test_nemotron(self, runs: Runs) -> None:
        """Nemotron 3 Nano: recompute of the whole MoE layer cures what finer modules do not; layernorm adds little."""
        none = runs.timed("none", 640, 78.0, oom=0, model={"recompute_modules": []})
        fine = runs.timed("act", 645, 78.0, oom=0, model={"recompute_modules": ["moe_act"]})
        moe = runs.timed("moe", 657.42, 64.653, tflops=277.72, model={"recompute_modules": ["moe"]})
        more = runs.timed("more", 677.62, 63.639, tflops=270.62, model={"recompute_modules": ["moe", "layernorm"]})
        told = runs.compare(none, fine, moe)
        assert [change.outcome for change in told.changes] == ["both_failed", "fixed"]
        change = runs.compare(moe, more).changes[0]
        assert change.throughput is not None
        assert change.memory is not None
        assert change.throughput.percent == pytest.approx(-2.6, abs=0.4)
        assert (change.throughput.direction, change.memory.direction) == ("worse", "better")

    @pytest.mark.parametrize(("part", "ms", "peak"), [(0.25, 1871, 43.4), (0.5, 2484, 39.6), (0.75, 3187, 35.6)])
    def test_part_of_the_optimizer(self, runs: Runs, part: float, ms: float, peak: float) -> None:
        """Qwen3 30B: each quarter of the optimizer on the CPU gives back 4 GB and slows the step further."""
        offload = {"optimizer_cpu_offload": True, "optimizer_offload_fraction": part}
        told = runs.compare(
            runs.timed("none", 996, 47.2, optimizer={"optimizer_cpu_offload": False}),
            runs.timed("part", ms, peak, optimizer=offload),
        )
        assert ids(told) == ["optimizer-offload-slowdown"]
        assert told.changes[0].memory is not None
        assert told.changes[0].memory.direction == "better"

    def test_expandable_segments(self, runs: Runs) -> None:
        """Llama3 70B: what cured the error cost nothing and left the peak where it was."""
        told = runs.compare(runs.llama("base", 704, 58.8, oom=0), runs.llama("expandable", 704, 59.0))
        change = told.changes[0]
        assert (told.verdict, change.outcome) == ("better", "fixed")
        assert change.throughput is not None
        assert change.throughput.direction == "no_difference"

    def test_optimizer_offload(self, runs: Runs) -> None:
        """Qwen3 30B: 100 % optimizer offload takes more than four times the step time."""
        told = runs.compare(
            runs.timed("none", 996, 47.2, optimizer={"optimizer_cpu_offload": False}),
            runs.timed("all", 4189, 32.0, optimizer={"optimizer_cpu_offload": True, "optimizer_offload_fraction": 1.0}),
        )
        assert ids(told) == ["optimizer-offload-slowdown"]
        checks = {check.id: check.answer for check in told.findings[0].finding.checks}
        assert checks["extreme"] == "yes"

    def test_graphs_without_gain(self, runs: Runs) -> None:
        """42.00 s a step with graphs and 41.36 s without: they brought nothing."""
        graphs = {"cuda_graph_impl": "transformer_engine", "cuda_graph_scope": ["attn"]}
        told = runs.compare(
            runs.timed("eager", 41_360, 60.0, model={"cuda_graph_impl": "none"}),
            runs.timed("graphs", 42_000, 66.0, model=graphs),
        )
        assert ids(told) == ["cuda-graphs-without-gain"]


class TestUncertainty:
    """A difference that jitter can make is none."""

    def test_same(self, runs: Runs) -> None:
        """Two runs of the same configuration do not differ."""
        told = runs.compare(runs.llama("one", 704, 58.8), runs.llama("two", 704, 58.8))
        assert (told.verdict, ids(told), told.config) == ("no_difference", [], ())

    def test_noise(self, runs: Runs) -> None:
        """Two percent between two short runs with twenty percent of jitter prove nothing."""
        told = runs.compare(
            runs.llama("one", 704, 58.8, jitter=0.2, iterations=12),
            runs.llama("two", 690, 58.8, jitter=0.2, iterations=12),
        )
        speed = told.changes[0].throughput
        assert speed is not None
        assert speed.error_percent > 5
        assert speed.direction == "no_difference"

    def test_margin(self, runs: Runs) -> None:
        """What is sure but smaller than the margin means nothing in practice."""
        told = runs.compare(runs.llama("one", 704, 58.8, jitter=0.0005), runs.llama("two", 700, 58.8, jitter=0.0005))
        assert told.verdict == "no_difference"


class TestDifferences:
    """What was changed."""

    def test_asked_first(self, runs: Runs) -> None:
        """Settings that conditions ask for stand before the others."""
        told = runs.compare(
            runs.llama("one", 704, 58.8, model={"aaa_unknown": 1}),
            runs.llama("two", 704, 58.8, model={"aaa_unknown": 2, "sequence_parallel": True}),
        )
        assert [(each.key, each.asked) for each in told.config] == [("sequence_parallel", True), ("aaa_unknown", False)]

    def test_configuration_that_is_not_printed(self, runs: Runs) -> None:
        """A run that says nothing of its configuration is not taken for one with the defaults."""
        before, after = runs.llama("before", 704, 58.8, oom=0), runs.llama("after", 668, 53.2)
        text = Path(before).read_text()
        Path(before).write_text(text[text.index(" [2026") :])
        told = runs.compare(before, after)
        assert told.changes[0].outcome == "fixed"
        assert ids(told) == []
        assert "no configuration in before; its differences are not known" in told.missing

    def test_other_failures_are_no_memory(self, runs: Runs) -> None:
        """More pipeline stages are no memory fix where the first run failed for another reason."""
        before = runs.timed("before", 3050, 58.8)
        with Path(before).open("a") as file:
            file.write("Traceback (most recent call last):\n  File 'x.py', line 1, in <module>\n    f()\n")
            file.write("OSError: [Errno 28] No space left on device: '/ckpt/x'\n")
        told = runs.compare(before, runs.timed("after", 3050, 58.8, model={"pipeline_model_parallel_size": 8}))
        assert told.changes[0].outcome == "fixed"
        assert "memory-fix-by-pipeline-parallel" not in ids(told)

    def test_other_work(self, runs: Runs) -> None:
        """Another batch size is said: then the speeds are of different work."""
        before, after = runs.llama("before", 704, 58.8), runs.llama("after", 704, 58.8)
        Path(after).write_text(Path(after).read_text().replace("batch size:    32", "batch size:    64"))
        assert (
            "runs of the same work: the global batch size is 32 in before, 64 in after"
            in runs.compare(before, after).missing
        )

    def test_nothing_in_common(self, tmp_path: Path, catalogue: Catalogue) -> None:
        """Logs without a step time cannot be compared, and that is said."""
        paths = [tmp_path / "a.log", tmp_path / "b.log"]
        for path in paths:
            path.write_text("starting\nstill here\n")
        told = diagnose.compare(paths, catalogue=catalogue)
        assert told.verdict == "unknown"
        assert len(told.missing) == 6

    def test_unreadable(self, tmp_path: Path, catalogue: Catalogue) -> None:
        """A run that is not there is named."""
        with pytest.raises(UnreadableError, match="nowhere"):
            diagnose.compare([tmp_path / "nowhere.log", tmp_path / "nowhere2.log"], catalogue=catalogue)
