"""The `serve` section of diagnose.yaml."""

from __future__ import annotations

import pytest

from diagnose.catalogue.document import Table, read_document
from diagnose.deliver.serve.run import StartError, check
from diagnose.deliver.serve.settings import ServeSettings, is_loopback, read_serve


def _table(text: str) -> Table:
    root, troubles = read_document("diagnose.yaml", text.encode())
    assert not troubles
    assert isinstance(root, Table)
    return root


def test_defaults() -> None:
    """Without a section everything has its default, and only loopback is bound."""
    settings, troubles = read_serve(None)
    assert not troubles
    assert settings == ServeSettings()
    assert is_loopback(settings.host)


def test_the_section_is_read() -> None:
    """Every key has its place; the token comes from outside and is not shown."""
    text = "roots: [/logs]\ntoken: env:T\nport: 9\nkeep_days: 2\nalert_paths: '/logs/{job}'\n"
    settings, troubles = read_serve(_table(text), environment={"T": "0123456789abcdef"})
    assert not troubles
    assert (settings.roots, settings.port, settings.keep) == (("/logs",), 9, 172_800.0)
    assert settings.alert_paths == ("/logs/{job}",)
    assert settings.token == "0123456789abcdef"
    assert "0123456789abcdef" not in repr(settings)


@pytest.mark.parametrize("root", ["logs", "/", "/tmp/.."])
def test_a_root_must_be_a_root(root: str) -> None:
    """A relative root, or the whole machine, is refused with its place."""
    settings, troubles = read_serve(_table(f"roots: ['{root}']"))
    assert settings.roots == ()
    assert (troubles[0].line, troubles[0].column) == (1, 9)


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "::", "node-1"])
def test_no_token_no_network(host: str) -> None:
    """Bound to more than loopback, the server does not start without a token; a short one will not do."""
    pytest.importorskip("uvicorn")
    with pytest.raises(StartError, match="token"):
        check(ServeSettings(host=host))
    with pytest.raises(StartError, match="16 characters"):
        check(ServeSettings(host=host, token="short"))
    check(ServeSettings(host=host, token="0123456789abcdef"))
