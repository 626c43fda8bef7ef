"""Defaults of Megatron Core, Megatron-LM and Megatron Bridge: the value of a setting that nobody sets.

Source: TransformerConfig, ModelParallelConfig, DistributedDataParallelConfig and OptimizerConfig of Megatron Core
0.14.0, 0.15.3, 0.16.1, 0.17.1, 0.18.2 and 0.19.0; Megatron-LM's argument parser (0.17.1 to 0.19.0) and the argument
dumps of 0.14.0, 0.16.1 and 0.18.2; GPTModelProvider and the configuration classes of Megatron Bridge 0.4.2 and 0.6.0.
The values are those after the classes' own `__post_init__`. Releases before 0.14 are taken to agree where the field
was there.
"""

from __future__ import annotations

from diagnose.catalogue.condition import Seen
from diagnose.catalogue.version import Version
from diagnose.classes import dataclass
from diagnose.facts.model import Observation, Value


@dataclass(frozen=True, slots=True)
class Default:
    """The value of a setting that a configuration does not mention."""

    key: str  # Megatron Core's field name
    versions: str  # releases of Megatron Core it holds for, e.g. ">=0.15"; "" all
    value: Value


DEFAULTS: tuple[Default, ...] = (
    Default("recompute_granularity", "", None),
    Default("recompute_method", "", None),
    Default("recompute_num_layers", "", None),
    Default("recompute_modules", ">=0.12", ["core_attn"]),
    Default("distribute_saved_activations", "", False),
    Default("moe_layer_recompute", ">=0.12", False),
    Default("enable_cuda_graph", ">=0.11", False),
    Default("external_cuda_graph", ">=0.11", False),
    Default("cuda_graph_impl", ">=0.15", "none"),
    Default("cuda_graph_scope", ">=0.12,<0.16", ["full"]),
    Default("cuda_graph_scope", ">=0.16,<0.18", []),
    Default("cuda_graph_scope", ">=0.18", None),
    Default("cuda_graph_modules", ">=0.18", []),
    Default("cuda_graph_warmup_steps", ">=0.14", 3),
    Default("cpu_offloading", "", False),
    Default("cpu_offloading_num_layers", "", 0),
    Default("fine_grained_activation_offloading", ">=0.16", False),
    Default("fine_grained_offloading_max_inflight_offloads", ">=0.18", None),
    Default("offload_modules", ">=0.16", []),
    Default("optimizer_cpu_offload", ">=0.12", False),
    Default("use_precision_aware_optimizer", ">=0.12", False),
    Default("tensor_model_parallel_size", "", 1),
    Default("pipeline_model_parallel_size", "", 1),
    Default("virtual_pipeline_model_parallel_size", "", None),
    Default("pipeline_model_parallel_layout", ">=0.14", None),
    Default("pipeline_dtype", "", None),
    Default("num_layers_in_first_pipeline_stage", ">=0.11", None),
    Default("num_layers_in_last_pipeline_stage", ">=0.11", None),
    Default("account_for_embedding_in_pipeline_split", ">=0.11", False),
    Default("account_for_loss_in_pipeline_split", ">=0.11", False),
    Default("context_parallel_size", "", 1),
    Default("hierarchical_context_parallel_sizes", ">=0.10", None),
    Default("cp_comm_type", ">=0.9", None),
    Default("expert_model_parallel_size", "", 1),
    Default("sequence_parallel", "", False),
    Default("fp16", "", False),
    Default("bf16", "", False),
    Default("fp8", "", None),
    Default("fp8_recipe", ">=0.12", "delayed"),
    Default("fp8_param", ">=0.12", False),
    Default("fp8_output_proj", ">=0.18", False),
    Default("first_last_layers_bf16", ">=0.12", False),
    Default("num_layers_at_start_in_bf16", ">=0.12", 1),
    Default("num_layers_at_end_in_bf16", ">=0.12", 1),
    Default("fp4", ">=0.15", None),
    Default("fp4_param", ">=0.15", False),
    Default("attention_dropout", "", 0.1),
    Default("hidden_dropout", "", 0.1),
    Default("add_bias_linear", "", True),
    Default("bias_activation_fusion", "", False),
    Default("use_te_activation_func", ">=0.15", False),
    Default("apply_rope_fusion", "", False),
    Default("rotary_interleaved", "", False),
    Default("transformer_impl", ">=0.14", "transformer_engine"),
    Default("use_te_rng_tracker", "", False),
    Default("tp_comm_overlap", "", False),
    Default("overlap_p2p_comm", "", False),
    Default("gradient_accumulation_fusion", "", False),
    Default("calculate_per_token_loss", "", False),
    Default("cross_entropy_loss_fusion", "", False),
    Default("deterministic_mode", ">=0.7", False),
    Default("multi_latent_attention", "", False),
    Default("experimental_attention_variant", ">=0.16", None),
    Default("mtp_num_layers", ">=0.12", None),
    Default("num_moe_experts", "", None),
    Default("moe_ffn_hidden_size", ">=0.8", None),
    Default("moe_layer_freq", ">=0.8", 1),
    Default("moe_grouped_gemm", "", False),
    Default("moe_token_dispatcher_type", "", "allgather"),
    Default("moe_enable_deepep", ">=0.11", False),
    Default("moe_shared_expert_intermediate_size", ">=0.9", None),
    Default("moe_shared_expert_overlap", ">=0.10", False),
    Default("moe_expert_capacity_factor", "", None),
    Default("moe_pad_expert_input_to_capacity", ">=0.7", False),
    Default("moe_permute_fusion", ">=0.11", False),
    Default("moe_input_jitter_eps", "", None),
    Default("moe_router_topk", "", 2),
    Default("moe_router_load_balancing_type", "", "aux_loss"),
    Default("moe_router_score_function", ">=0.10", "softmax"),
    Default("moe_router_pre_softmax", ">=0.7", False),
    Default("moe_router_group_topk", ">=0.11", None),
    Default("moe_router_num_groups", ">=0.11", None),
    Default("moe_router_enable_expert_bias", ">=0.10", False),
    Default("moe_router_padding_for_fp8", ">=0.12", False),
    Default("moe_router_padding_for_quantization", ">=0.16", False),
    Default("moe_paged_stash", ">=0.18", False),
    Default("overlap_moe_expert_parallel_comm", ">=0.14", False),
    Default("delay_wgrad_compute", ">=0.14", False),
    Default("gtp_weight_remat_size", ">=0.19", 1),
    Default("nccl_ub", ">=0.14", False),
    Default("overlap_grad_reduce", "", False),
    Default("overlap_param_gather", "", False),
    Default("fp8_param_gather", ">=0.9", False),
    Default("use_distributed_optimizer", "", False),
    Default("use_megatron_fsdp", ">=0.14", False),
    Default("check_for_nan_in_loss", "", True),
)

