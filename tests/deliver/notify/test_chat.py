"""Chats, pagers and mail through Apprise, with texts that fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from diagnose.deliver.notify import deliver
from diagnose.deliver.notify.chat import fit, limit_of, send
from diagnose.deliver.notify.settings import Notifier
from diagnose.deliver.notify.webhook import SendError
from tests.deliver.notify.failures import EVENT, failure
from tests.deliver.notify.receiver import receiver, settings

pytest.importorskip("apprise")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_a_service_gets_title_and_text(tmp_path: Path) -> None:
    """Apprise's own JSON service on loopback receives both."""
    with receiver() as hook:
        url = hook.url.replace("http://", "json://")
        to = settings(f"- {{type: apprise, url: '{url}', ledger: '{tmp_path}/l'}}")
        assert deliver(failure(), EVENT, to)[0].ok
        content = json.loads(hook.bodies[0])
    assert content["title"].startswith("[eos] job 123_4")
    assert "Halve the micro-batch." in content["message"]
    assert content["type"] == "failure"


@pytest.mark.parametrize(
    ("url", "limit"), [("slack://a/b/c", 3000), ("pagerduty://k@a", 1024), ("workflows://h/w/s", 28_000)]
)
def test_texts_fit_their_service(url: str, limit: int) -> None:
    """What is sent is below what the service refuses."""
    assert limit_of(url) < limit


def test_mail_is_html_with_the_layout_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail holds the text as it stands, escaped."""
    import apprise

    sent: dict[str, Any] = {}

    def notify(_self: object, **what: Any) -> bool:
        sent.update(what)
        return True

    monkeypatch.setattr(apprise.Apprise, "notify", notify)
    send(Notifier("m", "apprise", "mailto://u:p@example.org"), "t", "a <b>\n  c", bad=True)
    assert sent["body"] == "<pre>a &lt;b&gt;\n  c</pre>"


def test_an_unknown_service_is_an_error() -> None:
    """A URL that Apprise does not know is refused without another attempt, and is not shown."""
    with pytest.raises(SendError) as caught:
        send(Notifier("m", "apprise", "nosuch://s3cret"), "t", "x", bad=True)
    assert not caught.value.again
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "limit"),
    [
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", 13_000),
        ("workflows://host.logic.azure.com/643a03/ABCDEF1234", 28_000),
        ("pagerduty://integkey12345678901234567890ab@apikey", 4096),
        ("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", 4000),
    ],
)
def test_what_the_services_receive(url: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The payload fits, holds title and text, calls nobody, and shows no picture from elsewhere."""
    import requests

    sent: list[str] = []

    def request(*_where: object, **more: Any) -> Mock:
        sent.append(str(more.get("data") or more.get("json")))
        return Mock(status_code=200, content=b"ok", text="ok", headers={})

    monkeypatch.setattr(requests.sessions.Session, "request", request)
    send(Notifier("m", "apprise", url), "the title", f"@everyone {'long words ' * 5000}", bad=True)
    (payload,) = sent
    assert len(payload) <= limit
    assert "the title" in payload
    assert "long words" in payload
    assert "@everyone" not in payload
    assert "githubusercontent" not in payload
    assert "github.com" not in payload


@pytest.mark.parametrize("url", ["slack://a/b/c", "workflows://x/y/z", "pagerduty://a@b", "discord://a/b", "other://x"])
def test_a_text_of_any_characters_fits(url: str) -> None:
    """A hundred thousand characters, which JSON writes with six bytes each, are cut to what the service takes."""
    for text in ("\u00fc" * 100_000, "x" * 100_000, '"' * 100_000):
        fitted = fit(text, url, 202)
        assert len(fitted) + 202 <= limit_of(url)
        assert fitted.endswith(" \u2026")
        if url.startswith("workflows"):
            assert len(json.dumps(fitted)) <= 20_000
