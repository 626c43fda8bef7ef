"""Reports what no pattern knows as what it is: its type, its words, and whose code raised it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from diagnose.facts.model import SourceRecord
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Frame, Traceback
from diagnose.reason import words
from diagnose.reason.incident import Group
from diagnose.reason.result import Cause, Check, Finding, Fix

_WORDS = 12  # last lines that are told of a failure that nothing explains
_LIBRARY = Lazy(r"/(?:site-packages|dist-packages)/|/lib/python\d|^<(?!string)|/opt/conda/lib/|/usr/lib/")
_FRAMEWORK = Lazy(r"(?i)/(?:megatron|nemo|transformer_engine|deepspeed|lightning)(?:[-_][^/]*)?/")

# Whose code raised it says what kind of thing is wrong, never which. The first that fits the innermost frames decides.
_PLACES = tuple(
    (category, Lazy("|".join(parts)))
    for category, parts in (
        ("config", (
            r"/arguments\.py", r"transformer_config\.py", r"model_parallel_config\.py", r"argparse\.py",
            r"/config(?:s|uration)?(?:/|\.py|_\w+\.py)", r"_config\.py",
            r" in (?:validate_args|__post_init__|finalize|parse_args)$",
        )),
        ("checkpoint", (
            r"checkpoint\w*\.py", r"/checkpoint/", r"/dist_checkpointing/", r"serialization\.py",
            r" in (?:load_state_dict|load_checkpoint|save_checkpoint)$",
        )),
        ("data", (
            r"/data(?:sets?|loaders?)?/(?:[^/\s]+/)?[^/\s]+\.py\b",
            r"data(?:set|loader|_loader|_utils)?s?\.py", r"dataset\w*\.py",
            r"/loader\.py",
            r"tokeniz\w*", r"collat\w+",
            r" in (?:__getitem__|collate\w*|read_\w+|tokenize\w*|load_batch|next_batch|get_batch\w*)$",
        )),
        ("collective", (r"distributed_c10d\.py", r"/distributed/(?:rendezvous|run|elastic)")),
    )
)  # fmt: skip
_TYPES = {
    "ModuleNotFoundError": "environment",
    "ImportError": "environment",
    "MemoryError": "host-memory",
    "UnicodeDecodeError": "data",
    "JSONDecodeError": "data",
    "EOFError": "data",
    "OSError": "storage",
    "FileNotFoundError": "storage",
    "PermissionError": "storage",
    "IsADirectoryError": "storage",
    "ConnectionError": "network",
    "ConnectionRefusedError": "network",
    "ConnectionResetError": "network",
    "TimeoutError": "network",
    "ArgumentError": "config",
    "FloatingPointError": "numerical",
}


def own_frame(frames: Sequence[Frame]) -> Frame | None:
    """Return the innermost frame of the user's own code: no library, and no framework where something else is left."""
    own = [frame for frame in frames if not _LIBRARY.search(frame.file)]
    return next((frame for frame in reversed(own) if not _FRAMEWORK.search(frame.file)), own[-1] if own else None)


def category_of(unit: Traceback) -> str:
    """Place an exception by its type and by whose code raised it: the innermost five frames decide."""
    name = unit.type.rpartition(".")[2]
    if name in ("ModuleNotFoundError", "ImportError", "JSONDecodeError", "MemoryError"):
        return _TYPES[name]
    for frame in list(reversed(unit.frames))[:5]:
        text = f"{frame.file} in {frame.function}"
        for category, expression in _PLACES:
            if expression.search(text):
                return category
    return _TYPES.get(name, "code")


def unknown_exception(group: Group) -> Finding:
    """Write the finding of an exception that no pattern knows."""
    incident = group.first
    unit = incident.traceback
    assert unit is not None
    message = unit.message.strip().splitlines()
    shown = f"{unit.type}: {message[0]}" if message else unit.type
    frame = own_frame(unit.frames) or (unit.frames[-1] if unit.frames else None)
    where = f"{frame.file}:{frame.line}, in {frame.function}" if frame else ""
    category = category_of(unit)
    code = f": {frame.code.strip()}" if frame and frame.code else ""
    checks = (
        (Check("own-frame", "Where in the user's own code was it raised?", "unknown", f"{where}{code}"),)
        if where
        else ()
    )
    return Finding(
        pattern="unknown-exception",
        title=shown[:300],
        category=category,
        role="root",
        confidence="low",
        why=f"No pattern knows this exception{f', raised at {where}' if where else ''}. Its place suggests {category}.",
        evidence=tuple(each.evidence for each in group.incidents[:8]),
        summary=_sentence(shown, where, incident.evidence),
        captures={"type": unit.type, "message": unit.message[:2000], **({"frame": where} if where else {})},
        causes=(Cause("not-known", "The exception's own words are all that is known.", "possible"),),
        checks=checks,
        fixes=(Fix("read-the-frame", 1, f"Read the code at {where}.", state="unknown"),) if where else (),
    )


def cut_exception(record: SourceRecord) -> Finding:
    """Write the finding of a log that ends inside a traceback: where it was raised is all that it tells."""
    unit = record.tracebacks[-1]
    last = next((line for line in record.tail if line.line == unit.lines[1]), unit.final)
    frame = unit.frames[-1]
    code = f": {frame.code.strip()[:200]}" if frame.code else ""
    where = f"{frame.file}:{frame.line}, in {frame.function}"
    category = category_of(unit)
    return Finding(
        pattern="unknown-exception",
        title=f"The log ends inside a traceback, at {where}"[:300],
        category=category,
        role="root",
        confidence="low",
        why=f"The line with the exception itself is missing. Its place suggests {category}.",
        evidence=(last,),
        summary=f"Unknown failure: the log ends inside a traceback, at {where}{code}",
        captures={"frame": where},
        causes=(Cause("not-known", "The log was cut before the exception's own words.", "possible"),),
        checks=(Check("last-frame", "Where was it raised?", "unknown", f"{where}{code}"),),
        fixes=(Fix("whole-log", 1, "Look for the rest of the traceback in the log of that process.", state="unknown"),),
    )


def _sentence(shown: str, where: str, evidence: Evidence) -> str:
    by = words.speaker(evidence)
    said = words.clipped(shown, 200)
    return f"Unknown failure{f' on {by}' if by else ''}: {said}{f', raised at {where}' if where else ''}"


def last_words(records: Sequence[SourceRecord]) -> tuple[Evidence, ...]:
    """Return the last telling lines of the logs, for a failure that nothing explains."""
    telling = re.compile(
        r"(?i)error|fail|fatal|abort|exception|killed|terminat|signal|cannot|unable|denied|refused|exit"
    )
    lines = [line for record in records for line in record.tail]
    found = list(islice((line for line in reversed(lines) if telling.search(line.text)), _WORDS))
    return tuple(reversed(found)) or tuple(lines[-_WORDS:])
