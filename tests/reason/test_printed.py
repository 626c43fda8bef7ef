"""The wording of an error that was not printed yet."""

from __future__ import annotations

import pytest

from diagnose.catalogue.model import Alternative, Pattern, Sample
from diagnose.facts.model import Observation
from diagnose.facts.run import Facts
from diagnose.reason.printed import Printed, printed_by

OLD = Alternative(
    r"heads (?P<heads>\d+) are no multiple of (?P<size>\d+)",
    exception=("ValueError",),
    versions="core>=0.5,<0.16",
    implies={"config.heads": "{heads}", "config.size": "{size}"},
)
NEW = Alternative("heads cannot be shared out", exception=("AssertionError",), versions="core>=0.16")
PATTERN = Pattern(
    "p",
    "t",
    "config",
    "root",
    "stable",
    (OLD, NEW),
    samples_match=(
        Sample("ValueError: heads 6 are no multiple of 4"),
        Sample("AssertionError: heads cannot be shared out"),
    ),
)


def facts(core: str, **config: object) -> Facts:
    """Make facts of a release."""
    seen = [Observation(f"config.{key}", value, None, "set") for key, value in config.items()]  # type: ignore[arg-type]
    return Facts([*seen, Observation("version.core", core, None, "set")])


@pytest.mark.parametrize(
    ("core", "expected"),
    [
        ("0.14.0", Printed("ValueError", "heads 62 are no multiple of 8")),
        ("0.18.2", Printed("AssertionError", "heads cannot be shared out")),
    ],
)
def test_release(core: str, expected: Printed) -> None:
    """The release decides the wording, and the configuration's own values stand in it."""
    assert printed_by(PATTERN, facts(core, heads=62, size=8), "megatron-lm") == expected


def test_contradiction() -> None:
    """Of wordings that one release prints, the one that contradicts no fact is taken."""
    on = Alternative("both are on", exception=("ValueError",), implies={"config.a": True})
    off = Alternative("neither is on", exception=("ValueError",), implies={"config.a": False})
    pattern = Pattern("p", "t", "config", "root", "stable", (on, off))
    assert printed_by(pattern, facts("0.16", a=False), "megatron-core") == Printed("ValueError", "")


def test_another_framework() -> None:
    """A wording of Bridge is not foretold for Megatron-LM; a line that is no exception is not foretold at all."""
    bridge = Alternative("no", exception=("ValueError",), versions="bridge>=0.3")
    line = Alternative("something is slow", context="line")
    pattern = Pattern("p", "t", "config", "root", "stable", (bridge, line))
    assert printed_by(pattern, facts("0.16"), "megatron-lm") is None
    assert printed_by(pattern, facts("0.16"), "megatron-bridge") is not None


def test_a_number_that_is_not_known() -> None:
    """A number of the sample's own run is not shown as one of this configuration."""
    expected = Printed("ValueError", "heads 62 are no multiple of …")
    assert printed_by(PATTERN, facts("0.14.0", heads=62), "megatron-lm") == expected
