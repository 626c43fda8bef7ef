"""diagnose.yaml is read with good messages, and never stands in the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.deliver.settings import Settings, find_settings, load_settings, parse_settings

WHOLE = b"""\
patterns: [site-patterns, /opt/patterns]
redact: true
wrap:
  timeout: 90s
slurm:
  timeout: 2m
  reports: /srv/reports
  mailer: /usr/sbin/sendmail
  cancelled: true
watch:
  interval: 5m
  ledger: /srv/ledger
  user: alice
notify:
  - type: webhook
    url: https://example.com/hook
serve:
  port: 8080
"""


def test_whole_file() -> None:
    """Every section is read; a folder of patterns is taken from the file's own folder."""
    found = parse_settings("/etc/diagnose/diagnose.yaml", WHOLE)
    assert found.troubles == ()
    assert found.patterns == ("/etc/diagnose/site-patterns", "/opt/patterns")
    assert found.redact
    assert (found.wrap.timeout, found.slurm.timeout, found.watch.interval) == (90, 120, 300)
    assert (found.slurm.reports, found.slurm.mailer, found.slurm.cancelled) == (
        "/srv/reports",
        "/usr/sbin/sendmail",
        True,
    )
    assert (found.watch.ledger, found.watch.user) == ("/srv/ledger", "alice")
    assert len(found.notify.entries) == 1
    assert found.notify.entries[0].where.line == 15
    assert found.serve is not None


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("slrum: {}\n", 1, 1, "did you mean `slurm`"),
        ("slurm:\n  timout: 5\n", 2, 3, "did you mean `timeout`"),
        ("wrap:\n  timeout: soon\n", 2, 12, "write 90, 90s, 2m or 1h"),
        ("watch: {interval: 2s}\n", 1, 19, "10 s or more"),
        ("slurm: {reports: here}\n", 1, 18, "absolute path"),
        ("redact: maybe\n", 1, 9, "true or false"),
        ("notify: {}\n", 1, 9, "must be a list"),
        ("serve: 8080\n", 1, 8, "must be a mapping"),
        ("- a\n", 1, 1, "must be a mapping"),
        ("wrap: {timeout: [\n", 2, 1, "not YAML"),
        ("wrap: 3\n", 1, 7, "must be a mapping"),
    ],
)
def test_mistakes(text: str, line: int, column: int, words: str) -> None:
    """A mistake has its place and a hint; the defaults hold for it."""
    found = parse_settings("d.yaml", text.encode())
    assert len(found.troubles) == 1
    trouble = found.troubles[0]
    assert (trouble.line, trouble.column) == (line, column)
    assert words in f"{trouble.message} {trouble.hint}"
    assert found.wrap == Settings().wrap


@pytest.mark.parametrize("text", ["", "# only words\n\n---\n"])
def test_empty_file(text: str) -> None:
    """A file without settings is no mistake."""
    assert parse_settings("d.yaml", text.encode()) == Settings("d.yaml")


def test_first_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--settings, then $DIAGNOSE_CONFIG, then the folder's, then the user's."""
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "config"
    environment = {"XDG_CONFIG_HOME": str(config)}
    (config / "diagnose").mkdir(parents=True)
    (config / "diagnose" / "diagnose.yaml").write_text("redact: true\n")
    assert find_settings(environment=environment) == str(config / "diagnose" / "diagnose.yaml")
    (tmp_path / "diagnose.yaml").write_text("")
    assert find_settings(environment=environment) == "diagnose.yaml"
    environment["DIAGNOSE_CONFIG"] = "/elsewhere.yaml"
    assert find_settings(environment=environment) == "/elsewhere.yaml"
    assert find_settings("mine.yaml", environment) == "mine.yaml"


def test_named_file_that_is_missing() -> None:
    """A file that was named and is not there is a trouble, not an error."""
    found = load_settings("/no/diagnose.yaml")
    assert "cannot be read" in found.troubles[0].message


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_any_bytes(data: bytes) -> None:
    """Any bytes give settings or troubles."""
    assert parse_settings("d.yaml", data).path == "d.yaml"
