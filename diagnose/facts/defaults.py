"""Megatron Core's defaults, for logs that print only what differs from them.

Source: TransformerConfig, ModelParallelConfig and DistributedDataParallelConfig of Megatron Core 0.12 to 0.19;
`check_for_nan_in_loss` is Megatron Bridge's RerunStateMachineConfig.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagnose.catalogue.condition import Seen
from diagnose.catalogue.version import Version
from diagnose.facts.model import Observation, Value


@dataclass(frozen=True, slots=True)
class Default:
    """The value of a setting that a summary of non-default values does not mention."""

    key: str  # Megatron Core's field name
    versions: str  # releases of Megatron Core it holds for, e.g. ">=0.15"; "" all
    value: Value


DEFAULTS: tuple[Default, ...] = (
    Default("recompute_granularity", "", None),
    Default("recompute_method", "", None),
    Default("recompute_num_layers", "", None),
    Default("recompute_modules", ">=0.12", ["core_attn"]),
    Default("distribute_saved_activations", "", None),
    Default("moe_layer_recompute", ">=0.7", False),
    Default("enable_cuda_graph", ">=0.11", False),
    Default("external_cuda_graph", ">=0.11", False),
    Default("cuda_graph_impl", ">=0.15", "none"),
    Default("cuda_graph_scope", ">=0.12,<0.16", ["full"]),
    Default("cuda_graph_scope", ">=0.16,<0.18", []),
    Default("cuda_graph_modules", ">=0.18", []),
    Default("cuda_graph_warmup_steps", ">=0.12", 3),
    Default("cpu_offloading", "", False),
    Default("cpu_offloading_num_layers", "", 0),
    Default("fine_grained_activation_offloading", ">=0.16", False),
    Default("offload_modules", ">=0.16", None),
    Default("optimizer_cpu_offload", ">=0.12", False),
    Default("tensor_model_parallel_size", "", 1),
    Default("pipeline_model_parallel_size", "", 1),
    Default("virtual_pipeline_model_parallel_size", "", None),
    Default("context_parallel_size", "", 1),
    Default("expert_model_parallel_size", "", 1),
    Default("sequence_parallel", "", False),
    Default("fp16", "", False),
    Default("bf16", "", False),
    Default("fp8", "", None),
    Default("fp8_recipe", ">=0.12", "delayed"),
    Default("fp8_param", ">=0.12", False),
    Default("fp4", ">=0.15", None),
    Default("attention_dropout", "", 0.1),
    Default("hidden_dropout", "", 0.1),
    Default("use_te_rng_tracker", "", False),
    Default("tp_comm_overlap", "", False),
    Default("multi_latent_attention", "", False),
    Default("num_moe_experts", "", None),
    Default("moe_grouped_gemm", "", False),
    Default("moe_token_dispatcher_type", "", "allgather"),
    Default("moe_shared_expert_overlap", ">=0.10", False),
    Default("moe_expert_capacity_factor", "", None),
    Default("moe_pad_expert_input_to_capacity", ">=0.7", False),
    Default("moe_permute_fusion", ">=0.11", False),
    Default("moe_input_jitter_eps", "", None),
    Default("overlap_moe_expert_parallel_comm", ">=0.14", False),
    Default("delay_wgrad_compute", ">=0.14", False),
    Default("nccl_ub", ">=0.13", False),
    Default("overlap_grad_reduce", "", False),
    Default("overlap_param_gather", "", False),
    Default("use_distributed_optimizer", "", False),
    Default("check_for_nan_in_loss", "", True),
)


def defaults_for(core: Seen | None) -> list[Observation]:
    """List the defaults of a release of Megatron Core; those that differ between releases only where it is known."""
    version = core.value if core is not None and isinstance(core.value, Version) else None
    holding = [each for each in DEFAULTS if _holds(each, version)]
    return [Observation(f"config.{each.key}", each.value, None, "default") for each in holding]


def _holds(default: Default, version: Version | None) -> bool:
    if not default.versions:
        return True
    if version is None:
        return False
    bounds = [part.strip() for part in default.versions.split(",")]
    return all(version.compare(bound.rstrip("0123456789."), bound.lstrip("<>=")) for bound in bounds)
