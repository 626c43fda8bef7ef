"""The core knowledge, asked as a user asks it: a log in, the right advice for the release out."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import diagnose
from diagnose.catalogue.model import Catalogue
from diagnose.reason import Diagnosis
from diagnose.reason.result import Fix
from diagnose.report import RENDERERS, Context

TRACEBACK = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 301, in <module>
    config = TransformerConfig(**settings)
  File "/workspace/megatron/core/transformer/transformer_config.py", line 1203, in __post_init__
    {code}
{final}
"""
FULL = TRACEBACK.format(
    code="assert self.recompute_granularity != 'full'",
    final="AssertionError: full recompute is only supported with full iteration CUDA graph.",
)
OLD = TRACEBACK.format(
    code="raise ValueError(", final="ValueError: CUDA graphs not supported with activation recomputation."
)


def run(tmp_path: Path, catalogue: Catalogue, log: str, *settings: str) -> Diagnosis:
    """Diagnose one log with facts given by the user."""
    path = tmp_path / "train.log"
    path.write_text(log)
    return diagnose([path], settings=settings, catalogue=catalogue)


def pasted(fixes: tuple[Fix, ...]) -> str:
    """Return all lines to paste of the fixes that apply."""
    return "\n".join(line for fix in fixes for line in fix.how)


def test_full_iteration_on_core_016(tmp_path: Path, packaged: Catalogue) -> None:
    """Core 0.16 spells it local + full_iteration, and the NaN check must go with it."""
    diagnosis = run(tmp_path, packaged, FULL, "core=0.16.1")
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-graph-full-recompute"
    lines = pasted(diagnosis.plan)
    assert 'cuda_graph_impl = "local"' in lines
    assert "full_iteration" in lines
    assert "check_for_nan_in_loss = False" in lines
    assert "--no-check-for-nan-in-loss-and-grad" in lines
    assert 'cuda_graph_impl = "full_iteration"' not in lines


def test_full_iteration_on_core_018(tmp_path: Path, packaged: Catalogue) -> None:
    """Core 0.18 has an implementation of that name."""
    lines = pasted(run(tmp_path, packaged, FULL, "core=0.18.2").plan)
    assert 'cuda_graph_impl = "full_iteration"' in lines
    assert "check_for_nan_in_loss = False" in lines


def test_nothing_validates_on_core_015(tmp_path: Path, packaged: Catalogue) -> None:
    """Core 0.15 validates no pair of full recompute and graphs, and the answer says so."""
    diagnosis = run(tmp_path, packaged, OLD, "core=0.15.3", "recompute_granularity=full")
    root = diagnosis.root_cause
    assert root is not None
    assert root.pattern == "cuda-graph-full-recompute"
    confirmed = " ".join(cause.text for cause in root.causes if cause.state == "confirmed")
    assert "no combination" in confirmed
    assert not any(fix.id.startswith("full-iteration") for fix in diagnosis.plan)


def test_both_forms_without_a_version(tmp_path: Path, packaged: Catalogue) -> None:
    """Where the log tells no release, both spellings are shown with the releases they hold for."""
    lines = pasted(run(tmp_path, packaged, FULL).plan)
    assert "0.18 and later" in lines
    assert "0.16" in lines


@pytest.mark.parametrize("framework", ["megatron-lm", "megatron-bridge"])
def test_lines_suit_the_framework(tmp_path: Path, packaged: Catalogue, framework: str) -> None:
    """A Bridge run gets Python lines, a Megatron-LM run gets flags."""
    folder = {"megatron-lm": "megatron/training/arguments.py", "megatron-bridge": "megatron/bridge/training/config.py"}
    log = FULL.replace("/workspace/train.py", f"/workspace/{folder[framework]}")
    lines = pasted(run(tmp_path, packaged, log, "core=0.16.1").plan)
    assert ("cfg.model." in lines) is (framework == "megatron-bridge")
    assert ("--recompute-granularity" in lines) is (framework == "megatron-lm")


