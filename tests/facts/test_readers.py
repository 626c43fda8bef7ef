"""The registry of readers."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnose.facts.defaults import DEFAULTS
from diagnose.facts.names import canonical, normalise
from diagnose.facts.readers import READERS, STEP_READERS

PIECES = [anchor + b" " for reader in (*READERS, *STEP_READERS) for anchor in reader.anchors]
FILLERS = [
    b"\n",
    b"  a ... 1\n",
    b"  a: 1\n",
    b"[model]:\n",
    b"A_B=1 ",
    b"--x 1 \\\n",
    b"=",
    b"[rank1]: ",
    b"\x1b[1m",
    b"'",
]


def test_anchors_can_be_scanned() -> None:
    """Names are unique and literals are long enough and on one line."""
    readers = [*READERS, *STEP_READERS]
    assert len({reader.name for reader in readers}) == len(readers)
    assert all(len(anchor) >= 4 and b"\n" not in anchor for reader in readers for anchor in reader.anchors)


@settings(derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.sampled_from(PIECES) | st.sampled_from(FILLERS) | st.binary(max_size=10), max_size=40))
def test_any_log_is_read(log: Any, pieces: list[bytes]) -> None:
    """No mixture of anchors and noise crashes a reader."""
    made = log(b"".join(pieces))
    made.observations()
    made.milestones()
    made.steps()


def test_defaults_have_canonical_keys_and_shapes() -> None:
    """A default can be compared with what readers give."""
    for default in DEFAULTS:
        assert canonical(default.key) == default.key
        assert normalise(default.key, default.value) == default.value
