"""What tests of several rooms share."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from diagnose.api import load_catalogue
from diagnose.catalogue.model import Catalogue
from diagnose.facts.collect import Probe, collect, prepare
from diagnose.read import find_sources
from diagnose.reason import Diagnosis, reason

Diagnose = Callable[[Mapping[str, str]], Diagnosis]

# A shell's background job ignores interrupts, and so would every command that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def packaged() -> Catalogue:
    """The packaged catalogue, loaded once."""
    return load_catalogue()


@pytest.fixture(scope="session")
def probe(packaged: Catalogue) -> Probe:
    """The packaged catalogue, ready to look at sources."""
    return prepare(packaged)


@pytest.fixture
def diagnose_logs(tmp_path: Path, packaged: Catalogue, probe: Probe) -> Diagnose:
    """A function that writes logs into a folder and diagnoses the folder."""

    def run(logs: Mapping[str, str]) -> Diagnosis:
        for name, text in logs.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        sources, problems = find_sources([str(tmp_path)])
        return reason([collect(source, probe) for source in sources], packaged, problems=problems)

    return run
