"""Maps each framework's spelling of a setting to Megatron Core's field name."""

from __future__ import annotations

from types import MappingProxyType

from diagnose.facts.model import Value
from diagnose.facts.values import split_items

# Megatron-LM names: core_transformer_config_from_args in megatron/training/arguments.py.
CANONICAL = MappingProxyType(
    {
        "fp8_format": "fp8",
        "fp4_format": "fp4",
        "num_experts": "num_moe_experts",
        "te_rng_tracker": "use_te_rng_tracker",
        "check_for_nan_in_loss_and_grad": "check_for_nan_in_loss",
        "norm_epsilon": "layernorm_epsilon",
        "swiglu": "gated_linear_unit",
        "model_parallel_size": "tensor_model_parallel_size",
        "encoder_num_layers": "num_layers",
        "decoder_first_pipeline_num_layers": "num_layers_in_first_pipeline_stage",
        "decoder_last_pipeline_num_layers": "num_layers_in_last_pipeline_stage",
        "num_virtual_stages_per_pipeline_rank": "virtual_pipeline_model_parallel_size",
        "use_nccl_ub": "nccl_ub",
        "local_batch_size": "micro_batch_size",
        # NeMo
        "activations_checkpoint_granularity": "recompute_granularity",
        "activations_checkpoint_method": "recompute_method",
        "activations_checkpoint_num_layers": "recompute_num_layers",
        "encoder_seq_length": "seq_length",
        "sequence_length": "seq_length",
        # scripts/performance of Megatron Bridge
        "virtual_pipeline_size": "virtual_pipeline_model_parallel_size",
        "virtual_pipeline_parallel_size": "virtual_pipeline_model_parallel_size",
        "tensor_parallel_size": "tensor_model_parallel_size",
        "pipeline_parallel_size": "pipeline_model_parallel_size",
        "expert_parallel_size": "expert_model_parallel_size",
        "expert_model_parallel_degree": "expert_model_parallel_size",
        "tensor_parallel_degree": "tensor_model_parallel_size",
        "pipeline_parallel_degree": "pipeline_model_parallel_size",
        "context_parallel_degree": "context_parallel_size",
        # Hugging Face and DeepSpeed
        "per_device_train_batch_size": "micro_batch_size",
        "train_micro_batch_size_per_gpu": "micro_batch_size",
        "train_batch_size": "global_batch_size",
        "num_hidden_layers": "num_layers",
        "num_key_value_heads": "num_query_groups",
        "intermediate_size": "ffn_hidden_size",
        "num_local_experts": "num_moe_experts",
        "n_routed_experts": "num_moe_experts",
        "num_experts_per_tok": "moe_router_topk",
    }
)
INVERTED = MappingProxyType({"disable_bias_linear": "add_bias_linear"})
LIST_FIELDS = frozenset(
    {
        "recompute_modules",
        "offload_modules",
        "cuda_graph_scope",
        "cuda_graph_modules",
        "hierarchical_context_parallel_sizes",
        "data_path",
    }
)


def canonical(name: str) -> str:
    """Give Megatron Core's name for a setting; an unknown name stays as it is."""
    key = name.strip().lstrip("-").replace("-", "_")
    return CANONICAL.get(key, key)


def normalise(key: str, value: Value) -> Value:
    """Give a setting the shape that conditions expect: fields that hold several names are always lists."""
    if key not in LIST_FIELDS or value is None or isinstance(value, list):
        return value
    if isinstance(value, str):
        return [*split_items(value)] if "," in value else [*value.split()]
    return [value]
