"""Reads the versions of a job's software: banners, package lists, and paths in tracebacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType

from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView, following
from diagnose.lazy import Lazy
from diagnose.read.model import Line

ORIGIN = "versions"
_PACKAGES = MappingProxyType(
    {
        "megatron-core": "core",
        "megatron-bridge": "bridge",
        "torch": "torch",
        "pytorch": "torch",
        "transformer-engine": "te",
        "transformer-engine-torch": "te",
        "deepspeed": "deepspeed",
        "transformers": "transformers",
        "lightning": "lightning",
        "pytorch-lightning": "lightning",
        "accelerate": "accelerate",
        "vllm": "vllm",
        "ray": "ray",
        "triton": "triton",
        "flash-attn": "flash_attn",
        "apex": "apex",
        "nemo-toolkit": "nemo",
        "nvidia-resiliency-ext": "nvrx",
        "nvidia-nccl-cu11": "nccl",
        "nvidia-nccl-cu12": "nccl",
        "nvidia-nccl-cu13": "nccl",
        "nvidia-cudnn-cu12": "cudnn",
        "nvidia-cudnn-cu13": "cudnn",
        "nvidia-cuda-runtime-cu12": "cuda",
    }
)
# Megatron Bridge's pinned Megatron Core, by minor release (its 3rdparty submodule): exact, or the line it lies on.
_PINS = MappingProxyType(
    {
        "0.2": ">=0.15,<0.16",
        "0.3": ">=0.16,<0.17",
        "0.4": ">=0.17,<0.18",
        "0.5": ">=0.18,<0.19",
        "0.6": ">=0.19,<0.20",
    }
)
_EXACT_PINS = MappingProxyType({"0.3.1": "0.16.1"})
_V = r"(\d{1,4}(?:\.\d{1,6}){1,3}(?:(?:a|b|rc|\.dev|\.post)\d{1,4})?)"
_NAME = "|".join(sorted((name.replace("-", "[-_]") for name in _PACKAGES), key=len, reverse=True))
_FIRST = tuple(_PACKAGES)
_PINNED = Lazy(rf"(?<![\w.-])({_NAME})(?:\[[\w,]{{1,40}}\])?==v?{_V}", re.IGNORECASE)
_FILE = Lazy(rf"(?<![\w.])({_NAME})-{_V}[\w+.]{{0,60}}?(?:\.dist-info|\.egg|-cp\d|-py\d|\.whl|/)", re.IGNORECASE)
_DASHED = Lazy(r"-\d+\.\d", needs=("-",))
_ROW = Lazy(rf"^\s{{0,8}}({_NAME}) +v?{_V}(?:[+\w.]{{0,60}})?(?: {{2,}}\S.*|\s+\S+)?\s*$", re.IGNORECASE)
_SAID = Lazy(rf"(?<![\w.-])({_NAME})(?: version|\.__version__)? ?(?:[:=]|\.{{3,}}) ?'?v?{_V}", re.IGNORECASE)
# A literal of the lower-cased text that must be there before the expression is tried, the key, the expression.
_REST: tuple[tuple[str, str, Lazy], ...] = tuple(
    (literal, key, Lazy(pattern.replace("%V", _V)))
    for literal, key, pattern in (
        ("core_", "core", r"(?<![A-Za-z])core_[vr]%V"),
        ("vs mcore", "core", r"(?i:vs mcore) %V"),
        ("core version", "core", r"(?i:megatron[- ]core version):? v?%V"),
        ("bridge/v", "bridge", r"(?i:megatron[-_]bridge)/v%V/"),
        ("bridge version", "bridge", r"(?i:megatron[- ]bridge version):? v?%V"),
        ("megatron-lm-v", "lm", r"(?i:megatron-lm)-v%V/"),
        ("megatron-lm/v", "lm", r"(?i:megatron-lm)/v%V/"),
        ("pytorch version", "torch", r"(?i:pytorch version):? %V"),
        ("torch version", "torch", r"(?i:torch version) \.{3,} %V"),
        ("engine version", "te", r"(?i:transformer ?engine version):? v?%V"),
        ("but your version", "te", r"needs transformer-engine>=\S+, but your version is %V"),
        ("nccl version", "nccl", r"\bNCCL version %V"),
        ("nccl version", "cuda", r"\bNCCL version [\d.]+\+cuda%V"),
        ("cuda", "cuda", r"(?i:cuda used to build pytorch|cuda runtime version|cuda version used)[ :.]+%V"),
        ("cuda compilation", "cuda", r"Cuda compilation tools, release %V"),
        ("+cu", "cuda", r"\btorch(?:==|-| +)\d[\w.]*\+cu(\d{3})\b"),
        ("driver version", "driver", r"(?i:driver version)[ :]+%V"),
        ("driver version", "driver_cuda", r"Driver Version: [\d.]+ +CUDA Version: %V"),
        ("deepspeed info", "deepspeed", r"(?i:deepspeed info)(?:: version=| \.{3,} )%V"),
        ("deepspeed version", "deepspeed", r"(?i:deepspeed version)[ :=]+%V"),
        ("/python3", "python", r"/python(3\.\d{1,2})/"),
        ("python version", "python", r"(?i:python version)[ :]+%V"),
        ("slurm", "slurm", r"\b(?:slurm(?:-wlm)?|slurmctld version|slurmd version) %V"),
        ("linux version", "kernel", r"\bLinux version %V"),
        ("nvcr.io", "container", r"\bnvcr\.io[/#]nvidia/([\w./-]{1,60}:[\w.-]{1,60})"),
        (":2", "container", r"(?<![\w/])(pytorch:\d\d\.\d\d-py3|nemo:\d\d\.\d\d(?:\.\w+)?)\b"),
    )
)
_STEMS = (
    *("torch", "megatron", "transformer", "deepspeed", "lightning", "accelerate"),
    *("vllm", "triton", "flash", "apex", "nemo", "nvidia", "ray"),
)
# A requirement names versions that are wanted, not versions that are there.
_WANTED = Lazy(
    r"\brequires?\b|incompatible|not satisfied|Collecting |Requirement |upgrade|Please install",
    needs=("require", "incompatible", "not satisfied", "Collecting ", "Requirement ", "upgrade", "Please install"),
)
_HEADER = Lazy(
    r"\s{0,8}(?:Package +Version|# packages in environment)", needs=("Package ", "# packages in environment")
)
_LONGEST = 4000
_ROWS = 1000


def versions_in(text: str) -> list[tuple[str, str]]:
    """Find versions in one line or path: pairs such as `("core", "0.16.1")`, without a build's local part.

    Args:
        text: a log line, or the path of a traceback's frame.
    """
    text = text[:_LONGEST]
    lowered = text.lower()
    found: list[tuple[str, str]] = []
    if any(stem in lowered for stem in _STEMS) and not _WANTED.search(text):
        said = ":" in text or "=" in text or "..." in text
        row = lowered.lstrip().replace("_", "-").startswith(_FIRST)
        tried = (("==" in text, _PINNED), (bool(_DASHED.search(text)), _FILE), (row, _ROW), (said, _SAID))
        for pattern in (expression for worth, expression in tried if worth):
            found += [(_PACKAGES[name.lower().replace("_", "-")], version) for name, version in pattern.findall(text)]
    for literal, key, expression in _REST:
        if literal in lowered:
            found += [(key, _cuda(value) if key == "cuda" else value) for value in expression.findall(text)]
    return list(dict.fromkeys(found))


def pinned_core(bridge: str) -> str | None:
    """Give the Megatron Core that a Megatron Bridge release pins: `0.16.1`, or a range such as `>=0.18,<0.19`."""
    minor = ".".join(bridge.split(".")[:2])
    return _EXACT_PINS.get(bridge, _PINS.get(minor))


def _cuda(value: str) -> str:
    return value if "." in value else f"{value[:-1]}.{value[-1]}"


def _read(text: TextView, line: Line) -> Iterator[Observation]:
    yield from _observed(text, line)
    if _HEADER.match(line.body):
        for row in following(text, line, _ROWS):
            if not row.body.strip() or len(row.body.split()) > 5:
                break
            yield from _observed(text, row)


def _observed(text: TextView, line: Line) -> Iterator[Observation]:
    for key, version in versions_in(line.body):
        evidence = text.evidence(line)
        yield Observation("run.container" if key == "container" else f"version.{key}", version, evidence, ORIGIN)
        core = pinned_core(version) if key == "bridge" else None
        if core:
            yield Observation("version.core", core, evidence, "bridge-pin")


VERSIONS = Reader(
    "versions",
    (
        b"NCCL version ",
        b"orch version",
        b"orch Version",
        b"torch==",
        b"megatron-core",
        b"megatron_core-",
        b"megatron-bridge/v",
        b"Megatron-Bridge/v",
        b"megatron-bridge==",
        b"core_v0.",
        b"core_r0.",
        b"vs Mcore 0",
        b"transformer-engine",
        b"transformer_engine==",
        b"Driver Version: ",
        b"eepSpeed version",
        b"eepSpeed info: version=",
        b"deepspeed info .",
        b"transformers==",
        b"nvcr.io",
        b"CUDA used to build",
        b"Cuda compilation tools",
        b"Package   ",
        b"# packages in environment",
        b"slurmctld version",
        b"slurmd version",
        b"Linux version ",
    ),
    _read,
    keep=12,
)
