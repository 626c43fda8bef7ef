"""Printed Python exceptions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.model import Source, Traceback
from diagnose.read.traceback import read_tracebacks
from tests.read.reading import lines_of, text_of, tracebacks_of

DATA = Path(__file__).parents[1] / "data" / "read"

PLAIN = """Traceback (most recent call last):
  File "/workspace/train.py", line 12, in <module>
    main()
  File "/workspace/train.py", line 6, in main
    scale = 1.0 / tokens
            ~~~~^~~~~~~~
ZeroDivisionError: float division by zero
"""


def labelled(log: str, label: str) -> list[str]:
    """Put a label before each line."""
    return [label + line + "\n" for line in log.splitlines()]


def of_file(name: str) -> list[Traceback]:
    """Read the tracebacks of a log that real software printed."""
    return tracebacks_of((DATA / name).read_text())


def test_plain_traceback() -> None:
    """Head, frames with their code, type, message and line numbers are read."""
    (found,) = tracebacks_of("before\n" + PLAIN + "2026-11-29 21:32:06,267 - INFO - after\n")
    assert (found.type, found.message) == ("ZeroDivisionError", "float division by zero")
    assert [(f.file, f.line, f.function, f.code) for f in found.frames] == [
        ("/workspace/train.py", 12, "<module>", "main()"),
        ("/workspace/train.py", 6, "main", "scale = 1.0 / tokens"),
    ]
    assert (found.lines, found.message_lines) == ((2, 8), (8, 8))
    assert found.final.text == "ZeroDivisionError: float division by zero"
    assert found.complete
    assert not (found.ignored)
    assert not (found.logged)
    assert not (found.chain)


@pytest.mark.parametrize(
    "labels", [("[rank0]: ", "[rank1]: "), ("0: [rank0]: ", "1: [rank1]: "), ("[default0]:", "[default1]:")]
)
def test_interleaved_ranks_come_apart(labels: tuple[str, str]) -> None:
    """Two ranks that write line by line in turns give two whole tracebacks."""
    one = labelled(PLAIN, labels[0])
    two = labelled(PLAIN.replace("ZeroDivisionError: float division by zero", "KeyError: 'x'"), labels[1])
    first, second = tracebacks_of("".join(a + b for a, b in zip(one, two, strict=True)))
    assert (first.type, second.type) == ("ZeroDivisionError", "KeyError")
    assert len(first.frames) == len(second.frames) == 2
    assert first.complete
    assert second.complete
    assert first.lane != second.lane


def test_interleaved_without_labels_is_marked_as_cut() -> None:
    """Two ranks without labels cannot be told apart; both exceptions are found and marked incomplete."""
    one = PLAIN.splitlines(keepends=True)
    two = PLAIN.replace("ZeroDivisionError: float division by zero", "KeyError: 'x'").splitlines(keepends=True)
    found = tracebacks_of("".join(a + b for a, b in zip(one, two, strict=True)))
    assert sorted(item.type for item in found) == ["KeyError", "ZeroDivisionError"]
    assert not any(item.complete for item in found)


def test_chain_of_exceptions_some_without_heads() -> None:
    """Exceptions that were never raised print no head; they are read all the same and point to what they caused."""
    found = of_file("gated-repository.log")
    rank1 = [item for item in found if item.rank == 1]
    assert [item.type.rpartition(".")[2] for item in rank1] == [
        "HTTPStatusError",
        "GatedRepoError",
        "OSError",
        "HTTPStatusError",
        "GatedRepoError",
        "OSError",
    ]
    assert [item.caused for item in rank1] == [1, 2, 3, 4, 5, None]
    assert [item.chain for item in rank1] == ["", "cause", "cause", "context", "cause", "cause"]
    assert rank1[-1].message.endswith("Please log in.")
    assert rank1[-1].message_lines == (75, 80)
    assert found[-1].type.endswith("ChildFailedError")
    assert found[-1].message == ""


def test_message_of_several_lines() -> None:
    """Indented lines behind the type belong to the message."""
    first, second, launcher = of_file("size-mismatch.log")
    assert first.message.count("size mismatch for") == 2
    assert first.message_lines == (12, 14)
    assert second.message_lines == (20, 22)
    assert launcher.message_lines == (40, 40)


def test_exceptions_of_other_ranks_inside_one() -> None:
    """A sharded checkpoint's exception quotes one of every rank: each is its cause and belongs to its rank."""
    found = of_file("sharded-checkpoint.log")
    outer, *inner = found[:5]
    assert outer.type.endswith("CheckpointException")
    assert [item.rank for item in inner] == [0, 1, 2, 3]
    assert all(item.caused == 0 and item.chain == "cause" and item.type == "ValueError" for item in inner)


