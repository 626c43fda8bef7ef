"""Prefixes of launchers and collectors."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.model import Clock
from diagnose.read.prefix import find_glued, own_stamp_end, split

NEAR = datetime(2026, 12, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "body", "lane", "rank", "local_rank", "node"),
    [
        ("[default7]:words", "words", "[default7]:", None, 7, None),
        ("[trainer0]:words", "words", "[trainer0]:", None, 0, None),
        ("[rank19]:   File", "  File", "[rank19]:", 19, None, None),
        ("[default1]:[rank5]: words", "words", "[default1]: [rank5]:", 5, 1, None),
        ("finetune/0 [default2]:[rank2]: words", "words", "finetune/0 [default2]: [rank2]:", 2, 2, None),
        ("12: words", "words", "12:", 12, None, None),
        ("3: [rank12]: words", "words", "3: [rank12]:", 12, None, None),
        ("3: [default1]:words", "words", "3: [default1]:", None, 1, None),
        ("[1,3]<stderr>:words", "words", "[1,3]", 3, None, None),
        ("worker-3: words", "words", "worker-3:", None, None, "worker-3"),
        ("gpu-03-04: [rank3]: words", "words", "gpu-03-04: [rank3]:", 3, None, "gpu-03-04"),
        ("10.0.0.3: words", "words", "10.0.0.3:", None, None, "10.0.0.3"),
        ("(Train pid=123, ip=10.0.0.1) words", "words", "(Train pid=123, ip=10.0.0.1)", None, None, "10.0.0.1"),
        ("(Actor rank=8 pid=77) words", "words", "(Actor rank=8 pid=77)", 8, None, None),
        (
            "(worker1, rank=1, pid=22249, ip=10.31.0.9)   rank      : 5 (local_rank: 1)",
            "  rank      : 5 (local_rank: 1)",
            "(worker1, rank=1, pid=22249, ip=10.31.0.9)",
            None,
            None,
            "10.31.0.9",
        ),
        ("(pid=12) [repeated 3x across cluster] words", "words", "(pid=12)", None, None, None),
        ("[pod/x-worker-7/c] words", "words", "[pod/x-worker-7/c]", None, None, "x-worker-7"),
        ("[rank: 3] words", "words", "", 3, None, None),
        ("[2022-06-09T09:22:31.405187Z] 8de2ca81 ||   words", "  words", "8de2ca81", None, None, None),
        ("[2022-06-09T09:22:31Z] 8de2ca81 [rank=3] || words", "words", "8de2ca81 [rank=3]", 3, None, None),
        ("[2022-06-09T09:22:31.405187Z]          || words", "words", "", None, None, None),
        ("[Rank 3] (after 1 iterations) memory", "[Rank 3] (after 1 iterations) memory", "", 3, None, None),
        ("[PG ID 0 PG GUID 0(default_pg) Rank 3] words", None, "", 3, None, None),
        ("[PG ID 4 PG GUID 7(tp) Rank 3] words", None, "", None, None, None),
        ("[rank9]:[E1129 20:27:21.4 a.cpp:6] [PG ID 4 PG GUID 7 Rank 1] w", None, "[rank9]:", 9, None, None),
        ("rank 3: words", "rank 3: words", "", 3, None, None),
        ("node-1:123:456 [3] net_ib.cc:100 NCCL WARN x", None, "", None, 3, "node-1"),
        ("ValueError: 3 words", "ValueError: 3 words", "", None, None, None),
        ("2026-03-01 10:00:00 2: words", "words", "2:", 2, None, None),
        ("[2026-03-01 10:00:00] [rank2]: words", "words", "[rank2]:", 2, None, None),
        ("2: [2026-03-01 10:00:00] [rank2]: words", "words", "2: [rank2]:", 2, None, None),
        ("Mar 01 10:00:00 node-1 python[77]: 2: words", "words", "node-1 python[77]: 2:", 2, None, "node-1"),
        ("node-1: 2: words", "words", "node-1: 2:", 2, None, "node-1"),
        ("[rank2]: 5: words", "5: words", "[rank2]:", 2, None, None),
        ("slurmstepd-node-5: error: words", "slurmstepd-node-5: error: words", "", None, None, None),
        ("python3: can't open file", "python3: can't open file", "", None, None, None),
        ("step 1/15 loss=2", "step 1/15 loss=2", "", None, None, None),
        ("", "", "", None, None, None),
    ],
)
def test_labels(
    text: str, body: str | None, lane: str, rank: int | None, local_rank: int | None, node: str | None
) -> None:
    """Labels come off the body and say who speaks; what the program wrote itself stays."""
    prefix = split(text)
    if body is not None:
        assert prefix.body == body
    assert prefix.body == text[prefix.body_start :]
    assert (prefix.lane, prefix.rank, prefix.local_rank, prefix.node) == (lane, rank, local_rank, node)


@pytest.mark.parametrize(
    ("text", "body", "time", "clock"),
    [
        ("2026-11-29T21:29:38.667Z words", "words", "21:29:38", Clock.UTC),
        ("2026-11-29T21:29:38.667890123Z stderr F words", "words", "21:29:38", Clock.UTC),
        ("2026-11-29T22:00:00.123456+01:00 host-1 kernel: words", "words", "21:00:00", Clock.UTC),
        ("Nov 29 22:00:00 host7 kernel: [12345.678901] words", "words", "22:00:00", Clock.YEARLESS),
        ("Nov 29 22:00:00 host7 systemd[1]: words", "systemd[1]: words", "22:00:00", Clock.YEARLESS),
        ("[Sun Nov 29 22:00:00 2026] words", "words", "22:00:00", Clock.LOCAL),
        ("E1129 22:24:30.319000 7669 a.py:12] words", None, "22:24:30", Clock.YEARLESS),
        ("[E1129 22:24:30.319 a.cpp:12] words", None, "22:24:30", Clock.YEARLESS),
        (" [2026-11-29 05:46:31.627699] iteration", None, "05:46:31", Clock.LOCAL),
        ("2026-11-29 21:32:06,267 - INFO - words", None, "21:32:06", Clock.LOCAL),
        ("[NeMo W 2026-11-29 22:00:00 mod:405] words", None, "22:00:00", Clock.LOCAL),
        ("11/29/2026 22:10:59 - INFO - words", None, "22:10:59", Clock.LOCAL),
        (
            "slurmstepd-node-5: error: *** STEP 15.0 ON node-5 CANCELLED AT 2026-11-29T22:00:34 ***",
            None,
            "22:00:34",
            Clock.LOCAL,
        ),
        ("[2026-11-29T10:13:00.123] error: words", None, "10:13:00", Clock.LOCAL),
        ("  time      : 2026-11-29_21:24:29", None, "21:24:29", Clock.LOCAL),
        ("[after dataloaders are built] datetime: 2026-11-29 22:10:59 ", None, "22:10:59", Clock.LOCAL),
        ("22:10:59 words", None, "22:10:59", Clock.UNDATED),
        ("loading the checkpoint of 2025-01-01 10:00:00", None, None, Clock.NONE),
    ],
)
def test_stamps(text: str, body: str | None, time: str | None, clock: Clock) -> None:
    """A collector's stamp comes off, a program's own stays, and both give the line's time."""
    prefix = split(text, near=NEAR)
    assert prefix.body == (text if body is None else body)
    assert prefix.clock is clock
    shown = None if prefix.time is None else datetime.fromtimestamp(prefix.time, UTC)
    assert (shown.strftime("%H:%M:%S") if shown else None) == time
    if shown and clock is not Clock.UNDATED:
        assert (shown.month, shown.day, shown.year) == (11, 29, 2026)


