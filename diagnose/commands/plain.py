"""Reads the plainest command lines, `diagnose [log] PATH…` with switches: loading click takes longer than the scan."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.commands.names import COMMANDS
from diagnose.report import RENDERERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SWITCHES = {
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
    "--exit-code": "exit_code",
    "--redact": "redact",
    "--no-color": "no_color",
}
_FORMAT = "--format"


def plain(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Give what `answer` is to be called with; None where anything is there that click should look at.

    `arguments` come without the program's name.
    """
    rest = list(arguments)
    if rest and rest[0] == "log":
        del rest[0]
    elif not rest or rest[0] in COMMANDS:
        return None
    paths: list[str] = []
    found: dict[str, Any] = {}
    while rest:
        word = rest.pop(0)
        if word == "-" or (word and not word.startswith("-")):
            paths.append(word)
        elif word in _SWITCHES:
            found[_SWITCHES[word]] = True
        elif word == _FORMAT and rest and rest[0] in RENDERERS:
            found["form"] = rest.pop(0)
        elif word.startswith(f"{_FORMAT}=") and word.partition("=")[2] in RENDERERS:
            found["form"] = word.partition("=")[2]
        else:
            return None
    if not paths or ("quiet" in found and "verbose" in found):
        return None
    return {"paths": paths, **found}
