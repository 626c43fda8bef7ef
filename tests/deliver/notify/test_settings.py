"""The `notify` entries of diagnose.yaml."""

from __future__ import annotations

from pathlib import Path

from diagnose.deliver.notify.settings import read_notifiers
from tests.deliver.notify.receiver import entries


def test_secrets_come_from_outside(tmp_path: Path) -> None:
    """`env:` and `file:` keep secrets out of the file, and the representation shows none."""
    (tmp_path / "key").write_text("k3y\n")
    table = entries(f"- {{name: a, type: apprise, url: 'env:CHAT', secret: 'file:{tmp_path}/key'}}")
    found, troubles = read_notifiers(table, {"CHAT": "slack://T/B/x"})
    assert not troubles
    assert (found[0].url, found[0].secret) == ("slack://T/B/x", "k3y")
    assert "slack" not in repr(found[0])


def test_what_is_missing_is_named_with_its_place() -> None:
    """A variable that is not set, and a name given twice, are troubles; the rest still works."""
    twice = "- {name: b, type: apprise, url: x://}\n" * 2
    found, troubles = read_notifiers(entries("- {name: a, type: apprise, url: 'env:NOPE'}\n" + twice), {})
    assert [each.name for each in found] == ["b"]
    assert [(each.line, each.message) for each in troubles] == [
        (1, "the environment has no variable NOPE"),
        (3, "a notifier called `b` stands above"),
    ]


def test_unknown_keys_get_a_hint() -> None:
    """A misspelt key is named with the right one."""
    _, troubles = read_notifiers(entries("- {type: webhook, url: 'http://x', timout: 3}"))
    assert troubles[0].hint == "did you mean `timeout`?"
