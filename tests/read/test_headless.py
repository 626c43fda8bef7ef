"""Exceptions without a traceback's head."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.read.headless import read_headless
from diagnose.read.model import Traceback
from tests.read.reading import lines_of, text_of, tracebacks_of


def headless(log: str) -> list[Traceback]:
    """Read the exceptions of a log that holds no head."""
    return read_headless(text_of(log.encode()))


def test_last_line_alone() -> None:
    """A report that gives only the last line of a traceback is read as that exception."""
    (found,) = headless("epoch 3 starts\nsafetensors_rust.SafetensorError: Error while serializing: full\n")
    assert (found.type, found.message) == ("safetensors_rust.SafetensorError", "Error while serializing: full")
    assert found.final.line == 2


def test_frames_that_are_left() -> None:
    """Frames above the last line are read, though the head was cut off."""
    log = '  File "/opt/model.py", line 12, in forward\n    raise ValueError("no")\nValueError: no\n'
    (found,) = headless(log)
    assert [(frame.function, frame.code) for frame in found.frames] == [("forward", 'raise ValueError("no")')]


def test_shortened_indentation() -> None:
    """Frames whose indentation a page shortened to one blank are read, and the last line with them."""
    log = 'File "/opt/model.py", line 12, in forward\n go()\n File "/opt/net.py", line 3, in go\n run()\n OSError: no\n'
    (found,) = headless(log)
    assert (found.type, [frame.function for frame in found.frames]) == ("OSError", ["forward", "go"])


def test_neither_head_nor_end() -> None:
    """Frames with which a log ends are an exception that is cut off at both ends; a single one says nothing."""
    log = '  File "/opt/model.py", line 12, in forward\n    go()\n  File "/opt/net.py", line 3, in go\n    run()\n'
    (found,) = headless(log)
    assert (found.type, len(found.frames), found.complete) == ("", 2, False)
    assert headless("".join(log.splitlines(keepends=True)[:2])) == []


def test_message_of_several_lines() -> None:
    """Lines below belong to the message, indented or not."""
    log = "RuntimeError: Error(s) in loading state_dict for Net:\nsize mismatch for a.weight: copying a param\n"
    (found,) = headless(log)
    assert found.message_lines == (1, 2)


def test_without_a_blank() -> None:
    """A last line that was typed without the blank behind its colon is read; names of C++ are not taken for it."""
    (found,) = headless("RuntimeError:DataLoader worker (pid 6479) is killed\n")
    assert (found.type, found.message) == ("RuntimeError", "DataLoader worker (pid 6479) is killed")
    assert headless("c10::Error::Error(c10::SourceLocation)\nFrobError::what()\n") == []


def test_exception_behind_anothers_words() -> None:
    """The bare name of one rank's exception that was printed behind another rank's code is read, with that code."""
    (found,) = headless("    assert parameter.status == READY, parameter.name()AssertionError   \n")
    assert (found.type, found.message) == ("AssertionError", "assert parameter.status == READY, parameter.name()")
    assert headless("the page on AssertionError\n") == []


def test_words_that_are_no_exception() -> None:
    """Warnings, bare words and names that may be anything are no exception."""
    log = "UserWarning: slow\nError: none\nFailure: 0\nTimeout: 30 s\nEmpty: yes\nValueError\nloss: 2.1\n"
    assert headless(log) == []


def test_above_the_first_head_only_with_frames() -> None:
    """Above the first head an exception counts only where frames of it are left."""
    frames = '  File "/opt/model.py", line 12, in forward\n    raise KeyError("a")\nKeyError: \'a\'\n'
    head = 'Traceback (most recent call last):\n  File "/opt/torchrun", line 8, in <module>\nOSError: b\n'
    for log, expected in ((frames + head, ["KeyError"]), ("KeyError: 'a'\n" + head, [])):
        text = text_of(log.encode())
        first = next(line for line in lines_of(text) if line.body.startswith("Traceback"))
        assert [found.type for found in read_headless(text, first)] == expected


def test_flat_traceback() -> None:
    """A traceback that lost its indentation gives its frames, their code and its last line."""
    log = (
        'Traceback (most recent call last):\nFile "/opt/run.py", line 8, in\nsys.exit(main())\n'
        'File "/opt/net.py", line 2, in call\nreturn self.go()\n'
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nRuntimeError: no compiler\n"
    )
    (found,) = tracebacks_of(log)
    assert found.type == "torch._dynamo.exc.BackendCompilerFailed"
    assert [frame.code for frame in found.frames] == ["sys.exit(main())", "return self.go()"]


def test_all_but_the_head_indented() -> None:
    """A traceback that a reporter indented below its head ends with its exception, not with a line of code."""
    log = (
        'Traceback (most recent call last):\n    File "./test.py", line 25, in <module>\n      out.backward(grad)\n'
        "    RuntimeError: cuDNN Error: no plan\n"
    )
    (found,) = tracebacks_of(log)
    assert (found.type, found.message) == ("RuntimeError", "cuDNN Error: no plan")


def test_original_traceback_whose_carrier_lost_its_head() -> None:
    """The exception that carries an original traceback is read, and points at what it carries."""
    log = (
        "RuntimeError: Caught RuntimeError in DataLoader worker process 0.\n"
        'Original Traceback (most recent call last):\n  File "/opt/fetch.py", line 52, in fetch\n'
        "    return self.collate_fn(data)\nRuntimeError: stack expects each tensor to be equal size\n"
    )
    carrier, inner = tracebacks_of(log)
    assert carrier.message.startswith("Caught RuntimeError")
    assert (inner.caused, inner.message) == (0, "stack expects each tensor to be equal size")


@settings(max_examples=60, derandomize=True)
@given(
    st.lists(st.sampled_from(['File "a.py", line 1, in f', "  x = 1", "ValueError: a", "", "> b", "[rank1]: c", "│"]))
)
def test_any_lines(lines: list[str]) -> None:
    """Any mixture of such lines is read without an error, and every exception has its type, or is cut."""
    assert all(found.type or not found.complete for found in headless("\n".join(lines) + "\n"))


def test_repr_at_the_end() -> None:
    """A last line that ends with an exception in `repr`'s form is that exception."""
    (found,) = headless('epoch 3 starts\nERROR train failed: ValueError("no such split")\nexiting\n')
    assert (found.type, found.message, found.final.line) == ("ValueError", "no such split", 2)


