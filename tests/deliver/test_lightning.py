"""The Lightning callback tells why a run ended, and never stands in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diagnose.deliver.lightning import callback_class, diagnose_exception


class Base:
    """Stands for Lightning's Callback."""


def test_exception_is_told(tmp_path: Path) -> None:
    """An exception is diagnosed, with its traceback as evidence, and the report written."""
    told: list[str] = []
    callback: Any = callback_class(Base)(told.append, report=str(tmp_path / "r"), settings="/dev/null")
    assert issubclass(type(callback), Base)
    try:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    except RuntimeError as error:
        callback.on_exception(None, None, error)
    assert "illegal-memory-access" in told[0]
    assert (tmp_path / "r.json").exists()


@pytest.mark.parametrize("exception", [KeyboardInterrupt(), SystemExit(0)])
def test_interrupt_is_not_told(exception: BaseException) -> None:
    """An interrupt and a wanted exit are no failures."""
    assert diagnose_exception(exception) is None


def test_nothing_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong in the callback does not hide the run's own exception."""

    def broken(*_: Any) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("diagnose.deliver.worker.run_boxed", broken)
    found = diagnose_exception(ValueError("x"))
    assert found is not None
    assert "ZeroDivisionError" in found.problems[0]


def test_without_lightning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Lightning the import says what to install."""
    import sys

    for name in ("lightning", "pytorch_lightning", "lightning.pytorch.callbacks", "pytorch_lightning.callbacks"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="install one of them"):
        from diagnose.deliver.lightning import DiagnoseCallback  # noqa: F401


def test_with_lightning() -> None:
    """With the real package the callback is one of Lightning's and is called by its trainer."""
    callbacks = pytest.importorskip("lightning.pytorch.callbacks")
    from diagnose.deliver.lightning import DiagnoseCallback

    assert issubclass(DiagnoseCallback, callbacks.Callback)
