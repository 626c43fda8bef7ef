"""Places an exception that no pattern knows: by its type, its own words, and whose code raised it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnose.lazy import Lazy
from diagnose.read.model import Traceback
from diagnose.reason import kind_words as words


def category_of(unit: Traceback) -> str:
    """Place an exception by its type, its words, and whose code raised it: the innermost frames decide.

    Args:
        unit: the exception, with what was read of its frames.
    """
    name = unit.type.partition("(")[0].rpartition(".")[2]
    said = words.LINKS.sub("", unit.message[:1000])
    if above := _first(words.ABOVE_TYPES, (said,)):
        return above
    if name in words.SURE:
        return words.SURE[name]
    if name == "CalledProcessError" and (place := _first(words.COMMANDS, (_command(said),))):
        return place
    if name in words.LOOKUPS:
        return _looked_up(unit, said)
    if name in words.OF_CODE or words.BARE_WORDS.search(said):
        return "environment" if _at_import(unit) or _misfit(unit, said) else "code"
    if unit.frames and unit.frames[-1].function == "_execute_child":
        return "environment"  # a program that is to be started is not there, or may not be
    if unit.frames and words.GENERATED.search(unit.frames[-1].file) and words.SHAPES.search(said):
        return "code"
    sure = _numbered(said) or _first(words.PLAIN_WORDS, (said,)) or _packaged(unit.type)
    place = sure or _first(words.PLACES, _places_of(unit))
    if place:
        return place
    if name == "AssertionError" and unit.frames and (asked := _first(words.ASSERTED, (unit.frames[-1].code,))):
        return asked
    if name in words.WEAK or words.SHAPES.search(said):
        return words.WEAK.get(name) or "code"
    if unit.frames and words.MODEL.search(unit.frames[-1].file.replace("\\", "/")):
        return _first(words.TELLING_WORDS[:1], (said,)) or "code"
    return _told(said) or ("config" if name in words.REFUSALS and _refused(said) else "code")


def _refused(said: str) -> bool:
    return bool(words.REFUSED.search(said)) and not words.MISUSED.search(said)


def _at_import(unit: Traceback) -> bool:
    """Tell whether a library's module, or a class in it, fell over while it was imported: its releases do not fit."""
    if not unit.frames or not words.LIBRARY.search(unit.frames[-1].file):
        return False
    above = unit.frames[-2] if len(unit.frames) > 1 else unit.frames[-1]
    in_class = above.function == "<module>" and above.code.startswith("class ")
    return unit.frames[-1].function == "<module>" or in_class


def _misfit(unit: Traceback, said: str) -> bool:
    """Tell whether a library asked another one for what that one's release has not."""
    if not words.MISFITS.search(said):
        return False
    return said.startswith("module") or bool(unit.frames and words.LIBRARY.search(unit.frames[-1].file))


def _command(said: str) -> str:
    return said.partition("Command ")[2].lstrip("'\"[ ")[:200]


def _numbered(said: str) -> str:
    found = words.NUMBER.search(said)
    category = words.NUMBERS.get(found[1], "") if found else ""
    return "storage" if category == "network" and words.QUOTED_PATH.search(said) else category


def _packaged(kind: str) -> str:
    return next((category for category, names in words.PACKAGES if kind.startswith(names)), "")


def _looked_up(unit: Traceback, said: str) -> str:
    if unit.frames and words.ENVIRONMENT_KEY.search(f"{unit.frames[-1].file} in {unit.frames[-1].function}"):
        return "config"
    code = unit.frames[-1].code if unit.frames else ""
    if table := words.TABLES.search(code):
        listed = next((category for category in ("data", "config") if category in table[0].lower()), "")
        return listed or ("environment" if "-packages" in unit.frames[-1].file else "config")
    return _first(words.LOOKED_IN, (code, said)) or _first(words.PLACES, _places_of(unit)) or "code"


def _places_of(unit: Traceback) -> list[str]:
    texts = [
        f"{frame.file} in {frame.function}".replace("\\", "/") for frame in reversed(unit.frames[-words.INNERMOST :])
    ]
    return [text for text in texts if not words.NO_PLACE.search(text)]


def _told(said: str) -> str:
    if words.PATH.search(said) and words.ABSENT.search(said):
        return _first(words.ABSENT_FILES, (said,)) or "storage"
    return _first(words.TELLING_WORDS, (said,))


def _first(table: Sequence[tuple[str, Lazy]], texts: Iterable[str]) -> str:
    """Return the first category of a table that fits the first text that any fits; "" where none does."""
    return next((category for text in texts for category, expression in table if expression.search(text)), "")
