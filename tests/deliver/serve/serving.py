"""A server in the test's own process, over logs in a temporary folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from diagnose.deliver.serve.app import build
from diagnose.deliver.serve.settings import ServeSettings
from tests.deliver.serve.client import TestClient

_SPEECH = (
    "Traceback (most recent call last):",
    '  File "train.py", line 10, in <module>',
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 has a total capacity of 79.10 GiB "
    "of which 201.00 MiB is free. Including non-PyTorch memory, this process has 78.90 GiB memory in use. Of the "
    "allocated memory 66.10 GiB is allocated by PyTorch, and 11.90 GiB is reserved by PyTorch but unallocated.",
)
OOM = "".join(f"[rank3]: {line}\n" for line in _SPEECH)


@dataclass
class World:
    """A folder with logs, and settings that serve it."""

    folder: Path
    settings: ServeSettings

    def log(self, name: str = "job.log", text: str = OOM) -> str:
        """Write a log below the root."""
        path = self.folder / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    @contextmanager
    def client(self, *, work: bool = True, **changes: Any) -> Iterator[TestClient]:
        """Run the server for a block."""
        app = build(replace(self.settings, **changes), work=work)
        with TestClient(app, base_url="http://127.0.0.1:8377", raise_server_exceptions=False) as client:
            yield client


def world(folder: Path) -> World:
    """Make one."""
    (folder / "logs").mkdir()
    settings = ServeSettings(
        roots=(str(folder / "logs"),), database=str(folder / "db.sqlite"), workers=1, job_timeout=60.0
    )
    return World(folder, settings)