def test_torchruns_table_names_the_rank() -> None:
    """A traceback inside torchrun's summary takes rank and host from the rows above it."""
    found = of_file("torchrun-table.log")
    assert [(item.rank, item.local_rank, item.node) for item in found[1:]] == [
        (0, 0, "node-0"),
        (2, 2, "node-0"),
        (3, 3, "node-0"),
    ]
    assert found[3].type == "AssertionError"
    assert found[3].message.startswith("document 62")
    assert not found[0].logged


def test_traceback_inside_json() -> None:
    """torchrun's error.json holds a traceback with escaped newlines."""
    (found,) = of_file("error.json")
    assert found.type == "AssertionError"
    assert found.frames[-1].function == "decode"
    assert found.lines == (1, 1)


def test_data_loader_worker() -> None:
    """The exception of a data-loader worker is the cause of the one that reports it."""
    log = """Traceback (most recent call last):
  File "t.py", line 9, in <module>
    for batch in loader:
RuntimeError: Caught ValueError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "w.py", line 3, in _worker_loop
    data = fetch(1)
ValueError: token id 50304 out of range

"""
    outer, inner = tracebacks_of(log)
    assert outer.message == "Caught ValueError in DataLoader worker process 0."
    assert (inner.type, inner.caused, inner.chain) == ("ValueError", 0, "cause")


def test_ray_task_error() -> None:
    """Ray prints the remote exception as a message: its frames and type are read as the cause."""
    log = """Traceback (most recent call last):
  File "m.py", line 2, in run
ray.exceptions.RayTaskError(ValueError): ray::train() (pid=1, ip=10.0.0.1)
  File "x.py", line 3, in train
    raise ValueError("boom")
ValueError: boom
"""
    outer, inner = tracebacks_of("".join(labelled(log, "(Train pid=12, ip=10.0.0.1) ")))
    assert outer.type == "ray.exceptions.RayTaskError(ValueError)"
    assert (inner.type, inner.message, inner.caused, inner.frames[0].function) == ("ValueError", "boom", 0, "train")


def test_exception_group() -> None:
    """The members of an exception group are causes of the group."""
    log = """  + Exception Group Traceback (most recent call last):
  |   File "g.py", line 5, in <module>
  |     raise group
  | ExceptionGroup: many (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "g.py", line 1, in a
    |     raise ValueError("one")
    | ValueError: one
    +---------------- 2 ----------------
    | TypeError: two
    +------------------------------------
"""
    group, one = tracebacks_of(log)
    assert (group.type, group.frames[0].code) == ("ExceptionGroup", "raise group")
    assert (one.type, one.message, one.caused) == ("ValueError", "one", 0)


def test_ignored_and_logged() -> None:
    """What an interpreter ignored and what a logger printed is marked as such."""
    ignored, logged = tracebacks_of(
        "Exception ignored in: <function R.__del__ at 0x7f>\n" + PLAIN + "\n\n\nERROR:root:could not load\n" + PLAIN
    )
    assert (ignored.ignored, ignored.logged) == (True, False)
    assert (logged.ignored, logged.logged) == (False, True)


def test_error_of_a_logging_handler() -> None:
    """What a handler of logging raises is printed and gone on from."""
    (found,) = tracebacks_of("--- Logging error ---\n" + PLAIN)
    assert found.ignored


def test_logger_prefix_on_every_line() -> None:
    """A logger that stamps every line of a traceback does not hide it."""
    lines = [
        f"E1129 22:24:30.3190{n:02d} 7669 torch/x.py:{n}] [0/0] {line}\n" for n, line in enumerate(PLAIN.splitlines())
    ]
    (found,) = tracebacks_of("".join(lines))
    assert (found.type, len(found.frames), found.logged) == ("ZeroDivisionError", 2, True)


