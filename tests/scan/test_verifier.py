"""Asking anchors about lines."""

from __future__ import annotations

from diagnose.scan.verifier import Verifier


def test_lines_that_are_alike_are_asked_about_once() -> None:
    """The answer for one line of one anchor is remembered; another anchor and a very long line are asked again."""
    asked: list[str] = []

    def verify(text: str) -> bool:
        asked.append(text)
        return "yes" in text

    verifier = Verifier()
    assert verifier.ask("a", verify, b"\x1b[1myes\x1b[0m")
    assert verifier.ask("a", verify, b"\x1b[1myes\x1b[0m")
    assert verifier.ask("b", verify, b"\x1b[1myes\x1b[0m")
    assert not verifier.ask("a", verify, b"no")
    assert asked == ["yes", "yes", "no"]
    for _ in range(2):
        verifier.ask("a", verify, b"z" * 5000)
    assert len(asked) == 5


def test_the_memory_is_bounded() -> None:
    """Many different lines are forgotten again."""
    verifier = Verifier()
    for number in range(10_000):
        verifier.ask("a", lambda text: True, b"%d" % number)
    assert len(verifier._answers) <= 4096
