"""Reads plain command lines, `diagnose [log] PATH…` with simple options: loading click takes longer than the scan."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.commands.names import COMMANDS
from diagnose.report import RENDERERS
from diagnose.typed import Any

_SWITCHES = {
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
    "--exit-code": "exit_code",
    "--redact": "redact",
    "--no-color": "no_color",
}
_CHOICES = {"--format": ("form", tuple(RENDERERS)), "--metrics": ("metrics", ("all", "sampled", "off"))}
_TEXTS = {"--output": "output", "--config": "config", "--env": "env", "--baseline": "baseline"}
_PATTERNS, _JOBS, _MOST_JOBS = "--patterns", "--jobs", 256


def plain(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Give what `answer` is to be called with; None where anything is there that click should look at.

    `arguments` come without the program's name.
    """
    rest = list(arguments)
    if rest and rest[0] == "log":
        del rest[0]
    elif not rest or rest[0] in COMMANDS:
        return None
    found: dict[str, Any] = {"paths": []}
    while rest:
        word = rest.pop(0)
        if word == "-" or (word and not word.startswith("-")):
            found["paths"].append(word)
        elif word in _SWITCHES:
            found[_SWITCHES[word]] = True
        else:
            name, equals, value = word.partition("=")
            if not equals:
                value = rest.pop(0) if rest else ""
            if not _take(found, name, value):
                return None
    return found if found["paths"] and not ("quiet" in found and "verbose" in found) else None


def _take(found: dict[str, Any], name: str, value: str) -> bool:
    """Take an option with its value; False where it is none of the plain ones, or not plainly right."""
    if not value or (value.startswith("-") and value != "-"):
        return False
    if name in _CHOICES and value in _CHOICES[name][1]:
        found[_CHOICES[name][0]] = value
    elif name in _TEXTS:
        found[_TEXTS[name]] = value
    elif name == _PATTERNS:
        found["patterns"] = (*found.get("patterns", ()), value)
    elif name == _JOBS and value.isascii() and value.isdigit() and 1 <= int(value[:4]) <= _MOST_JOBS and len(value) < 4:
        found["jobs"] = int(value)
    else:
        return False
    return True
