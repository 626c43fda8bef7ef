"""What a framework itself changes in a configuration before its validation sees it.

Source: TransformerConfig.__post_init__ and ModelParallelConfig.__post_init__ of Megatron Core 0.14 to 0.19,
validate_args of Megatron-LM of the same releases, models/transformer_config.py of Megatron Bridge 0.4 and 0.6.
"""

from __future__ import annotations

from collections.abc import Callable

from diagnose.catalogue.version import Version
from diagnose.facts.model import Observation, Value
from diagnose.facts.run import Facts

ORIGIN = "settled"


class _Settings:
    """The settings as they stand, with what the rules below changed on top."""

    def __init__(self, facts: Facts, core: Version, framework: str) -> None:
        self._facts = facts
        self.core = core
        self.framework = framework
        self.changed: dict[str, Observation] = {}

    def since(self, release: str) -> bool:
        return self.core.compare(">=", release) is True

    def get(self, key: str) -> Value:
        if key in self.changed:
            return self.changed[key].value
        value: Value = self._facts.value(f"config.{key}")
        return value

    def number(self, key: str) -> int:
        value = self.get(key)
        return value if isinstance(value, int) else 0

    def names(self, key: str) -> list[Value]:
        value = self.get(key)
        return value if isinstance(value, list) else []

    def change(self, key: str, value: Value, because: str) -> None:
        seen = self._facts.lookup(f"config.{because}")
        self.changed[key] = Observation(f"config.{key}", value, seen.evidence if seen else None, ORIGIN)


def settled(facts: Facts, core: Version, framework: str) -> list[Observation]:
    """List the settings that the framework changes, with the line of the setting that makes it do so.

    Arguments: `facts`, the configuration with the defaults of the release; `core`, the release or line of Megatron
    Core; `framework`, megatron-core, megatron-lm, megatron-bridge or nemo.
    """
    state = _Settings(facts, core, framework)
    for rule in _RULES:
        rule(state)
    return list(state.changed.values())


def _sequence_parallel(state: _Settings) -> None:
    frameworks = state.framework != "megatron-core"
    if frameworks and state.get("sequence_parallel") and state.number("tensor_model_parallel_size") <= 1:
        state.change("sequence_parallel", False, "tensor_model_parallel_size")


def _moe_layer_recompute(state: _Settings) -> None:
    if state.get("moe_layer_recompute") and state.get("recompute_granularity") is None:
        state.change("recompute_granularity", "selective", "moe_layer_recompute")
        state.change("recompute_modules", [*state.names("recompute_modules"), "moe"], "moe_layer_recompute")


def _old_graph_flags(state: _Settings) -> None:
    """From Core 0.15 on the old flags only stand for an implementation, unless one is named beside them."""
    if not state.since("0.15") or state.get("cuda_graph_impl") != "none":
        return
    for flag, implementation in (("enable_cuda_graph", "local"), ("external_cuda_graph", "transformer_engine")):
        if state.get(flag):
            state.change("cuda_graph_impl", implementation, flag)
            state.change(flag, False, flag)


def _graph_modules(state: _Settings) -> None:
    """From Core 0.18 on cuda_graph_scope is cuda_graph_modules, and the full iteration an implementation."""
    if state.since("0.16"):
        for key in ("cuda_graph_scope", "cuda_graph_modules"):
            if state.get(key) in ("full", ["full"]):
                state.change(key, [], key)
    if not state.since("0.18"):
        return
    if state.get("cuda_graph_scope") is not None and not state.get("cuda_graph_modules"):
        state.change("cuda_graph_modules", state.names("cuda_graph_scope"), "cuda_graph_scope")
        state.change("cuda_graph_scope", None, "cuda_graph_scope")
    modules = state.names("cuda_graph_modules")
    if "full_iteration" in modules and state.get("cuda_graph_impl") == "local":
        source = "cuda_graph_scope" if "cuda_graph_scope" in state.changed else "cuda_graph_modules"
        state.change("cuda_graph_impl", "full_iteration", source)
        state.change("cuda_graph_modules", [each for each in modules if each != "full_iteration"], source)


def _local_router_scope(state: _Settings) -> None:
    """The local implementation knows no difference between the router and what stands before it."""
    pair = ["moe_router", "moe_preprocess"]
    if not state.since("0.16") or state.get("cuda_graph_impl") != "local":
        return
    for key in ("cuda_graph_scope", "cuda_graph_modules"):
        scopes = state.names(key)
        if any(each in scopes for each in pair):
            state.change(key, [*scopes, *(each for each in pair if each not in scopes)], key)


def _sizes(state: _Settings) -> None:
    for key, source in (("num_query_groups", "num_attention_heads"), ("ffn_hidden_size", "hidden_size")):
        if state.get(key) is None and state.number(source):
            state.change(key, state.number(source) * (4 if key == "ffn_hidden_size" else 1), source)
    if state.get("expert_tensor_parallel_size") is None:
        state.change(
            "expert_tensor_parallel_size", state.number("tensor_model_parallel_size"), "tensor_model_parallel_size"
        )


def _router_padding(state: _Settings) -> None:
    if state.get("moe_router_padding_for_fp8") and state.since("0.16"):
        state.change("moe_router_padding_for_quantization", True, "moe_router_padding_for_fp8")


def _rampup(state: _Settings) -> None:
    """A ramp-up is three numbers: the first batch size, what is added at a time, the samples it takes."""
    numbers = state.names("rampup_batch_size")
    if len(numbers) == 3:
        state.change("rampup_start", numbers[0], "rampup_batch_size")
        state.change("rampup_increment", numbers[1], "rampup_batch_size")


def _nothing_virtual(state: _Settings) -> None:
    """Megatron-LM takes one virtual stage for none."""
    if state.framework == "megatron-lm" and state.get("virtual_pipeline_model_parallel_size") == 1:
        state.change("virtual_pipeline_model_parallel_size", None, "virtual_pipeline_model_parallel_size")


_RULES: tuple[Callable[[_Settings], None], ...] = (
    _sequence_parallel,
    _moe_layer_recompute,
    _old_graph_flags,
    _graph_modules,
    _local_router_scope,
    _sizes,
    _router_padding,
    _rampup,
    _nothing_virtual,
)
