"""Versions as ranges: a wording that only some releases print bounds a version without naming it."""

from __future__ import annotations

from diagnose.classes import dataclass
from diagnose.lazy import Lazy

Release = tuple[int, ...]
_NUMBER = Lazy(r"\d+(?:\.\d+)*")
_BOUND = Lazy(r"\s*(>=|<=|==|>|<|=)\s*v?(\d+(?:\.\d+)*)[^,;]*")
LOWEST: Release = (0,)
HIGHEST: Release = (10**9,)


def release(text: str) -> Release | None:
    """Read the release numbers of a version text ("core_v0.16.1rc0" is 0.16.1); None where there are none."""
    found = _NUMBER.search(text)
    return _trim(tuple(int(part) for part in found.group().split(".")[:6])) if found else None


def _trim(numbers: Release) -> Release:
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers = numbers[:-1]
    return numbers


def _next(numbers: Release, width: int) -> Release:
    """Return the first release after all that begin with these numbers ("0.16" -> 0.17)."""
    padded = (numbers + (0,) * width)[:width]
    return _trim((*padded[:-1], padded[-1] + 1))


@dataclass(frozen=True, slots=True)
class Version:
    """A version known exactly, or as a half-open range of releases."""

    low: Release  # inclusive
    high: Release  # exclusive; ignored when exact
    exact: bool = True
    text: str = ""  # as it was printed

    @classmethod
    def parse(cls, text: str) -> Version | None:
        """Read "0.16.1" or a range like ">=0.16,<0.18"; None where there is no number."""
        bounds = _BOUND.findall(text)
        if not bounds:
            numbers = release(text)
            return cls(numbers, numbers, True, text.strip()) if numbers else None
        low, high = LOWEST, HIGHEST
        for operator, number in bounds:
            numbers = release(number) or LOWEST
            width = number.count(".") + 1
            if operator == ">=":
                low = max(low, numbers)
            elif operator == ">":
                low = max(low, _next(numbers, width))
            elif operator == "<":
                high = min(high, numbers)
            elif operator == "<=":
                high = min(high, _next(numbers, width))
            else:
                low, high = max(low, numbers), min(high, _next(numbers, width))
        return cls(low, high, False, text.strip()) if low < high else None

    def narrowed(self, other: Version) -> Version:
        """Return what both allow; the receiver where they contradict each other."""
        if self.exact:
            return self
        if other.exact:
            return other
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low >= high:
            return self
        return Version(low, high, False, f">={_text(low)}" + (f",<{_text(high)}" if high < HIGHEST else ""))

    def compare(self, operator: str, text: str) -> bool | None:
        """Answer `self operator text`; None where the range does not decide it.

        Equality takes the written width: 0.16.1 == "0.16".
        """
        numbers = release(text)
        if numbers is None:
            return None
        width = _NUMBER.findall(text)[0].count(".") + 1
        after = _next(numbers, width)
        if operator in ("==", "!="):
            inside = self._within(numbers, after)
            return inside if operator == "==" or inside is None else not inside
        if operator in (">=", "<"):
            at_least = self._at_least(numbers)
            return at_least if operator == ">=" or at_least is None else not at_least
        above = self._at_least(after)
        return above if operator == ">" or above is None else not above

    def _at_least(self, numbers: Release) -> bool | None:
        if self.low >= numbers:
            return True
        if self.exact or self.high <= numbers:
            return False
        return None

    def _within(self, low: Release, high: Release) -> bool | None:
        if self.exact:
            return low <= self.low < high
        if self.low >= low and self.high <= high:
            return True
        if self.high <= low or self.low >= high:
            return False
        return None

    def __str__(self) -> str:
        return self.text or _text(self.low)


def _text(numbers: Release) -> str:
    return ".".join(str(part) for part in numbers)
