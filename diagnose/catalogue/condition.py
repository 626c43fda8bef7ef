"""Conditions of pattern files: small expressions with three answers, yes, no and unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

NAMESPACES = ("config", "env", "capture", "let", "check", "run", "memory")
VERSIONS = (
    "core bridge lm te torch nccl cuda driver deepspeed transformers lightning python slurm "
    "accelerate vllm ray triton cudnn flash_attn apex nemo mcore nvrx kernel"
).split()
FUNCTIONS = (
    "known default size int float len lower min max any all matches sum_sizes found frame"
).split()
_NAMES = {"text", "True", "False", "None"}
_BIN: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_CMP: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
