"""Versions: exact ones, ranges, and comparisons that know when they do not know."""

from __future__ import annotations

import pytest

from diagnose.catalogue.version import Version, release


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("core_v0.16.1", (0, 16, 1)),
        ("2.9.0a0+145a3a7", (2, 9)),
        ("0.18.0rc4", (0, 18)),
        ("25.10-py3", (25, 10)),
        ("x", None),
    ],
)
def test_release(text: str, numbers: tuple[int, ...] | None) -> None:
    """Only the release numbers count; trailing zeros do not."""
    assert release(text) == numbers


def test_narrowed() -> None:
    """Two ranges narrow each other, an exact version wins, and a contradiction changes nothing."""
    wide = Version.parse(">=0.11,<0.18")
    assert wide is not None
    other, exact, apart = Version.parse(">=0.16"), Version.parse("0.16.1"), Version.parse(">=0.19")
    assert other is not None
    assert exact is not None
    assert apart is not None
    assert str(wide.narrowed(other)) == ">=0.16,<0.18"
    assert wide.narrowed(exact) is exact
    assert wide.narrowed(apart) is wide
    assert exact.narrowed(wide) is exact


@pytest.mark.parametrize(("text"), ["", "main", ">=2,<1"])
def test_no_version(text: str) -> None:
    """A text without numbers, or an empty range, is no version."""
    assert Version.parse(text) is None


def test_upper_bound_includes_patches() -> None:
    """`<=0.15` includes 0.15.3, as its width says."""
    version = Version.parse("<=0.15")
    assert version is not None
    assert version.compare("<", "0.16") is True
    assert version.compare("==", "0.14") is None
