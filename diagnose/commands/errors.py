"""Errors that end a command: what is wrong, where, and what to do, in one line."""

from __future__ import annotations


class CommandError(Exception):
    """Ends the command with an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def one_line(message: str) -> str:
    """Give `message` on one line and without anything that a terminal would act on."""
    from diagnose.report.clean import safe

    return " ".join(safe(message).split())


def did_you_mean(word: str, known: list[str]) -> str:
    """Give a hint that names the most similar of the known words, or an empty text."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""