def memory(asked: str, free: str, own: str, allocated: str, cached: str) -> str:
    """Write PyTorch's out-of-memory message."""
    return (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total capacity of "
        f"79.11 GiB of which {free} is free. Including non-PyTorch memory, this process has {own} memory in use. Of "
        f"the allocated memory {allocated} is allocated by PyTorch, and {cached} is reserved by PyTorch but "
        "unallocated.\n"
    )


@pytest.mark.parametrize(
    ("numbers", "cause"),
    [
        ("320.00 MiB|121.00 MiB|78.9 GiB|63.4 GiB|11.9 GiB", "fragmentation"),
        ("1.20 GiB|0.90 GiB|78.1 GiB|76.5 GiB|0.30 GiB", "capacity"),
        ("31.30 GiB|30.1 GiB|49.0 GiB|47.0 GiB|0.50 GiB", "one-huge-tensor"),
        ("120.00 GiB|30.1 GiB|49.0 GiB|47.0 GiB|0.50 GiB", "impossible-size"),
        ("512.00 MiB|100.00 MiB|79.0 GiB|66.0 GiB|0.20 GiB", "outside-of-pytorch"),
    ],
)
def test_memory_arithmetic(tmp_path: Path, packaged: Catalogue, numbers: str, cause: str) -> None:
    """The numbers of the message decide which shortage it is, and exactly one of them."""
    diagnosis = run(tmp_path, packaged, memory(*numbers.split("|")))
    assert diagnosis.root_cause is not None
    confirmed = [each.id for each in diagnosis.root_cause.causes if each.state == "confirmed"]
    assert cause in confirmed
    kinds = {"fragmentation", "capacity", "one-huge-tensor", "impossible-size", "outside-of-pytorch", "another-process"}
    assert len(kinds & set(confirmed)) == 1


def test_another_process(tmp_path: Path, packaged: Catalogue) -> None:
    """Memory of another process comes before every memory setting."""
    log = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.11 "
        "GiB of which 12.50 MiB is free. Process 4021 has 40.12 GiB memory in use. Including non-PyTorch memory, this "
        "process has 38.97 GiB memory in use. Of the allocated memory 37.60 GiB is allocated by PyTorch, and "
        "120.11 MiB is reserved by PyTorch but unallocated.\n"
    )
    diagnosis = run(tmp_path, packaged, log)
    assert diagnosis.plan[0].id == "stop-other-process"


FRAGMENTED = memory("320.00 MiB", "121.00 MiB", "78.9 GiB", "63.4 GiB", "11.9 GiB")


def test_expandable_segments_first(tmp_path: Path, packaged: Catalogue) -> None:
    """The first thing to try is the allocator setting."""
    assert run(tmp_path, packaged, FRAGMENTED).plan[0].id == "expandable-segments"


def test_expandable_segments_already_on(tmp_path: Path, packaged: Catalogue) -> None:
    """Where it is on, the plan says so, with the line, and moves on."""
    log = "+ export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" + FRAGMENTED
    plan = run(tmp_path, packaged, log).plan
    fix = next(each for each in plan if each.id == "expandable-segments")
    assert fix.state == "already_applied"
    assert "train.log:1" in fix.why
    assert plan[0].id != "expandable-segments"


def test_expandable_segments_forbidden(tmp_path: Path, packaged: Catalogue) -> None:
    """With NCCL user buffers it is refused, and the way out is given."""
    diagnosis = run(tmp_path, packaged, FRAGMENTED, "core=0.16.1", "nccl_ub=true")
    assert diagnosis.root_cause is not None
    fix = next(each for each in diagnosis.root_cause.fixes if each.id == "expandable-segments")
    assert fix.state == "not_applicable"
    assert "nccl_ub" in fix.why


def test_checklist_order(tmp_path: Path, packaged: Catalogue) -> None:
    """The binding order: allocator, core_attn, layernorm, mlp, whole layers; the warning before whole layers."""
    log = memory("1.20 GiB", "0.90 GiB", "78.1 GiB", "76.5 GiB", "0.30 GiB")
    diagnosis = run(tmp_path, packaged, log, "core=0.16.1", "fp8=hybrid", "cuda_graph_impl=transformer_engine")
    assert diagnosis.root_cause is not None
    ids = [fix.id for fix in diagnosis.root_cause.fixes]
    wanted = ["expandable-segments", "selective-core-attn", "selective-layernorm", "selective-mlp", "full-recompute"]
    assert [each for each in ids if each in wanted] == wanted
    full = next(fix for fix in diagnosis.root_cause.fixes if fix.id == "full-recompute")
    assert "full iteration" in (full.warning + full.why).lower().replace("_", " ").replace("-", " ")


