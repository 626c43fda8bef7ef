"""Reads files that the user hands in beside the log: configuration, environment, launch scripts, `KEY=VALUE`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from diagnose.catalogue.condition import VERSIONS
from diagnose.classes import replace
from diagnose.facts.commandline import read_command
from diagnose.facts.environment import dumped, exported, variables
from diagnose.facts.errors import ConfigFileError as ConfigFileError
from diagnose.facts.model import Observation, SourceRecord, Value
from diagnose.facts.names import canonical, normalise
from diagnose.facts.secrets import hide
from diagnose.facts.settings import Setting, deepspeed, sectioned
from diagnose.facts.shell import words
from diagnose.facts.values import parse_value
from diagnose.facts.versions import pinned_core, versions_in
from diagnose.lazy import Lazy
from diagnose.read.clean import clean
from diagnose.read.model import Evidence, Source
from diagnose.typed import Any

LARGEST = 4 * 1024 * 1024  # bytes of a file that are read
_NODES, _DEEP = 20_000, 40  # of a YAML or JSON document
_NAMESPACES = ("config.", "env.", "version.", "run.", "memory.")
_VERSIONS = frozenset(VERSIONS)
_ENVIRONMENTS = frozenset({"env", "env_vars", "environment", "environment_variables"})
_SBATCH = Lazy(r"#SBATCH\s+--([a-z][a-z-]{1,40})(?:[= ]\s*(\S+))?")
_SHELL = frozenset({".sh", ".bash", ".sbatch", ".slurm", ".args", ".flags"})
_COMMENT = Lazy(r"\s#")
_ARRAY = Lazy(r"^\s*(?:local |declare -a |export )?\w+\+?=\(\s*")


def read_config_file(path: str) -> list[Observation]:
    """Read a configuration: YAML of Bridge, NeMo or Megatron-LM, JSON of DeepSpeed or Hugging Face, TOML, shell, flags.

    Args:
        path: the file. Its ending decides how it is read; without a known ending, its content does.

    Raises:
        ConfigFileError: it cannot be opened, is too large, or is not what its ending promises.
    """
    text = _content(path)
    ending = os.path.splitext(path)[1].lower()
    if ending == ".py":
        raise ConfigFileError(path, "A Python recipe is not read.", "Give the YAML that Bridge saves, run_config.yaml.")
    if ending == ".toml":
        return list(_nested(_toml(path, text), path))
    if ending in {".yaml", ".yml", ".json"}:
        return list(_nested(_yaml(path, text, json=ending == ".json"), path))
    if ending in _SHELL or text.startswith("#!") or re.search(r"(?m)(?:^|\s)--[a-z][\w-]+", text):
        return list(_script(path, text))
    return list(_nested(_yaml(path, text, json=text.lstrip().startswith("{")), path))


def read_launch_script(source: Source) -> SourceRecord:
    """Read the script that a launcher wrote beside the logs; what cannot be read stands in the record's problems."""
    record = SourceRecord(source.path, source.kind)
    try:
        text = _content(source.path)
        found = list(_script(source.path, text))
    except ConfigFileError as error:
        record.problems.append(str(error))
        return record
    record.bytes, record.lines = len(text.encode()), text.count("\n")
    record.observations = [replace(each, origin="launch-script") for each in found]
    return record


