"""Tells what the job was doing when it failed."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import Step
from diagnose.lazy import Lazy
from diagnose.read.model import Frame

# Function and file names of PyTorch, Megatron-LM, Megatron Bridge, Transformers, Lightning and DeepSpeed.
# These phases hold the frames of forward and backward inside them, so any frame decides.
_ENCLOSING = (
    (
        "capture",
        ("graph", "capture_begin"),
        r"cuda_?graphs?\.py|make_graphed_callables|create_cudagraphs|capture_(?:begin|graphs?)\b",
    ),
    (
        "save",
        ("save",),
        r" in (?:\w*save_checkpoint\w*|save_state\w*|save_pretrained|torch_save)\b|serialization\.py:\d+ in save\b",
    ),
    (
        "load",
        ("load", "from_pretrained"),
        r" in (?:\w*load_checkpoint\w*|load_state_dict|from_pretrained)\b|serialization\.py:\d+ in load\b",
    ),
    (
        "eval",
        ("eval", "valid", "prediction_step", "generate"),
        r" in (?:evaluate\w*|evaluation_loop|validat(?:e|ion)_?\w*step|validation_epoch|prediction_step|generate)\b",
    ),
    (
        "optimizer",
        ("optim", "clip_grad", "take_model_step"),
        r"torch/optim/|/optimizer/\w+\.py|_optimizer\.py| in (?:clip_grad\w*|optimizer_step|take_model_step)\b",
    ),
)
# Of these the innermost frame decides.
_INNER = (
    (
        "backward",
        ("backward", " in grad"),
        r"torch/autograd/\S+ in (?:backward|_engine_run_backward|grad)\b| in \w*backward\w*\b",
    ),
    (
        "data",
        ("data", "__getitem", "get_batch", "collate"),
        r"dataloader\.py|data_iterator| in (?:__getitem__|__getitems__|get_batch\w*|collate\w*|_next_data)\b",
    ),
    (
        "forward",
        ("forward", "call_impl", "training_step", "compute_loss"),
        r" in (?:\w*forward\w*|_call_impl|_wrapped_call_impl|training_step|compute_loss)\b",
    ),
    (
        "build",
        ("model", "provide", " in to", " in cuda", " in _apply"),
        r" in (?:setup_model_and_optimizer|get_model|\w*model_provider|build_\w*model\w*|provide\w*|to|cuda|_apply)\b",
    ),
    (
        "start",
        ("validate", "init", "parse_args", "finalize"),
        r" in (?:validate_args|initialize_megatron|init_process_group|parse_args|finalize|validate|__post_init__)\b",
    ),
)
_ENCLOSING_EXPRESSIONS = tuple((name, Lazy(text, needs=needs)) for name, needs, text in _ENCLOSING)
_INNER_EXPRESSIONS = tuple((name, Lazy(text, needs=needs)) for name, needs, text in _INNER)


def phase_of(frames: Sequence[Frame], steps: Sequence[Step]) -> str | None:
    """Name the phase: from a traceback's frames, else from the last progress line before.

    Arguments: the frames (outermost first) and the steps before the failure. Returns one of start, build, load, data,
    first-step, forward, backward, optimizer, eval, save, capture; None where nothing tells. A forward or backward pass
    before any finished iteration is the first step.
    """
    name = _from_frames(frames)
    if name in ("forward", "backward") and not any(step.kind == "iteration" for step in steps):
        return "first-step"
    if name is not None or not steps:
        return name
    return {"save": "save", "load": "load"}.get(steps[-1].kind)


def _from_frames(frames: Sequence[Frame]) -> str | None:
    texts = [f"{frame.file}:{frame.line} in {frame.function}" for frame in reversed(frames)]
    for name, expression in _ENCLOSING_EXPRESSIONS:
        if any(expression.search(text) for text in texts):
            return name
    for text in texts:
        for name, expression in _INNER_EXPRESSIONS:
            if expression.search(text):
                return name
    return None
