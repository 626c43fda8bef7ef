"""Reads the command lines that a log echoes: `set -x`, launchers, `sys.argv`, Hydra overrides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from diagnose.facts.environment import variables
from diagnose.facts.model import Observation
from diagnose.facts.reader import Reader, TextView, following, preceding
from diagnose.facts.secrets import hide_evidence
from diagnose.facts.settings import Setting, sectioned
from diagnose.facts.shell import ASSIGNMENT, LONGEST, OVERRIDE, flags, resolve, words
from diagnose.facts.values import parse_value, split_items
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Line

ORIGIN = "command-line"
_JOINED = 300  # lines of one command, at most
_ANCHORS = (
    b"torchrun ",
    b"torch.distributed.run ",
    b"torch.distributed.launch ",
    b"deepspeed.launcher.launch",
    b"accelerate launch",
    b"srun ",
    b".py --",
    b".py', '--",
    b"--tensor-model-parallel-size",
    b"--recompute-",
    b"recompute_granularity=",
    b"cuda_graph_impl=",
    b"tensor_model_parallel_size=",
)
_TRACE = Lazy(r"\s{0,40}(?:\++ |\$ |# )?")
_LABEL = Lazy(
    r"[^\"'`]{0,160}?\b(?:COMMAND|[Cc]ommand(?: line)?|[Ee]xecuting|[Rr]unning(?: command)?|[Ll]aunching|cmd|CMD)"
    r" ?[:=]\s{1,4}"
)
_LAUNCHER = Lazy(
    r"(?:\S*/)?(?:torchrun|python[\d.]*|deepspeed|accelerate|srun|mpirun|mpiexec|numactl|bash|exec|env|time|nohup|uv|"
    r"singularity|apptainer|docker|nsys|ft_launcher)"
)
_ARGV = Lazy(r"\[(['\"])[^'\"]{1,400}\.py\1, ?['\"]-.*\]")
_HELP = Lazy(r"\s*usage: |\[--[\w-]+|error: (?:argument|unrecognized|the following)|\s--[\w-]+ \{")
_PASSED = frozenset({"-x", "-e", "--env", "--export"})  # options of mpirun, docker and srun that carry variables
_LAUNCHER_MODULES = ("torch.distributed", "deepspeed.launcher", "accelerate.commands")
_LAUNCH_FLAGS = ("nproc_per_node", "nnodes")
_LAUNCHER_ONLY = Lazy(
    r"(?:nproc|nnodes|node|rdzv|master|max|local)[-_](?:per[-_]node|rank|\w*addr|port|id|backend|endpoint|restarts)|nnodes"
)


def _read(text: TextView, line: Line) -> Iterator[Observation]:
    head, body = _whole(text, line)
    if head is None or _HELP.search(body):
        return
    if head.number != line.number and any(anchor.decode() in head.text for anchor in _ANCHORS):
        return  # the head's own anchor reads it
    tokens = _tokens(body, fragment=head.body.lstrip().startswith("--"))
    if tokens:
        yield from read_command(tokens, hide_evidence(text.evidence(head)))


def read_command(tokens: Sequence[str], evidence: Evidence | None, origin: str = ORIGIN) -> Iterator[Observation]:
    """Yield what a command says: variables set for it, the launcher's world size, and the program's settings.

    Options before the program (`torchrun --nproc_per_node 8`) belong to the launcher and are no settings.
    """
    start = _program(tokens)
    launcher, program = tokens[: max(0, start - 1)], tokens[start:]  # the script itself is no launcher option's value
    yield from variables(_environment(launcher), evidence, origin)
    yield from _world(launcher, evidence, origin)
    entries = [
        Setting((name,), value, evidence) for name, value in flags(program) if not _LAUNCHER_ONLY.fullmatch(name)
    ]
    entries += [Setting(path, parse_value(value), evidence) for path, value in _overrides(program)]
    yield from sectioned(entries, origin)


def _whole(text: TextView, line: Line) -> tuple[Line | None, str]:
    """The command's first line and all its lines joined; None for a stray line in the midst of something else."""
    before: list[Line] = []
    for earlier in preceding(text, line, _JOINED):
        if not earlier.body.rstrip().endswith("\\"):
            break
        before.append(earlier)
    parts = [earlier.body.rstrip()[:-1] for earlier in reversed(before)]
    last = line.body.rstrip()
    later: Iterable[Line] = following(text, line, _JOINED) if last.endswith("\\") else ()
    for one in later:
        parts.append(last[:-1])
        last = one.body.rstrip()
        if not last.endswith("\\"):
            break
    head = before[-1] if before else line
    if not parts and line.body.lstrip().startswith("-"):
        return None, ""
    return head, " ".join([*parts, last])[:LONGEST]


def _tokens(body: str, *, fragment: bool) -> list[str]:
    argv = _ARGV.search(body)
    if argv:
        return [item.strip("'\"") for item in split_items(argv[0][1:-1])]
    if fragment:
        return words(body)
    for start in (_TRACE.match(body), _LABEL.match(body)):
        tokens = words(body[start.end() :]) if start else []
        first = next((token for token in tokens if not ASSIGNMENT.fullmatch(token)), "")
        if _LAUNCHER.fullmatch(first) or first.endswith(".py"):
            return tokens
    return []


def _program(tokens: Sequence[str]) -> int:
    """Where the program's own arguments begin: behind the first script or module that is not a launcher."""
    launched = launcher_script = 0
    for position, token in enumerate(tokens):
        module = position and tokens[position - 1] == "-m"
        if (module and token.startswith(_LAUNCHER_MODULES)) or token.endswith("/launch.py"):
            launcher_script = position + 1
        elif module or token.endswith((".py", ".sh")):
            return position + 1
        launched = launched or bool(_LAUNCHER.fullmatch(token))
    return len(tokens) if launched or launcher_script else 0


def _environment(launcher: Sequence[str]) -> Iterator[tuple[str, str]]:
    for position, token in enumerate(launcher):
        passed = token.partition("=")[0] in _PASSED
        carrier = token.partition("=")[2] if "=" in token else "".join(launcher[position + 1 : position + 2])
        for item in carrier.split(",") if passed else [token]:
            found = ASSIGNMENT.fullmatch(item)
            value = resolve(found[2]) if found else None
            if found and value is not None and found[1].upper() == found[1]:
                yield found[1], value


def _world(launcher: Sequence[str], evidence: Evidence | None, origin: str) -> Iterator[Observation]:
    named = {name.replace("-", "_"): value for name, value in flags(launcher)}
    ranks, nodes = (named.get(name) for name in _LAUNCH_FLAGS)
    if isinstance(nodes, int):
        yield Observation("run.nodes", nodes, evidence, origin)
    if isinstance(ranks, int):
        yield Observation("run.ranks_per_node", ranks, evidence, origin)
        if isinstance(nodes, int) or not any(token.startswith("--nnodes") for token in launcher):
            yield Observation("run.world_size", ranks * (nodes if isinstance(nodes, int) else 1), evidence, origin)


def _overrides(program: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    for token in program:
        found = OVERRIDE.fullmatch(token)
        value = resolve(found[2]) if found else None
        if found and value is not None:
            yield tuple(found[1].replace("/", ".").split(".")), value


COMMAND = Reader("command-line", _ANCHORS, _read, keep=12)
