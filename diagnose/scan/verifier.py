"""Asks anchors whether a line counts, and remembers the answer for lines that are alike but for their label."""

from __future__ import annotations

from collections.abc import Callable

from diagnose.read.clean import clean
from diagnose.read.labels import LABEL

_REMEMBERED = 4_096
_LONGEST = 2_048


class Verifier:
    """A bounded memory of answers. Lines of more than 2048 bytes are asked about each time."""

    __slots__ = ("_answers", "_raw", "_text")

    def __init__(self) -> None:
        self._answers: dict[tuple[str, bytes], bool] = {}
        self._raw = b""
        self._text = ""

    def ask(self, key: str, verify: Callable[[str], bool], raw: bytes) -> bool:
        """Does a line count for the anchor `key`?"""
        if len(raw) > _LONGEST:
            return verify(clean(raw))
        label = LABEL.match(raw)
        question = (key, raw[label.end() :] if label else raw)
        answer = self._answers.get(question)
        if answer is None:
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            answer = self._answers[question] = verify(self._cleaned(raw))
        return answer

    def _cleaned(self, raw: bytes) -> str:
        if raw != self._raw:
            self._raw, self._text = raw, clean(raw)
        return self._text
