"""What a real Slurm 22.05 printed and handed to its hooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diagnose.deliver.slurm.query import Answer

DATA = Path(__file__).parents[2] / "data" / "slurm"


def text(name: str) -> str:
    """Return a recorded output."""
    return (DATA / name).read_text(encoding="utf-8")


def environment(name: str) -> dict[str, str]:
    """Return the recorded environment of a hook."""
    pairs = (line.partition("=") for line in text(name).splitlines() if not line.startswith("ARG "))
    return {key: value for key, equals, value in pairs if equals}


def arguments(name: str) -> list[str]:
    """Return the recorded arguments of a hook."""
    return [line[4:] for line in text(name).splitlines() if line.startswith("ARG ")]


class Commands:
    """Stands for Slurm's commands: gives prepared answers and keeps what was asked."""

    def __init__(self, **answers: str | Answer) -> None:
        """Take an answer a command: its output, or an Answer."""
        self.answers = answers
        self.asked: list[list[str]] = []

    def __call__(self, command: Sequence[str]) -> Answer:
        """Answer one command."""
        self.asked.append(list(command))
        answer = self.answers.get(command[0], Answer(1, "", f"{command[0]}: error: not prepared"))
        return Answer(0, answer, "") if isinstance(answer, str) else answer
