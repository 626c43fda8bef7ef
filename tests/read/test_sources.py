"""Finding logs, and what their names tell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from diagnose.read import sources
from diagnose.read.model import Kind
from diagnose.read.sources import describe, find_sources, is_binary


@pytest.mark.parametrize(
    ("path", "rank", "local_rank", "node", "attempt", "stream"),
    [
        ("logs/none_ab12/attempt_1/3/stderr.log", None, 3, None, 1, "stderr"),
        ("logs/none_ab12/attempt_0/0/error.json", None, 0, None, 0, None),
        ("rank_3.log", 3, None, None, None, None),
        ("rank-003.out", 3, None, None, None, None),
        ("log_rank12", 12, None, None, None, None),
        ("rank_7/stdout.log", 7, None, None, None, "stdout"),
        ("run_hang_rank0_again/train.log", None, None, None, None, None),
        ("local_rank_2.log", None, 2, None, None, None),
        ("node_rank_1.log", None, None, None, None, None),
        ("log-allranks_0.out", None, None, None, None, None),
        ("node-1.log", None, None, "node-1", None, None),
        ("gpu-03-04.log", None, None, "gpu-03-04", None, None),
        ("slurmd.node-2.log", None, None, "node-2", None, None),
        ("log_worker-3.out", None, None, "worker-3", None, None),
        ("nodes/node-0/rank_1.log", 1, None, "node-0", None, None),
        ("slurm-4350.out", None, None, None, None, None),
        ("slurm-4350_3.out", None, None, None, None, None),
        ("4350.err", None, None, None, None, "stderr"),
        ("log-pretrain_88_2.out", None, None, None, 2, None),
        ("log-pretrain_88_2.err", None, None, None, 2, "stderr"),
        ("node-b.dmesg.log", None, None, "node-b", None, None),
        ("dmesg-gpu-11.txt", None, None, "gpu-11", None, None),
        ("gpu-11_kern.log", None, None, "gpu-11", None, None),
        ("kern.log", None, None, None, None, None),
        ("dmesg_before_crash.txt", None, None, None, None, None),
        ("train_cycle4.log", None, None, None, 4, None),
        ("worker-0.log.gz", None, None, "worker-0", None, None),
        ("llama3-8b/run-3/train.log", None, None, None, None, None),
    ],
)
def test_names_tell_rank_node_attempt_and_stream(
    path: str, rank: int | None, local_rank: int | None, node: str | None, attempt: int | None, stream: str | None
) -> None:
    """A path's parts give what they surely tell, and nothing else."""
    source = describe(path)
    assert (source.rank, source.local_rank, source.node) == (rank, local_rank, node)
    assert (source.attempt, source.stream) == (attempt, stream)


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("error.json", b"{}", Kind.ERROR_FILE),
        ("dmesg.txt", b"", Kind.KERNEL),
        ("kern.log", b"", Kind.KERNEL),
        ("node.txt", b"[   12.345678] NVRM: loading\n[   13.345678] x\n", Kind.KERNEL),
        ("slurmctld.log", b"", Kind.SLURM),
        ("job.txt", b"JobId=5 JobName=train\n   UserId=me(1)\n   Priority=1\n", Kind.SLURM),
        ("d.txt", b"[2026-11-29T22:00:22.654] [5.batch] starting 1 tasks\n", Kind.SLURM),
        ("slurm-5.out", b"0: training ...\n", Kind.LOG),
        ("train.log", b"[11001.101] Lustre: x\n[2026-11-20 08:00:05] iteration 1\n", Kind.LOG),
    ],
)
def test_kind_comes_from_name_or_head(name: str, head: bytes, kind: Kind) -> None:
    """Kernel logs, Slurm's daemons and error files are told from job logs."""
    assert describe(name, head).kind is kind


def test_directory_gives_logs_only(tmp_path: Path) -> None:
    """Hidden files, weights, code and binaries are passed over; logs with odd endings are kept, sorted."""
    for name in ("b.log", "a.out", "job.o123", "README", "noext", "sub/rank_1.log", "error.json", "old.log.1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words\n")
    for name in (".hidden.log", "model.pt", "train.py", "conf.yaml", "x.json", "__pycache__/a.txt", ".git/log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words\n")
    (tmp_path / "core").write_bytes(b"\x7fELF" + bytes(range(32)) * 40)
    found, problems = find_sources([str(tmp_path)])
    names = [os.path.relpath(source.path, tmp_path) for source in found]
    assert names == ["README", "a.out", "b.log", "error.json", "job.o123", "noext", "old.log.1", "sub/rank_1.log"]
    assert problems == []


