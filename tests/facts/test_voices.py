"""The last words of each speaker of a merged log."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from diagnose.facts.voices import VoiceMeter, Voices, voices_of
from diagnose.read.index import LineIndex
from diagnose.read.model import Source
from diagnose.read.stream import open_stream
from diagnose.read.text import Text


def heard(path: Path, text: str, *, size: int = 0) -> Voices:
    """Feed a text, in chunks of so many bytes or at once."""
    data = text.encode()
    path.write_bytes(data)
    meter, index, offset, lines = VoiceMeter(), LineIndex(), 0, 0
    source = Source(str(path), node="node-1")
    with open_stream(source) as stream:
        while offset < len(data):
            end = data.rfind(b"\n", offset, offset + size) + 1 or len(data)
            index.add(offset, lines)
            meter.feed(data[offset:end], offset, lines + 1)
            lines += data.count(b"\n", offset, end)
            offset = end
        return voices_of(meter, Text(stream, index, source), source.node, stream.modified)


@pytest.mark.parametrize("size", [0, 300])
def test_last_line_of_each_rank(tmp_path: Path, size: int) -> None:
    """Each rank's last line is told with its number and its time, over chunk borders too."""
    said = [f"[rank{n % 7}]: [2026-05-06 10:00:{n:02d}] word {n}\nplain\n" for n in range(50)]
    voices = heard(tmp_path / "x.log", "".join(said), size=size)
    assert list(voices) == list(range(7))
    for rank, line in voices.items():
        last = max(n for n in range(50) if n % 7 == rank)
        assert (line.rank, line.line, line.node) == (rank, 2 * last + 1, "node-1")
        assert line.text.endswith(f"word {last}")
        assert line.time == f"2026-05-06T10:00:{last:02d}"


def test_kept_for_later(tmp_path: Path) -> None:
    """What a worker process hands over still tells the lines."""
    voices = heard(tmp_path / "x.log", "[rank0]: a\n[rank1]: b\n[rank2]: c\n")
    assert dict(pickle.loads(pickle.dumps(voices))) == dict(voices)
    assert len(voices) == 3


def test_numbers_of_tasks(tmp_path: Path) -> None:
    """Labels of `srun -l` are ranks; the GPU that NCCL names behind one is not."""
    said = "".join(f"{rank}: node-1:63944:3715 [{rank % 8}] NCCL INFO x\n" for rank in range(16))
    voices = heard(tmp_path / "x.log", said + "4: hello\n")
    assert list(voices) == list(range(16))
    assert voices[12].text == "12: node-1:63944:3715 [4] NCCL INFO x"


def test_numbers_of_nodes(tmp_path: Path) -> None:
    """Where the labels of `srun -l` count nodes, the label behind them is the rank."""
    said = "".join(f"{rank // 8}: [rank{rank}]: x\n" for rank in range(16))
    assert list(heard(tmp_path / "x.log", said)) == [7, 15]


def test_long_lines_and_bars(tmp_path: Path) -> None:
    """Of a row of bars the last one is told, and of a long line its beginning."""
    voices = heard(tmp_path / "x.log", "[rank0]: a\n[rank1]: 1%\r2%\r3%\n[rank2]: " + "x" * 20_000 + "\n")
    assert voices[1].text.strip() == "3%"
    assert 8000 <= len(voices[2].text) <= 8192
