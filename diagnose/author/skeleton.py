"""Writes the first version of a pattern file from one line of a log."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping

from diagnose.author.guess import category_of_line, family_of
from diagnose.author.place import NoSuchLineError, Place, find_place
from diagnose.author.shape import BLANK
from diagnose.author.wording import Wording, wording
from diagnose.catalogue.literals import required_literals
from diagnose.catalogue.model import CATEGORIES, ROLES, PlacementRule
from diagnose.classes import dataclass
from diagnose.facts.secrets import hide
from diagnose.read import Traceback
from diagnose.reason.kind import category_of
from diagnose.typed import BinaryIO

__all__ = ["NoSuchLineError", "Skeleton", "skeleton"]

_LONGEST_SAMPLE = 2000  # characters
_WORD = re.compile(r"[a-z][a-z0-9]+")
_ID_WORDS = 5
_EMPTY_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a an the of to in on at by for from with and or is was are were be been has have had it its this that not no
        must can could should will would but as into than then there which when error exception errno
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A pattern file that waits for what only a person knows."""

    id: str
    family: str  # the folder to put it into
    text: str  # the YAML
    regex: str  # "" where only a frame tells the failure
    literals: tuple[str, ...]  # what the scan looks for; () where it finds nothing to look for
    sample: str  # the lines that must match, secrets masked
    place: Place
    cut: bool  # True: the expression stands for the beginning of the message only


def skeleton(
    path: str,
    *,
    text: str = "",
    number: int = 0,
    id: str = "",
    family: str = "",
    taken: Collection[str] = (),
    rules: Iterable[PlacementRule] = (),
    mask: Callable[[str], str] = hide,
    stdin: BinaryIO | None = None,
) -> Skeleton:
    """Make a pattern file from a line of a log.

    Arguments: the log; a part of the line, or its number; the id and the family, guessed where they are empty; the ids
    that are in use; `mask`, which takes secrets out of a text. Raises NoSuchLineError where the line cannot be found.
    """
    place = find_place(path, text=text, number=number, stdin=stdin)
    unit = place.unit
    body = mask(place.line.body)[:_LONGEST_SAMPLE]
    said = wording(body, unit.type if unit else "")
    bare = unit is not None and not unit.message.strip()
    sample = mask(_quoted(unit)) if unit and (bare or place.line.number != unit.final.line) else body
    name = id or _unused(_id(said), taken)
    category = category_of(unit, rules) if unit else category_of_line(said.message)
    match = _framed(unit) if bare and unit else _matched(said)
    literals = None if bare else required_literals(said.regex)
    return Skeleton(
        id=name,
        family=family or family_of(category),
        text=_render(name, said, category, match, sample),
        regex="" if bare else said.regex,
        literals=literals.values if literals else (),
        sample=sample,
        place=place,
        cut=said.cut,
    )


def _id(said: Wording) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", said.exception)
    words = [each for each in _WORD.findall(said.title.lower()) if each not in _EMPTY_WORDS]
    if len(words) < 2:
        words = [each for each in _WORD.findall(spaced.lower()) if each not in _EMPTY_WORDS] + words
    return "-".join(dict.fromkeys(words[:_ID_WORDS])) or "new-failure"


def _unused(name: str, taken: Collection[str]) -> str:
    number, unique = 2, name
    while unique in taken:
        unique, number = f"{name}-{number}", number + 1
    return unique


def _quoted(unit: Traceback) -> str:
    """The exception as Python prints it, with its innermost frame only."""
    lines = ["Traceback (most recent call last):"]
    for frame in unit.frames[-1:]:
        lines.append(f'  File "{frame.file}", line {frame.line}, in {frame.function}')
        lines += [f"    {frame.code}"] if frame.code else []
    message = unit.message.strip("\n")
    return "\n".join([*lines, f"{unit.type}: {message}" if message else unit.type])[:_LONGEST_SAMPLE]


def _matched(said: Wording) -> list[str]:
    lines = [f"  - regex: {quote(said.regex)}"]
    return [*lines, f"    exception: {said.exception}"] if said.exception else lines


def _framed(unit: Traceback) -> list[str]:
    frame = unit.frames[-1] if unit.frames else None
    where = re.escape(frame.file.rpartition("/")[2]) if frame else ""
    said = re.escape(frame.code).replace(r"\ ", " ") if frame and frame.code else ""
    told = rf"{where}:\d+ in {re.escape(frame.function)}" + (f": {said}" if said else "") if frame else BLANK
    return [f"  - frame: {quote(told)}", f"    exception: {unit.type.rpartition('.')[2]}"]


def quote(text: str) -> str:
    """Write a text as YAML, on one line."""
    if text.replace("\t", "").isprintable():
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text)


def _block(text: str, indent: str) -> str:
    if "\n" not in text:
        return quote(text)
    return "\n".join(["|-", *(f"{indent}{line}" for line in text.split("\n"))])


def _expected(captures: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name}: {quote(value)}" for name, value in captures.items()) + "}"


def _render(name: str, said: Wording, category: str, match: list[str], sample: str) -> str:
    regex = match[0].startswith("  - regex")
    expect = [f"      expect: {_expected(said.captures)}"] if regex and said.captures else []
    return "\n".join(
        [
            f"id: {name}  # = the file's name; stable for ever",
            f"title: {quote(said.title)}",
            f"category: {category}  # {' '.join(CATEGORIES)}",
            f"role: root  # {' '.join(ROLES)}",
            "status: experimental",
            "about: |",
            f"  {BLANK} what happens, what it is mistaken for, where to look when this is only a symptom.",
            "match:  # one entry a wording; groups with names become captures",
            *match,
            "checks:  # what a person (or a condition, `when`) can find out",
            "  - id: first-check",
            f"    question: '{BLANK} a question that tells the causes apart'",
            f"    look: '{BLANK} where to look, with the command to run'",
            "causes:",
            "  - id: first-cause",
            f"    text: '{BLANK} why it happens'",
            "fixes:  # in the order to try them",
            "  - id: first-fix",
            f"    text: '{BLANK} what to change'",
            f"    how: [{{shell: '{BLANK} lines to paste'}}]",
            "action: {restart: after_fix, scope: unknown}  # see docs/pattern-format.md",
            "references:",
            f"  - '{BLANK} the source file and symbol that prints it, or its documentation'",
            "samples:",
            "  match:",
            f"    - text: {_block(sample, ' ' * 8)}",
            *expect,
            "  no_match:",
            f"    - text: '{BLANK} a line that looks alike and is something else'",
            f"      why: '{BLANK} what it is'",
            "",
        ]
    )
