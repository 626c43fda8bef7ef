"""The doctor says what works and what does not."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from diagnose.deliver import doctor as module
from diagnose.deliver.doctor import Check, examine
from diagnose.deliver.notify import deliver
from diagnose.deliver.settings import load_settings
from diagnose.deliver.slurm import query
from diagnose.deliver.slurm.hooks import install, script
from diagnose.deliver.slurm.query import Answer
from tests.deliver.notify.failures import EVENT, failure


@pytest.fixture(autouse=True)
def no_slurm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Look at no Slurm and no configuration of this machine."""
    monkeypatch.setattr(query, "find_command", lambda name, folders=(): None)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("DIAGNOSE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the patterns out: they are compiled anew for each examination."""
    monkeypatch.setattr(module, "_patterns", lambda settings: iter(()))


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


@pytest.mark.usefixtures("no_patterns")
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


@pytest.mark.usefixtures("no_patterns")
def test_controller_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that does not answer is wrong."""
    monkeypatch.setattr(query, "find_command", lambda name, folders=(): f"/usr/bin/{name}")
    monkeypatch.setattr(query, "run_command", lambda command: Answer(1, "", "scontrol: error: no controller\n"))
    assert [check.state for check in of("slurm")] == ["wrong"]


@pytest.mark.usefixtures("no_patterns")
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


@pytest.mark.usefixtures("no_patterns")
def test_server_without_its_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is set up and lacks its packages is wrong, with what to install."""
    path = tmp_path / "d.yaml"
    path.write_text("serve: {}\n")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    (check,) = of("serve", path)
    assert (check.state, check.hint) == ("wrong", "pip install 'train-diagnose[serve]'")


@pytest.mark.usefixtures("no_patterns")
def test_messages_that_wait_are_told(tmp_path: Path) -> None:
    """A message that could not be delivered is wrong until it has been, also where the host can be reached now."""
    path = tmp_path / "d.yaml"
    path.write_text("notify:\n  - {name: ops, type: webhook, url: 'http://127.0.0.1:9/x', total: 1}\n")
    deliver(failure(), EVENT, load_settings(str(path)).notify)
    assert [check.state for check in of("notify", path)] == ["ok", "wrong"]
    assert "1 message waits" in of("notify", path)[1].detail


@pytest.mark.usefixtures("no_patterns")
def test_a_receiver_without_tls_is_seen(tmp_path: Path) -> None:
    """A port that can be reached and speaks no TLS is not reached with https."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(100)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        path = tmp_path / "d.yaml"
        path.write_text(f"notify: [{{type: webhook, url: 'https://127.0.0.1:{server.getsockname()[1]}/'}}]\n")
        assert [check.state for check in of("notify", path, online=True)] == ["wrong"]
        thread.join()


@pytest.mark.usefixtures("no_patterns")
def test_a_proxy_is_tried_in_place_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where deliveries go through a proxy, it is what must be reached."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{server.getsockname()[1]}")
        path = tmp_path / "d.yaml"
        path.write_text("notify: [{type: webhook, url: 'https://hooks.invalid/'}]\n")
        (check,) = of("notify", path, online=True)
    assert (check.state, check.detail) == ("ok", "the proxy 127.0.0.1 can be reached")
