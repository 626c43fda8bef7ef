"""Times the whole command and ripgrep on the same files with the same expressions, in turns.

Set by the environment: BENCH_SIZE, bytes of the big log; BENCH_FILES, logs of 2 MB; BENCH_RUNS; BENCH_DIR, where the
logs are kept; BENCH_TIMES, a catalogue of so many times today's patterns; RG, the ripgrep to compare with.
`docs/performance.md` says more.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.make_logs import make  # noqa: E402

STARTS, WARM = 15, 2  # runs of what takes a fraction of a second; runs before those that count
RG_OPTIONS = ("-a", "-n", "--no-unicode", "--regex-size-limit", "4G", "--dfa-size-limit", "4G")


@dataclass(frozen=True)
class Run:
    """What one process cost."""

    wall: float  # seconds
    cpu: float  # seconds, its children included
    memory: int  # bytes, the largest process


def measure(command: Sequence[str], environment: dict[str, str]) -> Run:
    """Run a command, throw away what it prints, and tell what it cost."""
    begun = os.times().elapsed
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    error = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"bench: {command[0]} failed: {error.decode(errors='replace').strip()}")
    return Run(os.times().elapsed - begun, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def median(runs: Sequence[Run]) -> Run:
    """The middle of each cost."""
    return Run(
        statistics.median(run.wall for run in runs),
        statistics.median(run.cpu for run in runs),
        max(run.memory for run in runs),
    )


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(each.stat().st_size for each in path.iterdir()) if path.is_dir() else path.stat().st_size


def multiplied(folder: Path, times: int) -> Path:
    """Write a folder of patterns that are `times` - 1 copies of all shipped ones, with literals of their own."""
    target = folder / f"patterns-{times}"
    if target.exists():
        return target
    for source in sorted((ROOT / "patterns").rglob("*.yaml")):
        if source.parent.name.startswith("_") or source.parent.parent.name.startswith("_"):
            continue
        for copy in range(1, times):
            text = source.read_text()
            text = re.sub(rf"^id: {source.stem}$", f"id: {source.stem}-x{copy}", text, flags=re.MULTILINE)
            text = re.sub(r"^aliases:.*\n(?:[ -].*\n)*", "", text, flags=re.MULTILINE)
            text = re.sub(r"^( *(?:- )?regex: ['\"]?)", rf"\g<1>zq{copy}-", text, flags=re.MULTILINE)
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{source.stem}-x{copy}.yaml").write_text(text)
    return target


class Bench:
    """One benchmark: its logs, its catalogue, its rival."""

    def __init__(self) -> None:
        self.folder = Path(os.environ.get("BENCH_DIR") or Path(tempfile.gettempdir()) / "diagnose-bench")
        self.size = int(float(os.environ.get("BENCH_SIZE", "2e8")))
        self.files = int(os.environ.get("BENCH_FILES", "64"))
        self.runs = int(os.environ.get("BENCH_RUNS", "3"))
        self.rg = os.environ.get("RG") or shutil.which("rg")
        self.environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": str(self.folder / "pycache"),
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.diagnose = [sys.executable, "-m", "diagnose"]

    def main(self) -> None:
        """Make the logs, run everything, print the table."""
        logs = make(self.folder, self.size, self.files)
        times = int(os.environ.get("BENCH_TIMES", "1"))
        patterns = ["--patterns", str(multiplied(self.folder, times))] if times > 1 else []
        expressions = self.folder / f"expressions-{times}"
        with expressions.open("wb") as file:
            command = [*self.diagnose, "patterns", "list", "--expressions", *patterns]
            subprocess.run(command, env=self.environment, stdout=file, stderr=subprocess.DEVNULL, check=True)
        count = expressions.read_bytes().count(b"\n")
        version = (
            subprocess.run([self.rg, "--version"], capture_output=True, text=True, check=True).stdout if self.rg else ""
        )
        print(f"{count} expressions, {self.size / 1e6:,.0f} MB, {self.files} ranks, {os.cpu_count()} processors")
        print(f"rival: {version.splitlines()[0] if version else 'none; name a ripgrep with RG=path'}\n")
        print(f"{'':28}{'MB/s':>8}{'wall s':>9}{'cpu s':>9}{'MB used':>9}{'  against rg, wall and cpu'}")
        self.compare("start, 2 MB", logs["small"], patterns, expressions, None, runs=STARTS)
        self.compare("  with 1 process", logs["small"], patterns, expressions, 1, runs=STARTS, rival=False)
        self.compare("one file, 1 process", logs["big"], patterns, expressions, 1)
        self.compare("  without metrics", logs["big"], [*patterns, "--metrics", "off"], expressions, 1, rival=False)
        self.compare("  every metric", logs["big"], [*patterns, "--metrics", "all"], expressions, 1, rival=False)
        self.compare("one file, 2 processes", logs["big"], patterns, expressions, 2)
        self.compare(f"{self.files} files, 2 processes", logs["ranks"], patterns, expressions, 2)
        self.compare("dense hits", logs["dense"], patterns, expressions, 1)
        for name in ("packed", "zst"):
            if name in logs:
                unpacked = size_of(logs["big"])
                self.compare(logs[name].suffix, logs[name], patterns, expressions, 1, rival=False, size=unpacked)

    def compare(
        self,
        name: str,
        path: Path,
        options: Sequence[str],
        expressions: Path,
        jobs: int | None,
        *,
        rival: bool = True,
        size: int | None = None,
        runs: int = 0,
    ) -> None:
        """Time both in turns and print a line; `jobs` None is the command as people type it."""
        own = [*self.diagnose, "log", *([] if jobs is None else ["--jobs", str(jobs)]), *options, str(path)]
        # One file keeps ripgrep on one thread whatever -j says.
        other = [str(self.rg), f"-j{jobs or 1}", *RG_OPTIONS, "-f", str(expressions), str(path)]
        for _ in range(WARM):
            measure(own, self.environment)  # the caches: what one run compiled, the next keeps
        ours, theirs = [], []
        for _ in range(max(runs, self.runs)):
            ours.append(measure(own, self.environment))
            if rival and self.rg:
                theirs.append(measure(other, self.environment))
        run = median(ours)
        speed = (size or size_of(path)) / run.wall / 1e6
        line = f"{name:28}{speed:8,.0f}{run.wall:9.2f}{run.cpu:9.2f}{run.memory / 1e6:9,.0f}"
        if theirs:
            against = median(theirs)
            line += f"{against.wall / run.wall:9.2f} x{against.cpu / run.cpu:9.2f} x"
        print(line, flush=True)


if __name__ == "__main__":
    Bench().main()
