"""When a job counts as ended."""

from __future__ import annotations

import subprocess
import sys

from diagnose.follow.ending import Ending, Process, Rules


def _over(rules: Rules, seen: list[tuple[float, bool, bool]], until: float) -> float | None:
    """When it is over, where at each moment something was written or not, and a sign was there or not."""
    ending, left, sign = Ending(rules, 0.0), list(seen), False
    now = 0.0
    while now <= until:
        grew = False
        while left and left[0][0] <= now:
            _, wrote, sign = left.pop(0)
            grew = grew or wrote
        ending.note(now, grew=grew, sign=sign)
        if ending.is_over(now):
            return now
        now += 0.5
    return None


def test_least_wait() -> None:
    """After the first sign of the end ten seconds are waited for, however quiet it is."""
    assert _over(Rules(), [(2, True, True)], 100) == 12


def test_quiet_wait() -> None:
    """Words put it off until five seconds without any."""
    seen = [(2.0, True, True), *((float(at), True, True) for at in range(3, 20))]
    assert _over(Rules(), seen, 100) == 24


def test_longest_wait() -> None:
    """Who goes on talking is not waited for longer than forty seconds."""
    seen = [(at / 2, True, True) for at in range(4, 400)]
    assert _over(Rules(), seen, 100) == 42


def test_sign_taken_back() -> None:
    """A failure that progress follows is no end."""
    assert _over(Rules(), [(2, True, True), (8, True, False)], 200) is None


def test_silence_alone() -> None:
    """Silence is an end only where somebody says after how long."""
    assert _over(Rules(), [(2, True, False)], 500) is None
    assert _over(Rules(idle=60), [(2, True, False)], 500) == 62


def test_process() -> None:
    """A process is gone when it has ended, and not before."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = Process(child.pid)
    assert not process.is_gone()
    assert child.stdin is not None
    child.stdin.close()
    child.wait()
    assert process.is_gone()