def test_dmesg_stamp_is_monotonic() -> None:
    """Seconds since boot are no date."""
    prefix = split("[12345.678901] NVRM: Xid")
    assert (prefix.body, prefix.time, prefix.clock) == ("NVRM: Xid", 12345.678901, Clock.MONOTONIC)


def test_container_json_is_decoded() -> None:
    """Docker's JSON lines give the words, the stream and the time inside."""
    line = r'{"log":"[rank3]: \u001b[31mboo\u001b[0m\n","stream":"stderr","time":"2026-11-29T21:29:38.667890123Z"}'
    prefix = split(line)
    assert (prefix.body, prefix.rank, prefix.stream, prefix.clock) == ("boo", 3, "stderr", Clock.UTC)


@pytest.mark.parametrize("line", ['{"log":', '{"log":3}', '{"log":"x"', '{"log":' + "[" * 5000])
def test_broken_container_json_stays(line: str) -> None:
    """What is no container record is left as it is."""
    assert split(line).body == line


def test_glued_prefixes() -> None:
    """A second speaker in mid-line is found, the line's own prefix is not."""
    text = "[rank0]: words[rank1]: more[default2]:third"
    assert [text[at : at + 7] for at in find_glued(text)] == ["[rank1]", "[defaul"]
    assert find_glued("[rank0]: words") == []


PIECES = st.sampled_from(
    [
        "[rank3]: ",
        "[default1]:",
        "12: ",
        "2026-11-29T21:29:38Z ",
        "(a pid=3) ",
        "Nov 29 22:00:00 h kernel: ",
        "E1129 22:00:00.1 ",
        '{"log":"',
        "[1,2]<stdout>:",
        "worker-1: ",
        "words ",
        "[Rank 2] ",
        "²",
        "0",
        " ",
        "[",
        "2026-99-99T99:99:99",
    ]
)


@settings(derandomize=True, max_examples=100)
@given(st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=80))
def test_any_text_can_be_split(text: str) -> None:
    """Whatever a line holds, it splits, and the body is its end."""
    prefix = split(text, near=NEAR)
    assert text.endswith(prefix.body) or text.startswith('{"log"')
    assert split(text, near=NEAR) == prefix
    find_glued(text)


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("2026-03-01 10:00:00 words", 20),
        (" [2026-03-01 10:00:00,123] words", 27),
        ("2026-03-01T10:00:00Z words", 21),
        ("2026-03-01 10:00:00", 0),
        ("words of 2026-03-01 10:00:00 words", 0),
        ("", 0),
    ],
)
def test_words_behind_an_own_stamp(body: str, end: int) -> None:
    """A stamp at a body's very beginning can be passed over."""
    assert own_stamp_end(body) == end
