"""A pipeline that answers what the test says, and a way to run the command line in this process."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import diagnose
from diagnose.reason.result import Diagnosis
from tests.report.build import out_of_memory


@dataclass(slots=True)
class Pipeline:
    """Stands in for the pipeline: gives one answer and keeps what it was asked."""

    answer: Diagnosis = field(default_factory=out_of_memory)
    error: Exception | None = None
    asked: dict[str, Any] = field(default_factory=dict)

    def diagnose(self, paths: list[str], **options: Any) -> Diagnosis:
        """Give the answer."""
        self.asked = {"paths": list(paths), **options}
        if self.error is not None:
            raise self.error
        return self.answer


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    """A pipeline without logs."""
    made = Pipeline()
    module = types.ModuleType("diagnose.api")
    module.diagnose = made.diagnose  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "diagnose.api", module)
    monkeypatch.setattr(diagnose, "api", module, raising=False)
    return made


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left: exit code and both streams."""

    code: int
    out: str
    err: str  # without the warnings
    warnings: list[str]  # about pattern files


Run = Callable[..., Outcome]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for configuration and cache that all tests share."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path) -> Run:
    """Run the command line, away from the user's own patterns and cache, and give its outcome."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def call(*arguments: str) -> Outcome:
        from diagnose.commands import main

        code = main(list(arguments))
        captured = capsys.readouterr()
        lines = captured.err.splitlines(keepends=True)
        warnings = [line for line in lines if line.startswith("diagnose: warning: ")]
        return Outcome(code, captured.out, "".join(line for line in lines if line not in warnings), warnings)

    return call
