"""Whatever name leads out of the roots, nothing there is opened."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.deliver.serve.guard import RefusedError, Roots


@settings(max_examples=100, derandomize=True, deadline=None)
@given(parts=st.lists(st.sampled_from(["..", ".", "a", "", "*", "b\0", "~", "a/../..", "\ud800", "link"]), max_size=6))
def test_no_path_gets_out(tmp_path_factory: object, parts: list[str]) -> None:
    """Any mixture of parts is refused or resolves below the root."""
    root = str(Path(__file__).parent)
    try:
        real = Roots([root]).check("/".join([root, *parts]))
    except RefusedError:
        return
    assert real == root or real.startswith(root + "/")
    assert ".." not in real.split("/")