def test_colours_hide_nothing() -> None:
    """Escape codes in the last lines neither hide an exception nor make one."""
    quiet = "\x1b[32mINFO\x1b[0m saving checkpoint\n" * 300
    assert headless(quiet) == []
    (found,) = headless(quiet + "\x1b[31mRuntimeEr\x1b[0mror: out of luck\n")
    assert (found.type, found.message) == ("RuntimeError", "out of luck")


def test_announced_by_a_debugger() -> None:
    """An editor's debugger names the type first; the text on the next line is the exception's own."""
    log = 'Exception has occurred: acme.GearError\ngear 7 is stuck\n  File "/opt/a.py", line 3, in turn\n    go()\n'
    (found,) = headless(log)
    assert (found.type, found.final.line) == ("acme.GearError", 2)
    assert found.message.startswith("gear 7 is stuck")
    assert headless("Exception has occurred: GearError\n") == []


def test_types_out_of_a_module_of_exceptions() -> None:
    """A type is known by the module that it is from, whatever its name ends in, and may have no message."""
    (found,) = headless("go\nbotocore.errorfactory.ResourceLimitExceeded: too many machines\n")
    assert (found.type, found.message) == ("botocore.errorfactory.ResourceLimitExceeded", "too many machines")
    (bare,) = headless("go\nfsspec.exceptions.FSTimeoutError\n")
    assert bare.type == "fsspec.exceptions.FSTimeoutError"
    assert headless("see torch.distributed.errors.html and import acme.exceptions.Frob as frob\n") == []


def test_as_pytest_and_tensorflow_show_it() -> None:
    """A test's report and TensorFlow's note behind the type are looked through."""
    (found,) = headless("net/a.py:12: in turn\n>       x = gears[1]\nE       KeyError: 1\n")
    assert (found.type, found.message) == ("KeyError", "1")
    (found,) = headless("InvalidArgumentError (see above for traceback): gear 7 is stuck\n")
    assert (found.type, found.message) == ("InvalidArgumentError", "gear 7 is stuck")