def test_entries_and_bookkeeping_in_a_directory(tmp_path: Path) -> None:
    """JSON files are logs where they hold log entries; what NeMo-Run keeps beside its logs is none."""
    (tmp_path / "train.jsonl").write_text('{"level": "info", "message": "words"}\n')
    (tmp_path / "metrics.jsonl").write_text('{"loss": 1.5, "step": 2}\n')
    (tmp_path / "config.json").write_text('{\n  "level": 1\n}\n')
    (tmp_path / "_TASKS").write_text("[]")
    (tmp_path / "llama_fn_or_script").write_text("eNrt")
    (tmp_path / "train.sh").write_text("python train.py\n")
    (tmp_path / "llama_sbatch.sh").write_text("#!/bin/bash\n#\n# Generated by NeMo Run\n#\nsrun x\n")
    found, problems = find_sources([str(tmp_path)])
    assert [(os.path.basename(source.path), source.kind) for source in found] == [
        ("train.jsonl", Kind.LOG),
        ("llama_sbatch.sh", Kind.SCRIPT),
    ]
    assert problems == []


def test_one_name_is_no_node(tmp_path: Path) -> None:
    """A name with a number is a node where several logs are numbered so, or where it says node; else it is a run."""

    def nodes(*names: str) -> list[str | None]:
        for name in names:
            (tmp_path / name).write_text("words\n")
        return [source.node for source in find_sources([str(tmp_path / name) for name in names])[0]]

    assert nodes("deepseek-v3.log", "sft-lora-0710.log") == [None, None]
    assert nodes("tron-1.log", "tron-2.log") == ["tron-1", "tron-2"]
    assert nodes("node-7.log") == ["node-7"]
    assert nodes("dmesg-tron-1.txt") == ["tron-1"]


def test_same_file_counts_once(tmp_path: Path) -> None:
    """A file that is given twice, found again in its folder or linked to is read once."""
    log = tmp_path / "train.log"
    log.write_text("words\n")
    (tmp_path / "latest.log").symlink_to(log)
    found, problems = find_sources([str(log), str(tmp_path), str(tmp_path / "*.log"), str(log)])
    assert [source.path for source in found] == [str(log)]
    assert problems == []


def test_globs_and_standard_input(tmp_path: Path) -> None:
    """Patterns are expanded in order, and "-" stands for standard input once."""
    for rank in (1, 0):
        (tmp_path / f"rank_{rank}.log").write_text("words\n")
    found, _ = find_sources(["-", str(tmp_path / "rank_*.log"), "-"])
    assert [source.rank for source in found] == [None, 0, 1]


def test_what_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    """Missing paths, empty folders, devices and nonsense become problems, never exceptions."""
    paths = [str(tmp_path / "none.log"), str(tmp_path / "*.none"), str(tmp_path), "/dev/null", "a\0b", ""]
    found, problems = find_sources(paths)
    assert found == []
    assert [problem.path for problem in problems] == paths
    assert all(problem.fatal and problem.what for problem in problems)


def test_large_directory_is_cut_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit files are left out, and the problem says so."""
    monkeypatch.setattr(sources, "MAX_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.log").write_text("words\n")
    found, problems = find_sources([str(tmp_path)])
    assert len(found) == 3
    assert "only the first 3 logs" in problems[0].what


def test_named_binary_and_empty_file_are_read_with_a_note(tmp_path: Path) -> None:
    """A file that the user names is read whatever it is."""
    (tmp_path / "x.bin").write_bytes(bytes(1000))
    (tmp_path / "empty.log").touch()
    found, problems = find_sources([str(tmp_path / "x.bin"), str(tmp_path / "empty.log")])
    assert len(found) == 2
    assert [problem.fatal for problem in problems] == [False, False]


def test_utf16_is_text() -> None:
    """A log that Windows wrote is not taken for a binary file."""
    assert not is_binary("words and more words".encode("utf-16"))
    assert is_binary(bytes(100))
