"""A page of labelled blocks for a terminal: labels on the left, text wrapped beside them, styles when asked."""

from __future__ import annotations

from diagnose.classes import dataclass, field
from diagnose.report.layout import cells, pad, wrap

LABEL = 9  # columns of the labels on the left


@dataclass(slots=True)
class Page:
    """Collects lines of a report."""

    width: int  # columns, at least 40
    color: bool = False
    lines: list[str] = field(default_factory=list)

    def style(self, text: str, **how: object) -> str:
        """Give `text` in a style of click's, or as it is where no colours are wanted."""
        if not self.color or not text:
            return text
        from click import style

        return style(text, **how)  # type: ignore[arg-type]

    @property
    def room(self) -> int:
        """Columns to the right of the labels."""
        return self.width - LABEL

    def blank(self) -> None:
        """Add an empty line, never two."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def block(self, label: str, lines: list[str]) -> None:
        """Add lines beside a label. The lines must fit `room`."""
        for number, line in enumerate(lines):
            head = self.style(pad(label, LABEL), bold=True) if number == 0 else " " * LABEL
            self.lines.append((head + line).rstrip())

    def text(self, label: str, text: str) -> None:
        """Add wrapped text beside a label."""
        self.block(label, wrap(text, self.room))

    def items(self, label: str, texts: list[str]) -> None:
        """Add several wrapped texts beside one label, each with a hanging indent."""
        lines: list[str] = []
        for text in texts:
            first, *rest = wrap(text, self.room - 2)
            lines += [first, *(f"  {line}" for line in rest)]
        self.block(label, lines)


def beside(left: str, right: str, width: int, left_width: int) -> list[str]:
    """Set two texts side by side, each wrapped in its own column; without a right one the left takes all."""
    if not right:
        return wrap(left, width)
    a, b = wrap(left, left_width), wrap(right, width - left_width - 2)
    a += [""] * (len(b) - len(a))
    b += [""] * (len(a) - len(b))
    return [f"{pad(x, left_width)}  {y}".rstrip() for x, y in zip(a, b, strict=True)]


def widest(texts: list[str], limit: int) -> int:
    """Give the width of the widest text, at most `limit` columns."""
    return min(limit, max(map(cells, texts), default=0))
