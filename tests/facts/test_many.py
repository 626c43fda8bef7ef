"""Several processes give what one gives, and none is left."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from diagnose.catalogue import load
from diagnose.facts import collect as collecting
from diagnose.facts import many
from diagnose.facts.many import collect_many
from diagnose.facts.probe import Probe, prepare
from diagnose.facts.run import Facts
from diagnose.facts.workers import Lost, WorkerError, Workers
from diagnose.read import find_sources
from diagnose.scan import parts

ROOT = Path(__file__).parents[2]
LINE = "[rank{r}]: iteration {n}/ 90000 | elapsed time per iteration (ms): 100.{n:05d} | lm loss: 2.{n:05d}E+00 |\n"
ERROR = (
    "[rank{r}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity\n"
)


@pytest.fixture(scope="module")
def probe() -> Probe:
    """All shipped patterns."""
    return prepare(load(layers=False, cache=False))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat files of a few hundred kilobytes as large ones."""
    monkeypatch.setattr(many, "WORTH", 100_000)
    monkeypatch.setattr(many, "_BATCH", 100_000)
    for module in (many, collecting):
        monkeypatch.setattr(module, "LARGE", 200_000)
    monkeypatch.setattr(parts, "ALL_UP_TO", 300_000)
    monkeypatch.setattr(parts, "TAIL", 50_000)
    monkeypatch.setattr(parts.parts_of, "__defaults__", (100_000,))


def _write(folder: Path) -> list[str]:
    """Write a large log with failures all over it, small ones beside it, and one that cannot be read."""
    lines = [LINE.format(r=n % 8, n=n) for n in range(12_000)]
    for at in (10, 5_000, 11_990):
        lines.insert(at, ERROR.format(r=at % 8))
    (folder / "large.log").write_text("".join(lines))
    (folder / "long.log").write_text("x" * 300_000 + "\n" + "".join(lines[:2_000]) + "y" * 250_000)
    for rank in range(12):
        (folder / f"rank_{rank}.log").write_text("".join(lines[rank * 10 : rank * 10 + 300]))
    return [str(folder), str(folder / "nothing.log")]


def test_the_number_of_processes_changes_nothing(tmp_path: Path, probe: Probe, small: None) -> None:
    """Records are equal, and in the order of the sources, with one process, two and five."""
    sources, _ = find_sources(_write(tmp_path))
    told: list[tuple[int, int]] = []
    alone = collect_many(sources, probe, jobs=1)
    for jobs in (2, 5):
        # NaN is not equal to itself, its text is.
        together = collect_many(sources, probe, jobs=jobs, progress=lambda *each: told.append(each))
        assert [repr(record) for record in together] == [repr(record) for record in alone]
    assert [record.path for record in alone] == [source.path for source in sources]
    large = next(record for record in alone if record.path.endswith("large.log"))
    assert [event.evidence.line for event in large.events] == [11, 5_001, 11_991]
    assert large.steps[-1].evidence.line == 12_003
    assert large.lines == 12_003
    assert max(told) == (sum(os.stat(source.path).st_size for source in sources),) * 2


def test_parts_give_what_the_whole_gives(
    tmp_path: Path, probe: Probe, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events, line numbers and counts of a file that is scanned in parts are those of one pass."""
    _write(tmp_path)
    sources, _ = find_sources([str(tmp_path / "large.log"), str(tmp_path / "long.log")])
    in_parts = collect_many(sources, probe, jobs=1)
    monkeypatch.setattr(collecting, "LARGE", 10**9)
    for whole, cut in zip(collect_many(sources, probe, jobs=1), in_parts, strict=True):
        assert (whole.events, whole.counts, whole.lines, whole.bytes, whole.cut, whole.tail) == (
            *(cut.events, cut.counts, cut.lines, cut.bytes, cut.cut, cut.tail),
        )


def test_borders_lie_at_line_starts(tmp_path: Path) -> None:
    """Parts follow one another without a gap and begin behind a newline."""
    from diagnose.read import open_stream

    data = b"".join(b"line %d\n" % number for number in range(50_000))
    (tmp_path / "log").write_bytes(data)
    with open_stream(find_sources([str(tmp_path / "log")])[0][0]) as stream:
        found = parts.parts_of(stream, 50_000)
    assert len(found) > 5
    assert found[0][0] == 0
    assert found[-1][1] == len(data)
    assert all(a[1] == b[0] and data[b[0] - 1 : b[0]] == b"\n" for a, b in itertools.pairwise(found))


def _fail() -> int:
    raise ZeroDivisionError("as if")


def test_a_task_that_raises_or_dies_is_told() -> None:
    """An exception comes back as WorkerError with its traceback; the result of a process that died is lost."""
    with Workers([lambda: 1, _fail, lambda: os._exit(3)], 1) as workers:
        assert workers.result(0) == 1
        with pytest.raises(WorkerError, match="ZeroDivisionError: as if"):
            workers.result(1)
        assert isinstance(workers.result(2), Lost)


def test_no_process_is_left_after_an_error() -> None:
    """Whatever ends the block ends the processes."""
    workers = Workers([lambda: time.sleep(60)] * 3, 3)
    with pytest.raises(KeyboardInterrupt), workers:
        raise KeyboardInterrupt
    for pid in [process.pid for process in workers._processes]:
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    """Ctrl-C while several processes read ends all of them at once, with the code that shells expect."""
    with (tmp_path / "big.log").open("w") as file:
        for _ in range(60):
            file.write(LINE.format(r=1, n=1) * 40_000)
    command = [sys.executable, "-m", "diagnose", "log", "--jobs", "3", str(tmp_path)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    children: list[str] = []
    while not children and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert (process.returncode, error.strip()) == (130, b"")
    assert children
    assert not any(Path(f"/proc/{child}").exists() for child in children)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_last_word_counts_among_very_many(jobs: int, tmp_path: Path, probe: Probe) -> None:
    """A setting that one of very many sources has otherwise does not outlive those after it."""
    for rank in range(40):
        device = "mlx5_9" if rank == 35 else "mlx5_0"
        (tmp_path / f"rank_{rank:02}.log").write_text(f"+ export NCCL_IB_HCA={device}\nstep {rank}\n")
    sources, _ = find_sources([str(tmp_path)])
    records = collect_many(sources, probe, jobs=jobs)
    seen = [each for record in records for each in record.observations if each.key == "env.NCCL_IB_HCA"]
    assert len(seen) < len(sources)
    assert str(Facts([each for record in records for each in record.observations]).value("env.NCCL_IB_HCA")) == "mlx5_0"
    assert {str(each.value) for each in seen} == {"mlx5_0", "mlx5_9"}
