"""The registry of readers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnose.facts import readers
from diagnose.facts.defaults import DEFAULTS
from diagnose.facts.names import canonical, normalise
from diagnose.facts.reader import Reader
from diagnose.facts.readers import READERS, STEP_READERS

PIECES = [anchor + b" " for reader in (*READERS.values(), *STEP_READERS.values()) for anchor in reader.anchors]
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
    listed = [*READERS.values(), *STEP_READERS.values()]
    assert len({reader.name for reader in listed}) == len(listed)
    assert all(len(anchor) >= 4 and b"\n" not in anchor for reader in listed for anchor in reader.anchors)


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


def test_the_registry_names_every_reader() -> None:
    """A reader is found under the name it has, and no module's reader is left out."""
    listed = {**READERS, **STEP_READERS}
    assert {key: reader.name for key, reader in listed.items()} == {key: key.partition(":")[2] for key in listed}
    folder = Path(readers.__file__).parent
    modules = (import_module(f"diagnose.facts.{each.stem}") for each in folder.glob("*.py"))
    found = {id(value) for module in modules for value in vars(module).values() if isinstance(value, Reader)}
    assert {id(reader) for reader in listed.values()} == found
