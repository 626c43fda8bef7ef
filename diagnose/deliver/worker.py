"""Makes a diagnosis in a process of its own, so that nothing it meets can hurt or hold up whoever asked for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict

from diagnose.deliver.task import Announced, Task
from diagnose.typed import Any

# Isolated, so that a file of the training job that is called like a module of Python's is never imported.
# The alarm ends it where whoever asked was killed and can end it no more.
_BOOT = (
    "import json,signal,sys; signal.alarm(int(sys.argv[2])); sys.path[:]=json.loads(sys.argv[1]);"
    " from diagnose.deliver.worker import main; main()"
)
_SLACK = 10  # seconds that the alarm comes after the time box
_LARGEST = 16 * 1024 * 1024  # bytes of an answer


def run_boxed(task: Task, seconds: float) -> Announced:
    """Make and announce a diagnosis in a new process that is killed after `seconds`; never raises for what goes wrong.

    KeyboardInterrupt and what signal handlers raise end the process, too, and are passed on.
    """
    folders = [path for path in sys.path if os.path.isabs(path)]
    command = [sys.executable, "-I", "-c", _BOOT, json.dumps(folders), str(int(seconds) + _SLACK)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_folder(),
            start_new_session=True,  # a signal to the job's group must not end it, and all of it can be killed
        )
    except OSError as error:
        return Announced(problems=(f"the diagnosis could not be started: {error.strerror}",))
    try:
        out, error_text = process.communicate(task.to_json().encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        _kill(process)
        return Announced(problems=(f"the diagnosis took longer than {seconds:.0f} s and was stopped",))
    except BaseException:
        _kill(process)
        raise
    return _answer(process.returncode, out[:_LARGEST], error_text)


def _folder() -> str | None:
    """Where the process works: here, or in the root where this folder has been removed."""
    try:
        os.getcwd()
    except OSError:
        return "/"
    return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                continue
    process.wait()


def _answer(code: int, out: bytes, error_text: bytes) -> Announced:
    try:
        data: dict[str, Any] = json.loads(out.splitlines()[-1])
        return Announced(**{**data, "problems": tuple(data["problems"])})
    except (ValueError, IndexError, KeyError, TypeError):
        words = error_text.decode("utf-8", "replace").strip().splitlines()
        return Announced(
            problems=(f"the diagnosis failed with exit code {code}: {words[-1] if words else 'no words'}",)
        )


def main() -> None:
    """Read a task from standard input, do it, and write what came of it to standard output."""
    from diagnose.deliver.announce import announce

    task = Task.from_json(sys.stdin.buffer.read().decode())
    sys.stdout.write(json.dumps(asdict(announce(task))) + "\n")
    sys.stdout.flush()
