"""What the tests of the server share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.deliver.serve.serving import World


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A root with nothing in it yet."""
    # Not at the top: without the extra there is no server to be tested, and these tests are skipped.
    from tests.deliver.serve.serving import world

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return world(tmp_path)
