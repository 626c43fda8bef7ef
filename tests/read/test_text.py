"""Looking at single lines."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.clean import clean
from diagnose.read.model import Clock, Source
from tests.read.reading import lines_of, text_of

PARTS = st.sampled_from([b"\n", b"\r\n", b"\r", b"words", b"[rank1]: ", b"\x1b[1m", b"\xff", b"\0", b"12: "])


@settings(derandomize=True, max_examples=100)
@given(st.lists(PARTS, max_size=50), st.integers(1, 40))
def test_lines_equal_a_naive_split(parts: list[bytes], size: int) -> None:
    """Forward, backward and by offset, lines and numbers are those of a plain split at newlines."""
    data = b"".join(parts)
    text = text_of(data, chunk=size)
    expected, here = [], 0
    for number, raw in enumerate(data.split(b"\n"), 1):
        expected.append((number, here, here + len(raw)))
        here += len(raw) + 1
    if data.endswith(b"\n"):
        expected.pop()
    if not data:
        return
    lines = lines_of(text)
    assert [(line.number, line.start, line.end) for line in lines] == expected
    assert [line.number for line in text.before(lines[-1], 1000)] == [
        number for number, _, _ in reversed(expected[:-1])
    ]
    assert [line.number for line in text.last(3)] == [number for number, _, _ in expected[-3:]]
    for offset in range(len(data)):
        line = text.line_at(offset)
        assert line.number == data.count(b"\n", 0, offset) + 1
        assert line.start <= offset <= line.end
    assert not any("\r" in line.text or "\n" in line.text for line in lines)


def test_carriage_returns_cut_a_line_into_pieces() -> None:
    """The last piece that is not empty is shown, or the one that is asked for; the line's label counts for all."""
    data = b"[default3]:start\r 10%|#  |\r 20%|## | done\r\nnext\r\n"
    text = text_of(data)
    line = text.line_at(0)
    assert (line.text, line.body, line.local_rank, line.lane) == (" 20%|## | done", " 20%|## | done", 3, "[default3]:")
    assert text.line_at(0, at=data.index(b"10%")).body == " 10%|#  |"
    assert text.line_at(0, at=12).body == "start"
    assert next(text.after(line, 1)).body == "next"


def test_long_line_is_shown_in_a_window() -> None:
    """Of a very long line 8192 bytes are shown, round the place that matters, with the line's own label."""
    data = b"one\n[rank4]: " + b"x" * 3_000_000 + b"NEEDLE" + b"y" * 3_000_000 + b"\ntwo\n"
    text = text_of(data)
    needle = data.index(b"NEEDLE")
    line = text.line_at(needle, at=needle)
    assert "NEEDLE" in line.text
    assert len(line.text) <= 8192
    assert line.number == 2
    near = text.line_at(20)
    assert (near.rank, near.lane, near.start, near.number) == (4, "[rank4]:", 4, 2)
    assert text.line_at(len(data) - 3).number == 3


def test_last_of_many_progress_bars_is_shown() -> None:
    """A line of progress bars that is longer than what is shown gives the last bar, with the line's label."""
    data = b"[default2]:" + b"".join(b"\rstep %d of 2000 of the bar" % step for step in range(2000)) + b"\nnext\n"
    line = text_of(data).line_at(0)
    assert (line.body, line.local_rank) == ("step 1999 of 2000 of the bar", 2)


def test_source_fills_in_what_a_line_lacks() -> None:
    """Rank, node and stream of the file count where the line names none."""
    source = Source("x.log", rank=5, node="node-1", stream="stderr", local_rank=1)
    first, second = lines_of(text_of(b"words\n[rank7]: words\n", source))
    assert (first.rank, first.node, first.stream, first.local_rank) == (5, "node-1", "stderr", 1)
    assert second.rank == 7


def test_srun_labels_that_count_nodes_are_no_ranks() -> None:
    """Where `srun -l` labels and ranks differ, the label alone names no rank."""
    by_rank = lines_of(text_of(b"0: hello\n1: [rank1]: boo\n"))
    assert by_rank[0].rank == 0
    by_node = lines_of(text_of(b"0: hello\n1: [rank9]: boo\n"))
    assert (by_node[0].rank, by_node[1].rank) == (None, 9)


def test_evidence_quotes_the_line() -> None:
    """Evidence carries path, number, the original words, speaker and time."""
    text = text_of(b"one\n2026-11-29T21:29:38.5Z [rank1]: \x1b[31mboo\x1b[0m\n", Source("x.log"))
    line = text.line_at(10)
    evidence = text.evidence(line)
    assert (evidence.path, evidence.line, evidence.rank) == ("x.log", 2, 1)
    assert evidence.text == "2026-11-29T21:29:38.5Z [rank1]: boo"
    assert evidence.time == "2026-11-29T21:29:38.5Z"
    assert line.clock is Clock.UTC


def test_number_may_be_given() -> None:
    """A caller that knows a line's number saves the counting, and neighbours follow from it."""
    text = text_of(b"a\nb\nc\n")
    assert text.line_at(2, number=2).number == 2
    assert text.line_at(4).number == 3


def test_monster_line_ends_the_walk() -> None:
    """What follows a line of many megabytes is not its own next piece under another number."""
    text = text_of(b"one\n" + b"x" * 3_000_000 + b"\ntwo\n")
    assert [line.number for line in text.after(text.line_at(0), 10)] == [2]


def test_whole_gives_more_than_is_shown() -> None:
    """A line that carries a document can be had beyond 8192 bytes."""
    data = b"{" + b"z" * 20_000 + b"}\n"
    text = text_of(data)
    line = text.line_at(0)
    assert len(line.text) == 8192
    assert text.whole(line) == clean(data.rstrip(b"\n"))


def test_forgotten_middle_of_a_large_stream_ends_the_walk() -> None:
    """Where a stream kept nothing, walking stops and numbers stay right before and behind."""
    row = b"y" * 1023 + b"\n"
    text = text_of(row * (70 * 1024))
    first = text.line_at(0)
    assert len(list(text.after(first, 3000))) == 1023
    assert text.last(2)[-1].number == 70 * 1024
    assert text.line_at(30 << 20).text == ""
