"""The one place where text from logs and files is made safe to show."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_ as _is

from diagnose.classes import field_names
from diagnose.lazy import Lazy
from diagnose.typed import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from diagnose.reason.result import Diagnosis

T = TypeVar("T")

_SEVERAL_LINES = ("how", "lines", "about", "text")  # lines to paste, the manual, samples and quoted lines

# ECMA-48 sequences in their 7-bit (ESC) and 8-bit (C1) forms; an unfinished string sequence loses its opener only.
_ESCAPE = Lazy(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])(?:[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c))?"
    r"|\x1b[ -/]*[0-~]?"
)


def safe(text: str) -> str:
    """Give `text` without escape sequences, control characters, bidirectional overrides and half characters.

    Newlines and tabs stay: who prints one line flattens them.
    """
    if text.isprintable():
        return text
    return "".join(map(_safe_character, _ESCAPE.sub("", text)))


def _safe_character(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    if character.isspace() and character > "\x1f":  # no-break spaces, line and paragraph separators
        return " "
    if character < "\xa0":
        return ""
    # Lone halves of a surrogate pair come from file names that are not UTF-8; format characters show nothing.
    return "" if _is_format(character) else "\ufffd"


def _is_format(character: str) -> bool:
    import unicodedata

    return unicodedata.category(character) == "Cf"


def flat(text: str) -> str:
    """Give `text` safe and on one line."""
    return safe(text).replace("\n", " ").replace("\t", " ")


def scrub(value: T, *, one_line: bool = False) -> T:
    """Give `value`, or a copy of it, in which every text, at any depth of dataclasses and containers, is safe to show.

    With `one_line`, newlines and tabs become spaces as well, but in those fields that hold several lines by nature.
    """
    return cast(T, _scrub(value, flat if one_line else safe, safe))


def relative(diagnosis: Diagnosis) -> Diagnosis:
    """Write all paths from the folder that all inputs lie in, so that sentences stay short."""
    import os.path

    folders = [os.path.dirname(item.path) for item in diagnosis.inputs]
    if not all(folders) or len({os.path.isabs(folder) for folder in folders}) != 1:
        return diagnosis
    common = os.path.commonpath(folders).rstrip("/") + "/"
    if len(common) <= 2:
        return diagnosis
    return cast("Diagnosis", _scrub(diagnosis, lambda text: text.replace(common, ""), _same))


def _same(text: str) -> str:
    return text


def _scrub(value: Any, clean: Callable[[str], str], several: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    names = field_names(value)
    if names is not None:
        given = [getattr(value, name) for name in names]
        made = [
            _scrub(item, several if name in _SEVERAL_LINES else clean, several)
            for name, item in zip(names, given, strict=True)
        ]
        return value if all(map(_is, given, made)) else type(value)(*made)
    if isinstance(value, dict):
        pairs = [
            (clean(key) if isinstance(key, str) else key, _scrub(item, clean, several)) for key, item in value.items()
        ]
        same = all(key is old and item is value[old] for (key, item), old in zip(pairs, value, strict=True))
        return value if same else dict(pairs)
    if isinstance(value, tuple | list):
        made = [_scrub(item, clean, several) for item in value]
        return value if all(map(_is, value, made)) else type(value)(made)
    return value
