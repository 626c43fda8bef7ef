"""The lines of releases that a configuration is tried against where nobody says which one is used."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.catalogue.version import Version
from diagnose.classes import dataclass
from diagnose.facts.model import Observation
from diagnose.facts.run import Facts
from diagnose.facts.versions import pinned_core

_CORE = ("0.12", "0.13", "0.14", "0.15", "0.16", "0.17", "0.18", "0.19")
_BRIDGE = ("0.2", "0.3", "0.4", "0.5", "0.6")
_NAMES = {"core": "Megatron Core", "bridge": "Megatron Bridge"}


@dataclass(frozen=True, slots=True)
class Release:
    """One release, or a line of releases, of what constructs the configuration."""

    name: str  # core | bridge: whose release `line` is
    line: str  # "0.16"; the version as given where it was given
    core: Version  # Megatron Core's, as exactly as it is known


def releases_for(framework: str, given: Facts) -> list[Release]:
    """List the releases to try: the given one, or all lines that the given versions allow.

    Arguments: `framework`, megatron-core, megatron-lm, megatron-bridge or nemo; `given`, facts with the versions known.
    """
    core, bridge = _version(given, "core") or _version(given, "lm"), _version(given, "bridge")
    if core is not None and (core.exact or (bridge is not None and bridge.exact)):
        return [Release("core", str(core), core)]
    if framework == "megatron-bridge":
        lines = [line for line in _BRIDGE if bridge is None or _allows(bridge, line)]
        found = [Release("bridge", line, core) for line in lines if (core := _pin(line))]
    else:
        found = [Release("core", line, _line(line)) for line in _CORE if core is None or _allows(core, line)]
    return found or [Release("core", _CORE[-1], _line(_CORE[-1]))]


def spanning(holding: Sequence[Release]) -> list[Observation]:
    """Give the versions that several releases have in common to say: a range from the first to the last."""
    core = Version(holding[0].core.low, max(each.core.high for each in holding), False)
    if holding[0].core.exact:
        core = holding[0].core
    found = [Observation("version.core", str(core) if core.exact else _range(core), None, "release")]
    if holding[0].name == "bridge":
        lines = _line(holding[0].line), _line(holding[-1].line)
        bridge = Version(lines[0].low, lines[1].high, False)
        found.append(Observation("version.bridge", _range(bridge), None, "release"))
    return found


def spans(holding: Sequence[Release], tried: Sequence[Release]) -> str:
    """Say for which of the releases tried something holds; "" where only one was tried."""
    if len(tried) == 1:
        return ""
    name = _NAMES[tried[0].name]
    order = [each.line for each in tried]
    positions = [order.index(each.line) for each in holding]
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][1] + 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    return f"{name} {', '.join(_run(order, first, last) for first, last in runs)}"


def _run(order: Sequence[str], first: int, last: int) -> str:
    if first and last == len(order) - 1:
        return f"{order[first]} and later"
    return order[first] if first == last else f"{order[first]} to {order[last]}"


def _version(given: Facts, name: str) -> Version | None:
    value = given.value(f"version.{name}")
    return value if isinstance(value, Version) else None


def _line(line: str) -> Version:
    major, minor = line.split(".")
    found = Version.parse(f">={line},<{major}.{int(minor) + 1}")
    assert found is not None
    return found


def _pin(bridge: str) -> Version | None:
    pinned = pinned_core(bridge)
    return Version.parse(pinned) if pinned else None


def _allows(version: Version, line: str) -> bool:
    return version.compare("==", line) is not False


def _range(version: Version) -> str:
    low, high = (".".join(map(str, numbers)) for numbers in (version.low, version.high))
    return f">={low},<{high}"
