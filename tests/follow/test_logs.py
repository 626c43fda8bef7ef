"""The growing set of logs."""

from __future__ import annotations

from pathlib import Path

from diagnose.catalogue.model import Catalogue
from diagnose.follow.logs import Logs


def _paths(logs: Logs) -> list[str]:
    return [Path(source.path).name for source in logs.sources]


def test_files_appear(tmp_path: Path, packaged: Catalogue) -> None:
    """Files that appear in a folder are followed too, once they hold something, however deep they lie."""
    logs = Logs([str(tmp_path)], packaged, "sampled")
    logs.look()
    assert len(logs) == 0
    assert logs.problems
    (tmp_path / "rank_0.log").write_text("one\n")
    (tmp_path / "rank_1.log").touch()
    logs.look()
    assert _paths(logs) == ["rank_0.log"]
    (tmp_path / "rank_1.log").write_text("two\n")
    (tmp_path / "attempt_0" / "0").mkdir(parents=True)
    (tmp_path / "attempt_0" / "0" / "stderr.log").write_text("three\n")
    logs.look()
    assert logs.read() == 4 + 4 + 6
    assert sorted(_paths(logs)) == ["rank_0.log", "rank_1.log", "stderr.log"]
    logs.close()


def test_rotated_files_are_not_read_twice(tmp_path: Path, packaged: Catalogue) -> None:
    """What was renamed or copied away while it was followed is no log of its own."""
    path = tmp_path / "train.log"
    path.write_text("one\n")
    logs = Logs([str(tmp_path)], packaged, "sampled")
    logs.look()
    logs.read()
    path.rename(tmp_path / "renamed.log")
    (tmp_path / "train.log.2").write_text("one\n")
    path.write_text("two\n")
    logs.look()
    assert logs.read() == 4
    assert _paths(logs) == ["train.log"]
    logs.close()


def test_older_parts_are_read(tmp_path: Path, packaged: Catalogue) -> None:
    """Parts that were rotated away before belong to the job."""
    (tmp_path / "train.log").write_text("two\n")
    (tmp_path / "train.log.1").write_text("one\n")
    logs = Logs([str(tmp_path)], packaged, "sampled")
    logs.look()
    assert _paths(logs) == ["train.log", "train.log.1"]
    logs.close()
