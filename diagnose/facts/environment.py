"""Reads environment variables: `export`, `set -x`, dumps of the whole environment, NCCL's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView, following, preceding
from diagnose.facts.secrets import MASK, hide_evidence, is_secret
from diagnose.facts.shell import ASSIGNMENT, resolve, words
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Line

ORIGIN = "environment"
_ANCHORS = (
    b"export ",
    b"declare -x ",
    b"setenv ",
    b"PYTORCH_CUDA_ALLOC_CONF",
    b"PYTORCH_ALLOC_CONF",
    b"PYTORCH_HIP_ALLOC_CONF",
    b"CUDA_DEVICE_MAX_CONNECTIONS",
    b"CUDA_VISIBLE_DEVICES=",
    b"NCCL_GRAPH_REGISTER",
    b"NCCL_DEBUG=",
    b"NCCL_SOCKET_IFNAME=",
    b"NVTE_CPU_OFFLOAD_V1",
    b"NVTE_FUSED_ATTN=",
    b"NVTE_FLASH_ATTN=",
    b"SLURM_JOB_ID=",
    b"MASTER_ADDR=",
    b"LD_LIBRARY_PATH=",
)
_TRACE = Lazy(r"\s{0,40}(?:\++ |\$ )?")
_EXPORT = Lazy(r"(?:export|declare -\w{0,4}x\w{0,4}|typeset -x) +(?!-)", needs=("export", "declare", "typeset"))
_SETENV = Lazy(r"setenv +([A-Za-z_]\w{0,100}) +(.+)", needs=("setenv",))
_DUMPED = Lazy(r"\s{0,8}([A-Z][A-Z0-9_]{2,100})=(.*)", needs=("=",))
_QUOTED = Lazy(r"""["']([A-Z][A-Z0-9_]{2,100})["']: ?(["'])((?:(?!\2).){0,2000})\2""", needs=("':", '":'))
_KNOWN = Lazy(
    r"(?:PYTORCH|NCCL|NVTE|CUDA|CUBLAS|CUDNN|TORCH|TORCHELASTIC|TORCHINDUCTOR|SLURM|OMP|NVSHMEM|UCX|OMPI|GLOO|FI|HF|"
    r"TRITON|NVIDIA|DS|MASTER|LD|RDMA|MLX5|UB|PYTHON|TRANSFORMERS|NEMO|MEGATRON|HYDRA|TOKENIZERS|MKL)_|"
    r"(?:WORLD_SIZE|PYTHONPATH|PYTHONUNBUFFERED|PYTHONFAULTHANDLER)$"
)
_NCCL = Lazy(r"\b([A-Z][A-Z0-9_]{2,100}) set by environment to (.+?)\.?\s*$")
_ALLOCATOR = frozenset({"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"})
_EXPANDABLE = Lazy(r"expandable_segments\s*:\s*(?:true|1)\b", re.IGNORECASE, needs=("expandable_segments",))
_BLOCK = 400  # lines of a dump, to each side
_ENOUGH = 5  # assignments in a row that make a dump of which every name is believed


def variables(
    pairs: Iterable[tuple[str, str]], evidence: Evidence | None, origin: str = ORIGIN
) -> Iterator[Observation]:
    """Yield `env.NAME` for each pair, secrets masked, and `run.expandable_segments` where the allocator is set."""
    shown = hide_evidence(evidence) if evidence else None
    for name, value in pairs:
        yield Observation(f"env.{name}", MASK if is_secret(name) else value[:2000], shown, origin)
        if name in _ALLOCATOR:
            yield Observation("run.expandable_segments", bool(_EXPANDABLE.search(value)), shown, origin)


def exported(body: str) -> list[tuple[str, str]]:
    """Read `export A=1 B=2`, `+ export A=1`, `declare -x A="1"` and `setenv A 1`; nothing for any other line."""
    rest = body[_TRACE.match(body).end() :]  # type: ignore[union-attr]
    setenv = _SETENV.fullmatch(rest)
    if setenv:
        return _resolved([(setenv[1], setenv[2].strip().strip("'\""))])
    head = _EXPORT.match(rest)
    if not head:
        return []
    assigned: list[tuple[str, str]] = []
    for word in words(rest[head.end() :]):
        found = ASSIGNMENT.fullmatch(word)
        if not found:
            break
        assigned.append((found[1], found[2].rstrip(";")))
    return _resolved(assigned)


def dumped(body: str) -> tuple[str, str] | None:
    """Read one `NAME=value` line of an environment dump, or of `set -x`."""
    found = _DUMPED.fullmatch(body[_TRACE.match(body).end() :])  # type: ignore[union-attr]
    if not found:
        return None
    value = found[2].strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return found[1], value


def _resolved(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, raw in pairs if (value := resolve(raw)) is not None]


def _read(text: TextView, line: Line) -> Iterator[Observation]:
    pairs = exported(line.body)
    if not pairs and "environ" in line.body:
        pairs = [(name, value) for name, _, value in _QUOTED.findall(line.body)]
    if pairs:
        yield from variables(pairs, text.evidence(line))
    elif dumped(line.body):
        yield from _block(text, line)


def _block(text: TextView, line: Line) -> Iterator[Observation]:
    lines = [line]
    for earlier in preceding(text, line, _BLOCK):
        if not dumped(earlier.body):
            break
        if any(anchor.decode() in earlier.body for anchor in _ANCHORS):
            return  # that line's own anchor reads the block
        lines.insert(0, earlier)
    for later in following(text, line, _BLOCK):
        if not dumped(later.body):
            break
        lines.append(later)
    for one in lines:
        pair = dumped(one.body)
        if pair and (len(lines) >= _ENOUGH or _KNOWN.match(pair[0])):
            yield from variables(_leading(one.body, pair), text.evidence(one))


def _leading(body: str, pair: tuple[str, str]) -> list[tuple[str, str]]:
    """All assignments of `A=1 B=2 command …`: a blank is never part of an ML variable's value."""
    name, value = pair
    if " " not in value or not _KNOWN.match(name):
        return [] if "$" in value else [pair]
    assigned: list[tuple[str, str]] = []
    for word in words(body[_TRACE.match(body).end() :]):  # type: ignore[union-attr]
        found = ASSIGNMENT.fullmatch(word)
        if not found or found[1].upper() != found[1]:
            break
        assigned.append((found[1], found[2]))
    return _resolved(assigned)


def _nccl(text: TextView, line: Line) -> Iterator[Observation]:
    found = _NCCL.search(line.body)
    if found:
        yield from variables([(found[1], found[2])], text.evidence(line), "nccl")


ENVIRONMENT = Reader("environment", _ANCHORS, _read, keep=60)
NCCL_ENVIRONMENT = Reader("nccl-environment", (b" set by environment to ",), _nccl, keep=60)
