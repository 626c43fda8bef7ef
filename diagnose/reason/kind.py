"""Places an exception that no pattern knows by the catalogue's rules: its type, its words, and whose code raised it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnose.catalogue.compile import SEARCH_SECONDS
from diagnose.catalogue.model import PlacementRule
from diagnose.expressions import EXPRESSIONS, search_within
from diagnose.lazy import Lazy
from diagnose.read.model import Frame, Traceback

LIBRARY = Lazy(r"[/\\](?:site-packages|dist-packages)[/\\]|/lib/python\d|^<(?!string)|/opt/conda/lib/|/usr/lib/")
_INNERMOST = 5  # frames that decide; the outer ones are the same in every failure
_MESSAGE = 1000  # characters of it that are looked at
_LINKS = Lazy(r"\bhttps?://\S+")
_NUMBER = Lazy(r"\[(?:Errno|WinError) (-?\d{1,5})\]|\(os error (\d{1,5})\)")


def category_of(unit: Traceback, rules: Iterable[PlacementRule], *, otherwise: str = "code") -> str:
    """Place an exception: the first rule that fits decides.

    Args:
        unit: the exception, with what was read of its frames.
        rules: of the catalogue.
        otherwise: the category of what none of them places.
    """
    return _first(rules, _Seen(unit)) or otherwise


class _Seen:
    """What the rules ask of an exception."""

    def __init__(self, unit: Traceback) -> None:
        self.whole_type = unit.type
        self.type = unit.type.partition("(")[0].rpartition(".")[2]
        self.message = _LINKS.sub("", unit.message[:_MESSAGE])
        number = _NUMBER.search(self.message)
        self.errno = (number[1] or number[2]) if number else ""
        self.frames = [_place(frame) for frame in reversed(unit.frames[-_INNERMOST:])]
        self.code = unit.frames[-1].code if unit.frames else ""
        self.library = bool(unit.frames) and LIBRARY.search(unit.frames[-1].file) is not None
        self.importing = self.library and _importing(unit.frames)


def _place(frame: Frame) -> str:
    return f"{frame.file} in {frame.function}".replace("\\", "/")


def _importing(frames: Sequence[Frame]) -> bool:
    above = frames[-2] if len(frames) > 1 else frames[-1]
    in_class = above.function == "<module>" and above.code.startswith("class ")
    return frames[-1].function == "<module>" or in_class


def _first(rules: Iterable[PlacementRule], seen: _Seen) -> str:
    for rule in rules:
        if _fits(rule, seen) and (category := rule.category or _first(rule.rules, seen) or _placed(rule, seen)):
            return category
    return ""


def _fits(rule: PlacementRule, seen: _Seen) -> bool:
    innermost = seen.frames[0] if seen.frames else ""
    return (
        (not rule.type or seen.type in rule.type or _ends(seen.type, rule.type))
        and (not rule.package or seen.whole_type.startswith(rule.package))
        and (not rule.errno or seen.errno in rule.errno)
        and (not rule.library or seen.library)
        and (not rule.importing or seen.importing)
        and (not rule.message or _found(rule.message, seen.message))
        and (not rule.frame or _found(rule.frame, innermost))
        and (not rule.code or _found(rule.code, seen.code))
        and not (rule.unless and _found(rule.unless, seen.message))
    )


def _ends(name: str, types: Iterable[str]) -> bool:
    return any(each.startswith("*") and name.endswith(each[1:]) for each in types)


def _placed(rule: PlacementRule, seen: _Seen) -> str:
    for place in seen.frames if rule.places else ():
        if rule.no_place and _found(rule.no_place, place):
            continue
        for category, expression in rule.places:
            if _found(expression, place):
                return category
    return ""


def _found(expression: str, text: str) -> bool:
    compiled = EXPRESSIONS.compiled(expression)
    try:
        return compiled is not None and search_within(compiled, text, SEARCH_SECONDS) is not None
    except TimeoutError:
        return False
