"""The doctor says what works and what does not."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from diagnose.deliver import doctor as module
from diagnose.deliver.doctor import Check, examine
from diagnose.deliver.slurm import query
from diagnose.deliver.slurm.hooks import install, script
from diagnose.deliver.slurm.query import Answer


@pytest.fixture(autouse=True)
def no_slurm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Look at no Slurm and no configuration of this machine."""
    monkeypatch.setattr(query, "find_command", lambda name, folders=(): None)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("DIAGNOSE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


def of(area: str, settings: Path | None = None, **options: bool) -> list[Check]:
    """Examine and return one area."""
    found = list(examine(str(settings) if settings else None, **options))
    return [check for check in found if check.area == area]


def test_nothing_set_up() -> None:
    """Without configuration and Slurm nothing is wrong there, and the rest is seen."""
    found = list(examine())
    assert {check.area for check in found} == {
        "program",
        "configuration",
        "patterns",
        "slurm",
        "kubernetes",
        "notify",
        "serve",
    }
    assert [check.name for check in found if check.state == "wrong" and check.area != "patterns"] == []


def test_broken_configuration(tmp_path: Path) -> None:
    """A mistake in the configuration has its place."""
    path = tmp_path / "d.yaml"
    path.write_text("slurm: {timout: 3}\npatterns: [none]\n")
    (check,) = of("configuration", path)
    assert check.state == "wrong"
    assert check.detail.startswith(f"{path}:1:9: ")
    assert any(check.state == "wrong" and "no such folder" in check.detail for check in of("patterns", path))


def test_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed hooks are recognised in the controller's configuration."""
    install(str(tmp_path / "mail"), script("mailprog"))
    install(str(tmp_path / "epilog"), script("epilog-slurmctld"))
    (tmp_path / "epilog").chmod(0o644)
    shown = f"MailProg                = {tmp_path}/mail\nEpilogSlurmctld[0] = {tmp_path}/epilog\nJobCompLoc = /none\n"
    monkeypatch.setattr(query, "find_command", lambda name, folders=(): f"/usr/bin/{name}")
    monkeypatch.setattr(query, "run_command", lambda command: Answer(0, shown, ""))
    found = {check.name: check.state for check in of("slurm")}
    assert found == {
        "controller": "ok",
        "MailProg": "ok",
        "EpilogSlurmctld": "wrong",
        "JobCompLoc": "off",
        "reports": "off",
    }


def test_controller_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that does not answer is wrong."""
    monkeypatch.setattr(query, "find_command", lambda name, folders=(): f"/usr/bin/{name}")
    monkeypatch.setattr(query, "run_command", lambda command: Answer(1, "", "scontrol: error: no controller\n"))
    assert [check.state for check in of("slurm")] == ["wrong"]


def test_notifiers(tmp_path: Path) -> None:
    """Notifiers are tried only on request, and their addresses, which may be secret, are not shown."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        path = tmp_path / "d.yaml"
        path.write_text(f"notify:\n  - {{type: webhook, url: 'http://127.0.0.1:{port}/secret-token'}}\n")
        assert [check.state for check in of("notify", path)] == ["ok"]
        checks = of("notify", path, online=True)
        assert [check.state for check in checks] == ["ok"]
        assert "secret-token" not in repr(checks)
    assert [check.state for check in of("notify", path, online=True)] == ["wrong"]


def test_server_without_its_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is set up and lacks its packages is wrong, with what to install."""
    path = tmp_path / "d.yaml"
    path.write_text("serve: {}\n")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    (check,) = of("serve", path)
    assert (check.state, check.hint) == ("wrong", "pip install 'train-diagnose[serve]'")