def test_rich_traceback() -> None:
    """A boxed traceback gives its frames and type."""
    log = """╭─────────────── Traceback (most recent call last) ───────────────╮
│ /code/t.py:10 in main                                           │
│                                                                 │
│    9 def main():                                                │
│ ❱ 10     boom()                                                 │
╰─────────────────────────────────────────────────────────────────╯
RuntimeError: rich one
"""
    (found,) = tracebacks_of(log)
    assert (found.type, found.frames[0].function, found.frames[0].code) == ("RuntimeError", "main", "boom()")


def test_wrapped_file_line() -> None:
    """A terminal's hard wrap inside a path is undone."""
    log = """Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/elastic/multip
rocessing/errors/__init__.py", line 367, in wrapper
    return f(*args, **kwargs)
KeyboardInterrupt
"""
    (found,) = tracebacks_of(log)
    assert found.frames[0].file.endswith("multiprocessing/errors/__init__.py")
    assert (found.type, found.message) == ("KeyboardInterrupt", "")


def test_syntax_error_and_recursion() -> None:
    """A frame without a function and a repeated frame are no trouble."""
    log = """Traceback (most recent call last):
  File "a.py", line 1, in f
    f()
  [Previous line repeated 996 more times]
  File "s.py", line 3
    foo(
       ^
SyntaxError: '(' was never closed
"""
    (found,) = tracebacks_of(log)
    assert found.type == "SyntaxError"
    assert [(f.function, f.code) for f in found.frames] == [("f", "f()"), ("", "foo(")]


def test_message_goes_on_behind_a_blank_line_where_it_says_so() -> None:
    """CUDA's hints behind a blank line belong to the message; ordinary talk behind one does not."""
    log = """Traceback (most recent call last):
  File "/x/y.py", line 12, in go
    torch.cuda.synchronize()
RuntimeError: CUDA error: device-side assert triggered
For debugging consider passing CUDA_LAUNCH_BLOCKING=1

Exception raised from c10_cuda_check_implementation at CUDAException.cpp:43
frame #0: c10::Error::Error

saving what is left
"""
    (found,) = tracebacks_of(log)
    assert found.message.endswith("frame #0: c10::Error::Error")
    assert found.message_lines == (4, 8)


@pytest.mark.parametrize("keep", [2, 3, 6])
def test_cut_log(keep: int) -> None:
    """A log that ends inside a traceback gives what it holds."""
    (found,) = tracebacks_of("".join(PLAIN.splitlines(keepends=True)[:keep]))
    assert not found.complete
    assert found.type == ""
    assert found.message_lines == (0, 0)


def test_other_text_between_frames() -> None:
    """A progress line inside an unlabelled traceback is passed over."""
    lines = PLAIN.splitlines(keepends=True)
    lines.insert(3, " [2026-07-10 05:46:31.627699] iteration        3/      10 | lm loss: 1.0\n")
    (found,) = tracebacks_of("".join(lines))
    assert (found.type, len(found.frames), found.complete) == ("ZeroDivisionError", 2, True)
    assert found.frames[0].code == "main()"


def test_head_in_quoted_code_is_no_traceback() -> None:
    """Words inside a program's text do not begin a traceback."""
    assert tracebacks_of('print("Traceback (most recent call last):", flush=True)\nValueError: x\n') == []


def test_many_frames_keep_both_ends() -> None:
    """Of a deep stack the outermost and the innermost frames are kept."""
    frames = "".join(f'  File "f.py", line {n}, in f{n}\n    f{n}()\n' for n in range(300))
    (found,) = tracebacks_of("Traceback (most recent call last):\n" + frames + "RecursionError: too deep\n")
    assert len(found.frames) == 60
    assert (found.frames[0].function, found.frames[-1].function) == ("f0", "f299")


def test_only_wanted_heads_are_read() -> None:
    """A head that the caller left out is not read."""
    text = text_of((PLAIN + "\n" * 5 + PLAIN).encode(), Source("x.log"))
    heads = [line for line in lines_of(text) if line.body.startswith("Traceback")]
    assert len(read_tracebacks(text, heads)) == 2
    (found,) = read_tracebacks(text, heads[1:])
    assert found.lines[0] == heads[1].number


