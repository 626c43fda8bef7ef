"""Reads chunks of iteration lines with one expression a line, learnt from the first line: faster than field by field.

Only lines whose fields stand between bars are read so: Megatron-LM, Megatron Bridge, NeMo 2.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from diagnose.classes import dataclass
from diagnose.expressions import EXPRESSIONS
from diagnose.facts.series_forms import SELDOM, Columns, Form, floats, number_of

_FEWEST = 3  # lines of a chunk that are worth learning from
_LONGEST = 4096  # bytes of a line that is learnt from
_SEGMENTS = 40  # fields of a line
_GAP = rb"[^|]{0,300}+\|"  # possessive: what is taken is never given back, a fifth faster
_VALUE, _LAST_VALUE = rb"([^|]{1,40}+)\|", rb"([^|\n]{1,40}+)"


@dataclass(frozen=True, slots=True)
class _Row:
    text: bytes  # the expression; its groups are the iteration number and the metrics
    metrics: tuple[tuple[str, float], ...]  # names, and factors to the metric's unit


class Rows:
    """Reads the chunks of one source; remembers how the lines are laid out."""

    def __init__(self) -> None:
        self._row: _Row | None = None
        self._expression: re.Pattern[bytes] | None = None

    def read(self, form: Form, data: bytes) -> Columns | None:
        """Read all lines of one format in a chunk of whole lines; None where they are not all laid out alike."""
        count = data.count(form.guard)
        if form.number is None or count < _FEWEST:
            return None
        found = self._expression.findall(data) if self._expression is not None else []
        if len(found) != count:
            row = _learnt(form, data)
            if row is None or row == self._row:
                return None
            # The first layout is worth keeping for the next start; a log may have any number of others.
            make = EXPRESSIONS.standard if self._row is None else re.compile
            self._row, self._expression = row, make(row.text)
            found = self._expression.findall(data)
        if len(found) != count or self._row is None:
            return None
        numbers, *columns = zip(*found, strict=True)
        named = zip(self._row.metrics, columns, strict=True)
        return Columns(_numbers(numbers), {name: _column(name, texts, factor) for (name, factor), texts in named})


def _column(metric: str, texts: Sequence[bytes], factor: float) -> array[float]:
    if metric in SELDOM and len(set(texts)) == 1:
        return array("d", [number_of(texts[0]) * factor]) * len(texts)
    return floats(texts, factor)


def _numbers(texts: Sequence[bytes]) -> Sequence[int]:
    """Return the iteration numbers: reckoned where they are evenly spaced."""
    low, step = int(texts[0]), int(texts[1]) - int(texts[0])
    if step > 0 and int(texts[-1]) == low + step * (len(texts) - 1):
        return range(low, low + step * len(texts), step)
    return list(map(int, texts))


def _learnt(form: Form, data: bytes) -> _Row | None:
    """Make the expression of the first line of a chunk; None where its fields do not stand between bars."""
    at = data.find(form.guard)
    start = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at)
    line = data[start : min(end if end >= 0 else len(data), start + _LONGEST)]
    head = EXPRESSIONS.standard(form.number).search(line) if form.number else None
    segments = line[head.end() :].split(b"|") if head else []
    if form.number is None or not 2 <= len(segments) <= _SEGMENTS:
        return None
    parts, gap = [form.number], b""
    metrics: dict[str, float] = {}
    for number, segment in enumerate(segments, 1):
        field = _field(form, segment, metrics)
        if field is None:
            gap += _GAP
            continue
        metric, place, factor = field
        if not _is_number(segment[place:]):
            return None  # a value with words beside it is read by the field's own expression
        parts += [gap, re.escape(segment[:place]), _VALUE if number < len(segments) else _LAST_VALUE]
        metrics[metric], gap = factor, b""
    return _Row(b"".join(parts), tuple(metrics.items())) if form.fields[0][0] in metrics else None


def _field(form: Form, segment: bytes, taken: dict[str, float]) -> tuple[str, int, float] | None:
    """Tell which metric a field is, where its value begins, and the factor to the metric's unit."""
    for metric, expression, factor in form.fields:
        name = _name(expression)
        if metric not in taken and name in segment:
            place = segment.index(name) + len(name)
            return metric, place, factor
    return None


def _name(expression: bytes) -> bytes:
    """Return the words that a field's expression begins with: to compile it for them would take a millisecond."""
    return expression.partition(b" *(")[0].replace(b"\\", b"")


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