@pytest.mark.parametrize(
    "name",
    [
        "throughput-drop-mlp-recompute",
        "oom-layernorm-recompute",
        "cuda-graph-full-recompute",
        "cpu-offload-pipeline-parallel",
        "recompute-mlp-core-attn",
        "recompute-selective-without-modules",
        "recompute-full-incomplete",
        "recompute-unknown-module",
        "recompute-distributed-activations-sequence-parallel",
    ],
)
def test_fixed_ids(packaged: Catalogue, name: str) -> None:
    """The ids that users script against are there."""
    assert name in packaged.patterns


SHORT = """\
Traceback (most recent call last):
  File "/workspace/pretrain_gpt.py", line 301, in <module>
    pretrain()
  File "/workspace/megatron/core/transformer/mlp.py", line 203, in forward
    output = self.linear_fc1(hidden)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of \
which 1.10 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated \
memory 76.00 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated.
"""
REFUSED = [
    (("core=0.14.0", "enable_cuda_graph=true"), "--recompute"),
    (("core=0.15.0", "cuda_graph_impl=transformer_engine", "cuda_graph_scope=attn"), "core_attn"),
    (
        ("core=0.16.1", "cuda_graph_impl=transformer_engine", "cuda_graph_scope=attn", "attention_dropout=0.1"),
        "core_attn layer",
    ),
    (
        ("core=0.18.0", "cuda_graph_impl=transformer_engine", "cuda_graph_modules=[mlp]", "hidden_dropout=0.1"),
        "--recompute-modules mlp",
    ),
    (("core=0.16.1", "num_moe_experts=None"), "moe_act"),
    (("core=0.16.1", "num_moe_experts=64", "moe_grouped_gemm=true"), "-modules mlp"),
    (("core=0.14.0", "num_moe_experts=64", "moe_grouped_gemm=true", "fp8=hybrid", "fp8_recipe=delayed"), "moe_act"),
    (("core=0.13.0", "fp8=hybrid"), "layernorm"),
    (("core=0.17.0", "num_moe_experts=64", "overlap_moe_expert_parallel_comm=true"), "-modules moe\n"),
    (("core=0.16.1", "recompute_granularity=selective", "recompute_modules=[mlp]"), "--recompute-modules core_attn"),
    (("core=0.16.1", "pipeline_model_parallel_size=8"), "--pipeline-model-parallel-size"),
    (("core=0.19.0", "cuda_graph_impl=local"), "--fine-grained"),
]


@pytest.mark.parametrize(("settings", "line"), REFUSED, ids=["-".join(each[0]) for each in REFUSED])
def test_memory_plan_holds_nothing_that_is_refused(
    tmp_path: Path, packaged: Catalogue, settings: tuple[str, ...], line: str
) -> None:
    """What the release refuses beside the run's own settings is not recommended against a shortage of memory."""
    diagnosis = run(tmp_path, packaged, SHORT, *settings)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"
    usable = tuple(fix for fix in diagnosis.plan if fix.state in ("recommended", "unknown"))
    assert usable
    assert line not in pasted(usable) + "\n"


MEMORY = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 301, in <module>
    losses = forward_backward_func(data)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 0 has a total capacity of 79.11 GiB \
of which 110.00 MiB is free. Including non-PyTorch memory, this process has {own} memory in use. Of the \
allocated memory 66.20 GiB is allocated by PyTorch, and {cached} is reserved by PyTorch but unallocated.
"""
FRAGMENTED = MEMORY.format(own="78.90 GiB", cached="11.50 GiB")
OLD_FRAGMENTED = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 301, in <module>
    losses = forward_backward_func(data)
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB (GPU 0; 79.15 GiB total capacity; \
66.10 GiB already allocated; 200.62 MiB free; 77.50 GiB reserved in total by PyTorch)
"""
IGNORED = "y.py:219: UserWarning: expandable_segments not supported on this platform (Triggered internally.)\n"