def read_env_file(path: str) -> list[Observation]:
    """Read `NAME=value` lines: a dotenv file, the output of `env`, Bridge's environment dump, or a script of exports.

    Raises:
        ConfigFileError: it cannot be opened, is too large, or holds no variable at all.
    """
    found: list[Observation] = []
    for number, line in enumerate(_content(path).splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        pair = dumped(line)
        pairs = exported(line) or ([pair] if pair else [])
        found += variables(pairs, _evidence(path, number, line), "env-file")
    if not found:
        raise ConfigFileError(path, "No line has the form NAME=value.", "Write one variable a line.")
    return found


def parse_set(assignment: str) -> Observation:
    """Read a fact given as `KEY=VALUE`.

    A key in capitals is an environment variable, the name of a software its version, `run.KEY` and the like are taken
    as they stand, everything else is configuration.

    Raises:
        ValueError: there is no `=` or no key.
    """
    key, equals, value = assignment.partition("=")
    key = key.strip()
    if not equals or not re.fullmatch(r"[A-Za-z_][\w.-]*", key):
        raise ValueError(f"{assignment!r} is not KEY=VALUE. Write for example recompute_granularity=full.")
    if key.startswith("env.") or (key.upper() == key and any(char.isalpha() for char in key)):
        return Observation(f"env.{key.removeprefix('env.')}", value, None, "set")
    if key in _VERSIONS or key.startswith("version."):
        return Observation(f"version.{key.removeprefix('version.')}", value.strip().removeprefix("v"), None, "set")
    if key.startswith(_NAMESPACES) and not key.startswith("config."):
        return Observation(key, parse_value(value), None, "set")
    name = key.removeprefix("config.")
    name = name if "." in name else canonical(name)
    return Observation(f"config.{name}", normalise(name, parse_value(value)), None, "set")


def _content(path: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigFileError(path, f"It cannot be opened: {reason}.", "Check the path and the rights.") from error
    if len(raw) > LARGEST:
        raise ConfigFileError(path, "It is larger than 4 MiB.", "Give the job's log as an input instead.")
    if b"\x00" in raw:
        raise ConfigFileError(path, "It is not a text file.", "Give YAML, JSON, TOML, a shell script or flags.")
    return raw.decode("utf-8-sig", "replace")


def _evidence(path: str, number: int, line: str) -> Evidence:
    return Evidence(path, number, hide(clean(line.encode("utf-8", "replace"))[:2000]))


def _nested(entries: Iterable[Setting], path: str) -> Iterator[Observation]:
    entries = list(entries)
    variable = [entry for entry in entries if set(entry.path[:-1]) & _ENVIRONMENTS and entry.path[-1].isupper()]
    plain = [entry for entry in entries if entry not in variable]
    for entry in variable:
        yield from variables([(entry.path[-1], _text(entry.value))], entry.evidence, "config-file")
    tops = {entry.path[0] for entry in plain}
    own = (
        tops & {"zero_optimization", "train_micro_batch_size_per_gpu"}
        or {"train_batch_size", "steps_per_print"} <= tops
    )
    yield from (deepspeed if own else sectioned)(plain, "config-file")


def _text(value: Value) -> str:
    return value if isinstance(value, str) else str(value)


def _yaml(path: str, text: str, *, json: bool) -> list[Setting]:
    import yaml

    if json:
        _check_json(path, text)
        text = text.replace("\t", " ")
    lines = text.splitlines()
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        what = f"It is not valid YAML: {error.problem or error.context}."
        raise ConfigFileError(path, what, "Check the indentation and the quotes.", line, column) from error
    except (yaml.YAMLError, RecursionError) as error:
        what = "It is not valid YAML: " + (str(error).splitlines() or ["too deep"])[0][:200] + "."
        raise ConfigFileError(path, what, "Check the file.") from error
    if not isinstance(root, yaml.MappingNode):
        raise ConfigFileError(path, "It holds no settings.", "Write KEY: VALUE lines, or give a script with flags.")
    return list(_walk(path, root, (), lines, [_NODES]))


def _walk(path: str, node: Any, keys: tuple[str, ...], lines: list[str], left: list[int]) -> Iterator[Setting]:
    left[0] -= 1
    if left[0] < 0 or len(keys) > _DEEP:
        return
    if node.id == "mapping":
        for key, value in node.value:
            if key.id == "scalar":
                yield from _walk(path, value, (*keys, str(key.value)[:120]), lines, left)
    elif keys:
        line = lines[node.start_mark.line] if node.start_mark.line < len(lines) else ""
        evidence = _evidence(path, node.start_mark.line + 1, line)
        if node.id == "scalar":
            yield Setting(keys, _scalar(node), evidence)
        elif all(item.id == "scalar" for item in node.value):
            yield Setting(keys, [_scalar(item) for item in node.value[:1000]], evidence)


def _scalar(node: Any) -> Value:
    return str(node.value)[:2000] if node.style in {"'", '"', "|", ">"} else parse_value(node.value)


def _check_json(path: str, text: str) -> None:
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        what = f"It is not valid JSON: {error.msg}."
        raise ConfigFileError(path, what, "Check commas and quotes.", error.lineno, error.colno) from error
    except (RecursionError, ValueError) as error:
        raise ConfigFileError(path, "It is nested too deeply or holds a number too long.", "Check the file.") from error


def _toml(path: str, text: str) -> list[Setting]:
    import tomllib

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        place = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (1, 1)
        raise ConfigFileError(path, f"It is not valid TOML: {error}.", "Check the file.", line, column) from error
    lines = text.splitlines()
    return list(_tables(path, document, (), lines))


def _tables(path: str, table: dict[str, Any], keys: tuple[str, ...], lines: list[str]) -> Iterator[Setting]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _tables(path, value, (*keys, key), lines)
            continue
        starts = re.compile(rf"\s*{re.escape(key)}\s*=")
        number = next((number for number, line in enumerate(lines, 1) if starts.match(line)), 1)
        typed = value if isinstance(value, bool | int | float | str) else parse_value(str(value))
        yield Setting((*keys, key), typed, _evidence(path, number, lines[number - 1] if lines else ""))


def _script(path: str, text: str) -> Iterator[Observation]:
    for number, first, command in _commands(text):
        evidence = _evidence(path, number, first)
        sbatch = _SBATCH.match(first.strip())
        if sbatch:
            key = sbatch[1].replace("-", "_")
            yield Observation(f"config.slurm.{key}", parse_value(sbatch[2] or "True"), evidence, "config-file")
            continue
        if first.lstrip().startswith("#"):
            continue
        pairs = exported(command)
        yield from variables(pairs, evidence, "config-file")
        tokens = [] if pairs else words(_ARRAY.sub("", command.rstrip().rstrip(")")))
        if tokens and re.match(r"\w+\+?= *--", tokens[0]):
            tokens = words(tokens[0].partition("=")[2])
        yield from read_command(tokens, evidence, "config-file")
        for key, version in versions_in(command):
            yield Observation(
                "run.container" if key == "container" else f"version.{key}", version, evidence, "config-file"
            )
            core = pinned_core(version) if key == "bridge" else None
            if core:
                yield Observation("version.core", core, evidence, "bridge-pin")


def _uncommented(line: str) -> str:
    """Cut a comment off the end of a line; `#` inside quotes is none."""
    for found in _COMMENT.finditer(line):
        before = line[: found.start()]
        if before.strip() and before.count("'") % 2 == 0 and before.count('"') % 2 == 0:
            return before
    return line


def _commands(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, first line and joined text of each command; flags inside arrays come line by line."""
    start, parts = 0, []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        start = start or number
        line = _uncommented(line)
        parts.append(line.rstrip().removesuffix("\\"))
        if line.rstrip().endswith("\\") and not line.lstrip().startswith("#"):
            continue
        yield start, lines[start - 1], " ".join(parts)
        start, parts = 0, []
    if parts:
        yield start, lines[start - 1], " ".join(parts)
