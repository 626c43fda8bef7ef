"""What the README shows is what the program prints."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from diagnose.commands import main

ROOT = Path(__file__).parents[1]
DEMO = "samples/demo/cpu-offload-pipeline.log"
_BLOCK = re.compile(r"(<!-- demo -->\n\n)(.*?)(\n<!-- end of demo -->)", re.DOTALL)


def test_demo_is_real(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The README opens with the output of `make demo`; UPDATE_SNAPSHOTS=1 stores the new one."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert main([DEMO]) == 0
    printed = f"$ diagnose {DEMO}\n{capsys.readouterr().out}"
    wanted = "".join(f"    {line}".rstrip() + "\n" for line in printed.splitlines())
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_SNAPSHOTS"):
        text = _BLOCK.sub(lambda match: match[1] + wanted + match[3], text)
        readme.write_text(text, encoding="utf-8")
    shown = _BLOCK.search(text)
    assert shown is not None
    assert shown[2] == wanted
