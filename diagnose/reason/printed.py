"""Says which error a pattern stands for on a given configuration, as it would be printed."""

from __future__ import annotations

from diagnose.catalogue.model import Alternative, Pattern
from diagnose.catalogue.template import show
from diagnose.catalogue.version import Version
from diagnose.classes import dataclass
from diagnose.expressions import search_within
from diagnose.facts.run import Facts

_LONGEST = 400  # characters of a message that are shown
_UNKNOWN = "…"  # stands for a number that the configuration does not tell


@dataclass(frozen=True, slots=True)
class Printed:
    """An error that has not been printed yet."""

    exception: str  # the type; "" where it is not always the same
    message: str  # its wording, with the configuration's own values as far as they are known; "" where none is known
    releases: str = ""  # the releases that print this wording, in words; "" where the release is given


def printed_by(pattern: Pattern, facts: Facts, framework: str) -> Printed | None:
    """Choose the wording that fits the release and contradicts no fact; None where the pattern has none.

    Arguments: the pattern; `facts` of the configuration, with versions; `framework`, the one that constructs it.
    """
    best: tuple[int, Alternative] | None = None
    for each in pattern.match:
        if not (each.exception or each.context == "exception") or not _printed_in(each.versions, facts, framework):
            continue
        agreement = sum(_agrees(key, value, facts) for key, value in each.implies.items())
        if best is None or agreement > best[0]:
            best = (agreement, each)
    if best is None:
        return None
    wording = best[1]
    return Printed(wording.exception[0] if wording.exception else "", _message(pattern, wording, facts))


def _printed_in(versions: str, facts: Facts, framework: str) -> bool:
    parts = [part.strip() for part in versions.split(";") if part.strip()]
    return not parts or any(_holds(part, facts, framework) for part in parts)


def _holds(part: str, facts: Facts, framework: str) -> bool:
    name = part[: len(part) - len(part.lstrip("abcdefghijklmnopqrstuvwxyz_"))]
    version = facts.value(f"version.{name}")
    if not isinstance(version, Version):
        return name != "bridge" or framework == "megatron-bridge"
    bounds = (bound.strip() for bound in part[len(name) :].split(","))
    return all(
        version.compare(bound.rstrip("0123456789.abcrdev"), bound.lstrip("<>=")) is not False for bound in bounds
    )


def _agrees(key: str, value: object, facts: Facts) -> int:
    seen = facts.lookup(key)
    if seen is None or (isinstance(value, str) and value.startswith("{")):
        return 0
    return 1 if seen.value == value else -10


def _message(pattern: Pattern, wording: Alternative, facts: Facts) -> str:
    """Take the wording from a sample, and put the configuration's values where the pattern says what they are."""
    import regex

    try:
        expression = regex.compile(wording.regex)
    except regex.error:
        return ""
    for sample in pattern.samples_match:
        for line in sample.text.split("\n"):
            found = search_within(expression, line, 0.1) if wording.regex else None
            if found is None:
                continue
            text = line
            known = dict(_values(wording, facts, set(found.groupdict())))
            # A number of the sample's own run would be taken for one of this configuration.
            foreign = {name: _UNKNOWN for name, own in found.groupdict().items() if own and own.isdigit()}
            spots = [(found.span(name), value) for name, value in (foreign | known).items()]
            for (start, end), value in sorted(spots, reverse=True):
                text = text[:start] + value + text[end:] if start >= 0 else text
            for exception in wording.exception:
                _, mark, rest = text.partition(f"{exception}: ")
                text = rest if mark else text
            return text.strip()[:_LONGEST]
    return ""


def _values(wording: Alternative, facts: Facts, names: set[str]) -> list[tuple[str, str]]:
    found = []
    for key, value in wording.implies.items():
        name = value[1:-1] if isinstance(value, str) and value.startswith("{") else ""
        seen = facts.lookup(key)
        if name in names and seen is not None:
            found.append((name, show(seen.value)))
    return found
