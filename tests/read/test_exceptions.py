"""Lines that tracebacks are made of."""

from __future__ import annotations

import pytest

from diagnose.read.exceptions import HEAD, exception_of, is_other, printed, reported


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("ValueError: bad", "ValueError", "bad"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "torch.OutOfMemoryError", "CUDA out of memory."),
        ("a.b.ChildFailedError: ", "a.b.ChildFailedError", ""),
        ("a.b.ChildFailedError:", "a.b.ChildFailedError", ""),
        ("AssertionError", "AssertionError", ""),
        ("SystemExit: 2", "SystemExit", "2"),
        ("KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("socket.timeout: timed out", "socket.timeout", "timed out"),
        ("struct.error: unpack", "struct.error", "unpack"),
        ("queue.Empty", "queue.Empty", ""),
        ("main.<locals>.OddError: x", "main.<locals>.OddError", "x"),
        ("ray.exceptions.RayTaskError(ValueError): ray::f()", "ray.exceptions.RayTaskError(ValueError)", "ray::f()"),
    ],
)
def test_types_and_messages(line: str, kind: str, message: str) -> None:
    """Dotted, bare and odd types are read."""
    assert exception_of(line) == (kind, message)
    assert exception_of(line, sure=True) == (kind, message)


def test_a_type_called_error_needs_its_module() -> None:
    """`lmdb.Error` is a type; the level `Error:` is none."""
    assert exception_of("lmdb.Error: /data: No such file") == ("lmdb.Error", "/data: No such file")
    assert exception_of("lmdb.Error: /data: No such file", sure=True) is None
    assert exception_of("Error: x") is None


@pytest.mark.parametrize(
    "line", ["WARNING: x", "Epoch: 3", "words: x", "loss", "Done", "", "3 Errors", "Errors were seen", "Note: x"]
)
def test_other_lines_are_no_exceptions(line: str) -> None:
    """Levels, counters and plain words are no types."""
    assert exception_of(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "=" * 60,
        "E1129 22:24:30.319 1 a.py:1] x",
        "[2026-11-29 10:00:00] x",
        "INFO: x",
        "iteration   3/ 10 |",
        " 10%|# | 1/10".strip(),
        "srun: error: x",
        "Exception ignored in: x",
        "node-1:12:13 [0] NCCL WARN x",
        "terminate called after throwing",
    ],
)
def test_lines_that_end_a_message(line: str) -> None:
    """Stamps, levels, progress and launchers begin something else."""
    assert is_other(line)


@pytest.mark.parametrize(
    "line", ["size mismatch for x", "For debugging consider", "frame #0: c10", "tensor([1, 2])", "Make sure"]
)
def test_lines_that_go_on(line: str) -> None:
    """Ordinary words go on."""
    assert not is_other(line)


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "ERROR:root:Traceback (most recent call last):",
        "  traceback : Traceback (most recent call last):",
        "Traceback (most recent call last): (RANK 12)",
        "╭─── Traceback (most recent call last) ────╮",
        "ImportError                 Traceback (most recent call last)",
        "ImportError Traceback (most recent call last)",
    ],
)
def test_heads(line: str) -> None:
    """Heads stand alone, behind a logger's prefix, in a table or box, or behind the type, as notebooks write them."""
    assert HEAD.match(line)


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("RuntimeError('CUDA error: bad')", "RuntimeError", "CUDA error: bad"),
        ("RuntimeError('CUDA error: bad\\nmore',)", "RuntimeError", "CUDA error: bad\nmore"),
        ('torch.OutOfMemoryError("it\'s full")', "torch.OutOfMemoryError", "it's full"),
        ("OSError(28, 'No space left on device')", "OSError", "[Errno 28] No space left on device"),
    ],
)
def test_what_repr_writes(line: str, kind: str, message: str) -> None:
    """An exception in `repr`'s form is read as that exception."""
    assert printed(line) == (kind, message)
    assert reported(f"Training failed with exception: {line}") == (kind, message)


@pytest.mark.parametrize(
    "line",
    [
        "print('error')",
        "RuntimeError('x') if a else b",
        'raise ValueError("bad")',
        "WARNING request failed, will retry: ConnectionError('reset')",
        "skipping sample after an error: OSError('image file is truncated')",
        "loss function error_fn(Name('x'))",
    ],
)
def test_other_calls_are_no_exceptions(line: str) -> None:
    """Code, and lines that say that it was got over, report no failure."""
    assert reported(line) is None