# What Megatron-LM's argument parser and Megatron Bridge's classes set otherwise, or beside Megatron Core.
_MEGATRON_LM = (
    Default("kv_channels", "", None),
    Default("lr_warmup_fraction", "", None),
    Default("lr_warmup_iters", "", 0),
    Default("lr_warmup_samples", "", 0),
    Default("cp_comm_type", ">=0.10", ["p2p"]),
    Default("gradient_accumulation_fusion", "", True),
    Default("optimizer", "", "adam"),
    Default("min_lr", "", 0.0),
    Default("ckpt_format", "", "torch_dist"),
    Default("async_save", "", False),
    Default("use_torch_fsdp2", ">=0.10", False),
    Default("position_embedding_type", "", "learned_absolute"),
    Default("rampup_batch_size", "", None),
    Default("train_samples", "", None),
    Default("train_iters", "", None),
)
_BRIDGE = (
    Default("cross_entropy_loss_fusion", "", True),
    Default("ckpt_format", "", "torch_dist"),
    Default("async_save", "", False),
    Default("use_torch_fsdp2", "", False),
    Default("position_embedding_type", "", "learned_absolute"),
    Default("train_samples", "", None),
    Default("peft", "", None),
    Default("checkpoint.pretrained_checkpoint", "", None),
)
# Set by the framework from something else, so that Megatron Core's own default says nothing.
_DERIVED = {
    "megatron-lm": frozenset({"pipeline_dtype"}),
    "megatron-bridge": frozenset({"pipeline_dtype", "bf16", "fp16"}),
    "nemo": frozenset({"pipeline_dtype", "bf16", "fp16"}),
}
_FRAMEWORKS = {"megatron-lm": _MEGATRON_LM, "megatron-bridge": _BRIDGE, "nemo": _BRIDGE}


def defaults_for(core: Seen | None) -> list[Observation]:
    """List the defaults of a release of Megatron Core; those that differ between releases only where it is known."""
    version = core.value if core is not None and isinstance(core.value, Version) else None
    return [_observe(each.key, each.value) for each in DEFAULTS if _holds(each, version)]


def constructed_defaults(core: Version, framework: str) -> list[Observation]:
    """List what a configuration that is still to be constructed holds where nobody sets anything.

    A field that the release does not have counts as off. Arguments: `core`, one release or a line of releases;
    `framework`, megatron-core, megatron-lm, megatron-bridge or nemo.
    """
    found: dict[str, Value] = {each.key: None for each in DEFAULTS}
    found["cuda_graph_impl"] = "none"
    for each in (*DEFAULTS, *_FRAMEWORKS.get(framework, ())):
        if _holds(each, core):
            found[each.key] = each.value
    derived = _DERIVED.get(framework, frozenset())
    return [_observe(key, value) for key, value in found.items() if key not in derived]


def unknown_to(core: Version) -> frozenset[str]:
    """Name the settings (as `config.KEY`) of other releases that these releases of Megatron Core do not have."""
    held = {each.key for each in DEFAULTS if _holds(each, core)}
    return frozenset(f"config.{each.key}" for each in DEFAULTS if each.key not in held)


def _observe(key: str, value: Value) -> Observation:
    return Observation(f"config.{key}", value, None, "default")


def _holds(default: Default, version: Version | None) -> bool:
    if not default.versions:
        return True
    if version is None:
        return False
    bounds = [part.strip() for part in default.versions.split(",")]
    return all(version.compare(bound.rstrip("0123456789."), bound.lstrip("<>=")) for bound in bounds)