def states(diagnosis: Diagnosis) -> dict[str, str]:
    """Return the state of each fix of the root, by its id."""
    assert diagnosis.root_cause is not None
    return {fix.id: fix.state for fix in diagnosis.root_cause.fixes}


def test_old_releases_know_no_expandable_segments(tmp_path: Path, packaged: Catalogue) -> None:
    """PyTorch before 2.1 refuses the option, so what it knows instead is recommended."""
    found = states(run(tmp_path, packaged, OLD_FRAGMENTED))
    assert (found["expandable-segments"], found["max-split-size"]) == ("not_applicable", "recommended")
    refused = "RuntimeError: Unrecognized CachingAllocator option: expandable_segments\n"
    diagnosis = run(tmp_path, packaged, OLD_FRAGMENTED.rpartition("torch.cuda")[0] + refused)
    assert "expandable_segments:True" not in pasted(diagnosis.plan)
    assert "max_split_size_mb" in pasted(diagnosis.plan)


def test_setting_that_is_ignored_is_not_on(tmp_path: Path, packaged: Catalogue) -> None:
    """The new name alone does nothing before PyTorch 2.11, and some platforms ignore the option."""
    new_name = "+ export PYTORCH_ALLOC_CONF=expandable_segments:True\n"
    assert states(run(tmp_path, packaged, new_name + FRAGMENTED, "torch=2.9.1"))["expandable-segments"] == "recommended"
    assert (
        states(run(tmp_path, packaged, new_name + FRAGMENTED, "torch=2.11.0"))["expandable-segments"]
        == "already_applied"
    )
    on = "+ export PYTORCH_HIP_ALLOC_CONF=expandable_segments:True\n"
    diagnosis = run(tmp_path, packaged, on + IGNORED + FRAGMENTED)
    assert states(diagnosis)["expandable-segments"] == "not_applicable"
    assert {check.id: check.answer for check in diagnosis.root_cause.checks}["expandable-segments-on"] == "no"  # type: ignore[union-attr]


def test_forbidden_setting_is_named_on_the_first_screen(tmp_path: Path, packaged: Catalogue) -> None:
    """Where user buffers forbid expandable_segments, the answer says so and gives the way out."""
    diagnosis = run(tmp_path, packaged, FRAGMENTED, "nccl_ub=true", "core=0.16.1")
    assert diagnosis.root_cause is not None
    assert [fix.id for fix in diagnosis.root_cause.fixes if fix.forbidden] == ["expandable-segments"]
    text = " ".join(RENDERERS["text"](diagnosis, Context("1.0")).split())
    assert "not: Let the allocator grow its segments" in text
    assert "Way out: switch nccl_ub off first" in text


def test_memory_elsewhere_beside_a_few_free_pieces(tmp_path: Path, packaged: Catalogue) -> None:
    """Free pieces of half a gigabyte do not hide that twelve are held outside of PyTorch."""
    diagnosis = run(tmp_path, packaged, MEMORY.format(own="79.00 GiB", cached="512.00 MiB"))
    assert diagnosis.root_cause is not None
    confirmed = {cause.id for cause in diagnosis.root_cause.causes if cause.state == "confirmed"}
    assert confirmed == {"fragmentation", "outside-of-pytorch"}
    assert states(run(tmp_path, packaged, FRAGMENTED))["less-outside-memory"] == "not_applicable"


def test_refused_connection_proves_no_dead_peer(tmp_path: Path, packaged: Catalogue) -> None:
    """A refused connection is a dead rank or a wrong interface; only the other side's log can tell."""
    line = "socketPollConnect: connect to 10.0.0.12<51234> returned Connection refused, exceeded error retry count"
    root = run(tmp_path, packaged, f"node01:1:2 [0] NCCL WARN {line} after 35 attempts\n").root_cause
    assert root is not None
    assert root.pattern == "nccl-connect-failed"
    assert not [cause.id for cause in root.causes if cause.state == "confirmed"]
    assert root.fixes[0].id == "read-the-peer"
