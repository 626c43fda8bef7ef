"""The snippets in docs/integrations.md run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "integrations.md"


def snippet(name: str) -> str:
    """Return the code behind a mark."""
    found = re.search(rf"<!-- {name} -->\n```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_airflow(tmp_path: Path) -> None:
    """The callback logs the summary and the first fixes."""
    log = tmp_path / "train.log"
    log.write_text("ModuleNotFoundError: No module named 'flash_attn'\n")
    names: dict[str, Any] = {}
    exec(snippet("airflow"), names)
    said: list[str] = []
    instance = SimpleNamespace(log=SimpleNamespace(error=lambda words, *values: said.append(words % values)))
    names["explain"]({"params": {"log": str(log)}, "task_instance": instance})
    assert "flash_attn" in said[0]
    assert said[1].startswith("1. ")


def test_airflow_takes_the_callback() -> None:
    """The real package accepts it."""
    airflow = pytest.importorskip("airflow")
    names: dict[str, Any] = {}
    exec(snippet("airflow"), names)
    dag = airflow.DAG("train", default_args={"on_failure_callback": names["explain"]}, params={"log": "/x"})
    assert dag.default_args["on_failure_callback"] is names["explain"]


def test_nemo_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trap fits into the executor's script."""
    nemo_run = pytest.importorskip("nemo_run")
    from diagnose.deliver.slurm.hooks import script

    done = SimpleNamespace(stdout=script("trap"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    names: dict[str, Any] = {}
    exec(snippet("nemo-run"), names)
    assert isinstance(names["executor"], nemo_run.SlurmExecutor)
    assert "diagnose_on_exit" in names["executor"].setup_lines
