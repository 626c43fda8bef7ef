"""Slurm's filename patterns stand for files."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.deliver.slurm.filename import expand, log_paths, related_logs
from diagnose.deliver.slurm.job import Job

JOB = Job("124", "gpt", "alice", array_id="120", array_task="17", restarts=2, work_dir="/data/run")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/logs/%j.out", "/logs/124.out"),
        ("/logs/%A_%a.out", "/logs/120_17.out"),
        ("/logs/%8j-%4a-%b.out", "/logs/00000124-0017-7.out"),
        ("/logs/%25j.out", "/logs/0000000124.out"),
        ("/logs/%x/%u-%r.%%", "/logs/gpt/alice-2.%"),
        ("logs/%j.out", "/data/run/logs/124.out"),
        ("/logs/%x-%t.out", "/logs/gpt-*.out"),
        ("/logs/%N/%n-%s-%J.out", "/logs/*/*-*-*.out"),
        ("/logs/a[1]-%4t.out", "/logs/a[[]1]-*.out"),
        ("/logs/a[1]-%j.out", "/logs/a[1]-124.out"),
        ("/logs/\\%j.out", "/logs/%j.out"),
        ("/logs/%q.out", "/logs/%q.out"),
        ("/logs/100%", "/logs/100%"),
    ],
)
def test_expand(pattern: str, path: str) -> None:
    """Each symbol becomes the job's value, or `*` where the job alone does not tell."""
    assert expand(pattern, JOB) == path


def test_default_names() -> None:
    """Without --output a job writes slurm-ID.out, a task of an array slurm-ARRAY_TASK.out, into its folder."""
    assert log_paths(JOB) == ["/data/run/slurm-120_17.out"]
    assert log_paths(Job("9", work_dir="/w")) == ["/w/slurm-9.out"]


def test_separate_stderr() -> None:
    """A stderr of its own is a second file; /dev/null is none."""
    assert log_paths(Job("9", stdout="/a.out", stderr="/a.err")) == ["/a.out", "/a.err"]
    assert log_paths(Job("9", stdout="/a.out", stderr="/a.out")) == ["/a.out"]
    assert log_paths(Job("9", stdout="/dev/null", stderr="/a.err")) == ["/a.err"]


def test_logs_beside(tmp_path: Path) -> None:
    """Logs of `srun --output` lie beside the job's own and bear its number; a small number is no sign."""
    for name in ("log-gpt_48213_0.out", "48213.err", "148213.out", "48213.pt", "sbatch_gpt_48213.out"):
        (tmp_path / name).write_text("")
    own = str(tmp_path / "sbatch_gpt_48213.out")
    found = related_logs(Job("48213", stdout=own), [own])
    assert [Path(path).name for path in found] == ["48213.err", "log-gpt_48213_0.out"]
    assert related_logs(Job("482", stdout=own), [own]) == []
    assert related_logs(Job("48213"), ["relative.out", "/no/folder/x.out", "/a*/x.out"]) == []


@given(st.text(st.characters(exclude_characters="%\\\0"), max_size=30))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_literal_text_matches_itself(words: str) -> None:
    """Text around the symbols stands for itself, also where the path becomes a glob."""
    assert fnmatch.fnmatchcase(f"/{words}-3.out", expand(f"/{words}-%t.out", JOB))