SOUP = st.lists(
    st.sampled_from(
        [
            *PLAIN.splitlines(),
            "",
            "[rank1]: Traceback (most recent call last):",
            "Original Traceback (most recent call last):",
            '  File "a',
            '[rank1]:   File "x.py", line 1, in f',
            "[rank1]: ValueError: x",
            "  + Exception Group Traceback (most recent call last):",
            "  | ValueError: x",
            "  +-+---------------- 1 ----------------",
            "The above exception was the direct cause of the following exception:",
            "ray.exceptions.RayTaskError(E): ray::f() (pid=1)",
            '"Traceback (most recent call last):\\n  File \\"a\\"',
            "====================",
            "words",
            "Traceback (most recent call last): (RANK 3)",
            "During handling of the above exception, another exception occurred:",
        ]
    ),
    max_size=40,
)


@settings(derandomize=True, max_examples=100)
@given(SOUP)
def test_any_order_of_lines_can_be_read(lines: list[str]) -> None:
    """Whatever is printed in whatever order, ranges are ordered and references point at tracebacks."""
    log = "\n".join(lines)
    found = tracebacks_of(log)
    for item in found:
        assert 1 <= item.lines[0] <= item.lines[1] <= log.count("\n") + 1
        assert item.message_lines == (0, 0) or item.message_lines[0] <= item.message_lines[1] <= item.lines[1]
        assert item.caused is None or 0 <= item.caused < len(found)
    assert [item.start for item in found] == sorted(item.start for item in found)


@settings(derandomize=True, max_examples=50)
@given(st.binary(max_size=300))
def test_any_bytes_behind_a_head(data: bytes) -> None:
    """No bytes break the reader."""
    text = text_of(b"Traceback (most recent call last):\n" + data)
    read_tracebacks(text, [text.line_at(0)])


def test_an_exception_whose_text_is_another() -> None:
    """`Exception: RuntimeError('…')` is the inner exception, on the line of the outer one."""
    log = "Traceback (most recent call last):\n  File \"/a.py\", line 1, in f\n    g()\nException: KeyError('labels')\n"
    (found,) = tracebacks_of(log)
    assert (found.type, found.message, found.final.line) == ("KeyError", "labels", 4)


def test_rest_of_a_wrapped_frame_without_its_label() -> None:
    """A terminal broke a labelled frame, and its rest lost the label: the exception is found all the same."""
    log = (
        "[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "/w/pretrain.py", line 312, in <module>\n'
        "[rank0]:     pretrain(\n"
        '[rank0]:   File "/w/core/schedule\n'
        's.py", line 632, in forward_backward\n'
        "[rank0]:     output = forward_step(\n"
        "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 Mi\n"
        "B. GPU 0 has a total capacity of 79.11 GiB\n"
    )
    (unit,) = tracebacks_of(log)
    assert unit.type == "torch.OutOfMemoryError"
    assert unit.frames[0].function == "<module>"


def test_frames_wrapped_at_blanks() -> None:
    """Frames that a pretty printer wrapped at their blanks are put together again."""
    log = (
        'Traceback (most recent call last):\n  File \n"/opt/venv/lib/python3.13/site-packages/acme/frob.py", \n'
        'line 553, in _tune\n    self._events()\n  File "/opt/acme/net.py", line \n341, in events\n'
        "    assert self.tuned\nAssertionError: \nW1106 16:59:04.855000 652226 torch/run.py:908] Sending\n"
    )
    (found,) = tracebacks_of(log)
    assert found.type == "AssertionError"
    assert [(each.function, each.line) for each in found.frames] == [("_tune", 553), ("events", 341)]


def test_a_last_line_that_was_shifted() -> None:
    """A reporter who marked the code and the exception may have moved both to the right."""
    log = "Traceback (most recent call last):\n"
    log += "  File \"/a/net.py\", line 20, in <module>\n      **from b import c\n      KeyError: 'd'**\n"
    (unit,) = tracebacks_of(log)
    assert (unit.type, unit.message) == ("KeyError", "'d'**")
