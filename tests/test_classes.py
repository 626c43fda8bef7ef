"""The quick data classes behave as those of the standard library."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass
from dataclasses import replace as standard_replace

import pytest

from diagnose.classes import dataclass, field, field_names, replace


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """A frozen one."""

    x: int
    tags: tuple[str, ...] = ()
    more: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Counter:
    """One that changes."""

    count: int = 0
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        self.count = self.count or 7


@dataclass(frozen=True, slots=True)
class Single:
    """One with a single field."""

    text: str


def test_frozen_instances_compare_hash_and_cannot_be_changed() -> None:
    """Frozen instances are equal by their fields, can be keys, and refuse to be changed."""
    assert Point(1, ("a",)) == Point(1, ("a",)) != Point(2, ("a",))
    assert Single("a") == Single(text="a")
    assert {Single("a"): 1}[Single("a")] == 1
    with pytest.raises(FrozenInstanceError):
        Single("a").text = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del Single("a").text


def test_instances_are_ordered_by_their_fields() -> None:
    """With `order`, instances sort by their fields; other classes cannot be compared with them."""
    assert sorted([Point(2), Point(1, ("b",)), Point(1, ("a",))]) == [Point(1, ("a",)), Point(1, ("b",)), Point(2)]
    assert Point(1) != Single("1")  # type: ignore[comparison-overlap]
    with pytest.raises(TypeError):
        assert Point(1) < Single("1")  # type: ignore[operator]


def test_factories_make_a_value_for_each_instance() -> None:
    """A default that is made is made anew each time."""
    first, second = Point(1), Point(1)
    assert first.more == {}
    assert first.more is not second.more
    assert Point(1, more={"a": 1}).more == {"a": 1}


def test_changing_instances_have_no_hash_and_run_their_post_init() -> None:
    """Instances that change are no keys, hold nothing but their fields, and finish themselves."""
    counter = Counter()
    counter.count += 1
    assert counter == Counter(8)
    assert Counter.__hash__ is None
    with pytest.raises(AttributeError):
        counter.other = 1


def test_what_is_shown_leaves_out_secrets() -> None:
    """A field that must not be shown is not shown."""
    assert repr(Counter(3, "token")) == "Counter(count=3)"
    assert repr(Point(1)) == "Point(x=1, tags=(), more={})"


def test_wrong_arguments_are_refused() -> None:
    """Missing and unknown arguments raise, at the first instance as later."""
    for _ in range(2):
        with pytest.raises(TypeError):
            Single()  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            Single("a", other=1)  # type: ignore[call-arg]


def test_the_standard_functions_work() -> None:
    """`fields`, `asdict`, `is_dataclass`, `replace`, copies and pickles work."""
    point = Point(1, ("a",), {"b": 2})
    assert is_dataclass(point)
    assert [each.name for each in fields(Point)] == ["x", "tags", "more"]
    assert asdict(point) == {"x": 1, "tags": ("a",), "more": {"b": 2}}
    assert replace(point, x=2) == standard_replace(point, x=2) == Point(2, ("a",), {"b": 2})
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == point
    assert Point.__doc__ == "A frozen one."
    assert field_names(point) == ("x", "tags", "more")
    assert field_names("text") is None
