"""Flight-recorder dumps are read as data, never run."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.flight_recorder import DumpError, last_of, parse, read_flight_recorder
from diagnose.read import Kind, find_sources

DUMP = {
    "pg_config": {"0": {"ranks": "[0, 1]"}},
    "pg_status": {"0": {"last_enqueued_collective": 7, "last_completed_collective": 6}},
    "entries": [
        {
            "process_group": ("0", "default_pg"),
            "collective_seq_id": 6,
            "profiling_name": "nccl:all_reduce",
            "state": "completed",
        },
        {
            "process_group": ("0", "default_pg"),
            "collective_seq_id": 7,
            "profiling_name": "nccl:broadcast",
            "state": "started",
        },
    ],
}


class Trap:
    """Runs a command where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("exit 1",)


@pytest.mark.parametrize("protocol", range(6))
def test_plain_data(protocol: int) -> None:
    """Every pickle protocol is read where it holds data only."""
    (last,) = last_of(parse(pickle.dumps(DUMP, protocol=protocol)))
    assert (last.group, last.enqueued, last.completed, last.seq, last.op) == ("0 (default_pg)", 7, 6, 7, "broadcast")
    assert last.ranks == (0, 1)


@pytest.mark.parametrize("value", [Trap(), os.system, {1, 2}, complex(1, 2), Path("x")])
def test_refused(value: object) -> None:
    """A pickle that could call or import anything is refused before it is loaded."""
    with pytest.raises(DumpError):
        parse(pickle.dumps({"entries": [value]}))


def test_memo_bomb() -> None:
    """A memo number that would reserve memory is refused."""
    with pytest.raises(DumpError):
        parse(b"\x80\x02}r\xff\xff\xff\x7f.")


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 200))
def test_damaged(noise: bytes, at: int) -> None:
    """Any bytes are read or refused."""
    raw = pickle.dumps(DUMP)
    for data in (noise, raw[:at], raw[:at] + noise, b"{" + noise):
        try:
            list(last_of(parse(data)))
        except DumpError:
            continue


def test_found_in_a_folder(tmp_path: Path) -> None:
    """A binary dump is found by its name and read into observations; a refused one is a problem of its input."""
    (tmp_path / "nccl_trace_rank_3").write_bytes(pickle.dumps(DUMP))
    (tmp_path / "nccl_trace_rank_4").write_bytes(pickle.dumps({"entries": [Trap()]}))
    sources, _ = find_sources([str(tmp_path)])
    assert [source.kind for source in sources] == [Kind.FLIGHT_RECORDER] * 2
    good, bad = (read_flight_recorder(source) for source in sources)
    assert good.rank == 3
    assert [each.key for each in good.observations] == ["collective.trace"]
    assert "only plain data" in bad.problems[0]
