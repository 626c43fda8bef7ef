"""Gathers what is known of a configuration before it runs, and tells which framework will construct it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from diagnose.facts.commandline import read_command
from diagnose.facts.config_file import LARGEST, parse_set, read_config_file, read_env_file
from diagnose.facts.model import Observation
from diagnose.facts.secrets import hide_evidence
from diagnose.facts.shell import words
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence

FRAMEWORKS = ("megatron-core", "megatron-lm", "megatron-bridge", "nemo")
COMMAND = "command-line"  # the path that arguments are quoted under
_FLAG = Lazy(r"(?:^|\s|['\"(])--[A-Za-z][\w-]+")
_OVERRIDE = Lazy(r"(?:^|\s|['\"])\+{0,2}(?:model|train|ddp|optimizer|rng|dist)\.\w+=")
_KEY = Lazy(r"\+{0,2}[A-Za-z_][\w./]{0,200}")
_PYTHON = Lazy(r"(?:cfg|config)\.([\w.]{1,200})(?: {1,9}(?==))?(=?.{0,2000})", re.DOTALL)
_DOCUMENTS = frozenset({".yaml", ".yml", ".json", ".toml"})
_SECTIONS = (
    *("config.train.", "config.ddp.", "config.rerun_state_machine.", "config.dist.", "config.checkpoint."),
    *("config.model.", "config.optimizer.", "config.logger.", "config.rng.", "config.mixed_precision"),
)
_NEMO = ("config.trainer.", "config.exp_manager.")
_PROGRAMS = {"bridge": "megatron-bridge", "lm": "megatron-lm"}
_VERSIONED = ("core", "bridge", "lm", "te", "torch", "nccl", "cuda", "driver", "python", "transformers")


def intended_facts(
    *,
    config: str | Path | None = None,
    arguments: Sequence[str] = (),
    env: str | Path | None = None,
    settings: Iterable[str] = (),
    versions: Iterable[str] = (),
    framework: str | None = None,
) -> tuple[list[Observation], str]:
    """Read a configuration that has not run; give its facts and the framework that constructs it.

    Arguments: as in `diagnose.forecast`.

    Raises ConfigFileError where a file cannot be read, ValueError where a setting or a version cannot.
    """
    versions = tuple(versions)
    found = read_config_file(str(config)) if config is not None else []
    found += _from_arguments(arguments)
    if env is not None:
        found += read_env_file(str(env))
    found += [parse_set(setting) for setting in settings]
    named = [text.partition("=")[0].strip() for text in versions if "=" in text]
    told = next((_PROGRAMS[name] for name in named if name in _PROGRAMS), None)
    chosen = framework or told or _framework_of(found, _text(config, arguments))
    found += [_version(text, chosen) for text in versions]
    return found, chosen


def _from_arguments(arguments: Sequence[str]) -> list[Observation]:
    tokens = _tokens(arguments)
    if not tokens:
        return []
    evidence = hide_evidence(Evidence(COMMAND, 1, " ".join(tokens)[:2000]))
    found = list(read_command(tokens, evidence, "config-file"))
    if not found:
        raise ValueError(f"{' '.join(tokens)[:200]!r} holds no setting. Write --flag value, or section.key=value.")
    return found


def _tokens(arguments: Sequence[str]) -> list[str]:
    """Split a command line that is one text, and join overrides that are written as in Python: `cfg.model.fp8 = x`."""
    found: list[str] = []
    lone = len(arguments) == 1 and not _PYTHON.fullmatch(arguments[0])
    for token in words(arguments[0]) if lone else arguments:
        if line := _PYTHON.fullmatch(token):
            token = f"{line[1]}{line[2]}"
        open_end = found and found[-1].endswith("=") and _KEY.fullmatch(found[-1][:-1])
        if open_end or (found and token.startswith("=") and _KEY.fullmatch(found[-1])):
            found[-1] += token
        else:
            found.append(token)
    return found


def _text(config: str | Path | None, arguments: Sequence[str]) -> str:
    """Return the text whose form tells the framework; a document of nested keys tells it by its keys."""
    text = "\n".join(_tokens(arguments))
    if config is not None and Path(config).suffix.lower() not in _DOCUMENTS:
        with open(config, encoding="utf-8", errors="replace") as file:
            text = f"{file.read(LARGEST)}\n{text}"
    return text


def _framework_of(found: Sequence[Observation], text: str) -> str:
    """Tell the framework from the form: sections are Bridge's or NeMo's, flags Megatron-LM's, plain fields Core's."""
    keys = [each.key for each in found]
    if any("megatron.bridge" in str(each.value) for each in found) or "megatron.bridge" in text:
        return "megatron-bridge"
    if any(key.startswith(_NEMO) for key in keys) or any("nemo." in str(each.value) for each in found):
        return "nemo"
    if any(key.startswith(_SECTIONS) for key in keys) or "version.bridge" in keys or _OVERRIDE.search(text):
        return "megatron-bridge"
    return "megatron-lm" if _FLAG.search(text) else "megatron-core"


def _version(text: str, framework: str) -> Observation:
    name, equals, release = text.partition("=")
    if not equals:
        name, release = "bridge" if framework == "megatron-bridge" else "core", text
    if name.strip() not in _VERSIONED or not any(char.isdigit() for char in release):
        raise ValueError(f"{text!r} is no version. Write for example core=0.16.1 or bridge=0.4.2.")
    return Observation(f"version.{name.strip()}", release.strip().removeprefix("core_").removeprefix("v"), None, "set")
