"""Structured log lines: one JSON object, or logfmt pairs, a line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.read.model import Clock
from diagnose.read.prefix import split
from diagnose.read.structured import is_structured, unwrap
from tests.read.reading import lines_of, text_of, tracebacks_of

THROWN = 'Traceback (most recent call last):\n  File "/a/train.py", line 3, in <module>\n    f()\nValueError: bad'
NOON = 1_772_366_400.0  # 2026-03-01T12:00:00Z


@pytest.mark.parametrize(
    ("entry", "words", "rank", "node", "time"),
    [
        ({"log": "words\n", "stream": "stderr", "time": "2026-03-01T12:00:00.5Z"}, "words", None, None, NOON + 0.5),
        ({"asctime": "2026-03-01 12:00:00,250", "levelname": "INFO", "rank": 3, "message": "words"}, "words", 3, None,
         NOON + 0.25),
        ({"event": "words", "level": "info", "timestamp": "2026-03-01T12:00:00Z", "hostname": "gpu-7"}, "words", None,
         "gpu-7", NOON),
        ({"level": "error", "ts": NOON, "msg": "words", "global_rank": "5"}, "words", 5, None, NOON),
        ({"severity": "ERROR", "jsonPayload": {"message": "words", "rank": 1}, "timestamp": "2026-03-01T12:00:00Z",
          "resource": {"labels": {"pod_name": "train-3"}}}, "words", 1, "train-3", NOON),
        ({"severity": "ERROR", "textPayload": "words", "timestamp": "2026-03-01T12:00:00Z"}, "words", None, None, NOON),
        ({"MESSAGE": "words", "_HOSTNAME": "gpu-4", "PRIORITY": "3",
          "__REALTIME_TIMESTAMP": str(int(NOON) * 1_000_000)}, "words", None, "gpu-4", NOON),
        ({"log": "words", "kubernetes": {"pod_name": "w-1", "host": "n1"}, "stream": "stdout"}, "words", None, "w-1",
         None),
        ({"text": f"12:00 | ERROR - words\n{THROWN}\n",
          "record": {"message": "words", "extra": {"rank": 1}, "level": {"name": "ERROR"}, "time": {"timestamp": NOON},
                     "exception": {"type": "ValueError"}}}, f"words\n{THROWN}", 1, None, NOON),
        ({"event": "words", "level": "error", "exception": THROWN}, f"words\n{THROWN}", None, None, None),
        ({"event": "words", "level": "error", "exception": [
            {"exc_type": "ValueError", "exc_value": "bad",
             "frames": [{"filename": "/a/train.py", "lineno": 3, "name": "<module>", "line": "f()"}]}]},
         f"words\n{THROWN}", None, None, None),
    ],
)  # fmt: skip
def test_json_entries(
    entry: dict[str, Any], words: str, rank: int | None, node: str | None, time: float | None
) -> None:
    """Message, exception, rank, node and time are read under the names that loggers and collectors give them."""
    prefix = split(json.dumps(entry))
    assert prefix.unwrapped
    assert (prefix.body, prefix.rank, prefix.node, prefix.time) == (words, rank, node, time)


def test_logfmt() -> None:
    """Pairs of keys and values are read like JSON."""
    prefix = split('ts=2026-03-01T12:00:00Z level=error rank=3 host=gpu-3 msg="ValueError: \\"x\\" is bad"')
    assert prefix.body == 'ValueError: "x" is bad'
    assert (prefix.rank, prefix.node, prefix.time, prefix.clock) == (3, "gpu-3", NOON, Clock.UTC)


def test_entry_behind_other_prefixes() -> None:
    """A launcher's or collector's label may stand before an entry, and another one inside its message."""
    entry = json.dumps({"level": "info", "message": "[rank9]: words"})
    assert split(f"2026-03-01T12:00:00Z stdout F {entry}").body == "words"
    assert split(f"[default1]:{entry}").rank == 9
    inner = json.dumps({"log": entry + "\n", "stream": "stdout"})
    assert split(inner).body == "words"


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "CUDA out of memory", "timestamp": "2019-04-25T12:57:54Z", "url": "https://x.y"}',
        '{"messages": [{"role": "user", "content": "hi"}], "level": 3}',
        '{"loss": 2.5, "step": 3, "time": 1772366400}',
        '{"message": {"message": "x", "extraInfo": {}}, "level": "e"}',
        '{"message": "cut',
        '{"message": "x"}',
        "{" * 5000 + "}",
        'rank=3 loss=2.5 msg',
        "ts=x level=y",
    ],
)  # fmt: skip
def test_other_objects_stay(text: str) -> None:
    """Records of data sets, metrics, and what is no object are no log entries."""
    assert unwrap(text) is None
    assert split(text).body == text


_KEYS = st.sampled_from(["message", "level", "time", "rank", "host", "exception", "record", "text"])
_PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40)
_VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(_KEYS, _VALUES))
def test_any_values(entry: dict[str, Any]) -> None:
    """Whatever the values are, nothing is raised."""
    split(json.dumps(entry))


def test_tracebacks_inside_entries() -> None:
    """A traceback in a string becomes one, with rank, frames and its chain; a longer line than what is shown too."""
    frames = "".join(f'  File "/lib/{n}.py", line {n}, in f\n    {"x" * 200}\n' for n in range(50))
    thrown = (
        f"Traceback (most recent call last):\n{frames}KeyError: 'a'\n\n"
        f"During handling of the above exception, another exception occurred:\n\n{THROWN}"
    )
    lines = [json.dumps({"level": "error", "rank": rank, "message": "failed", "exc_info": thrown}) for rank in (0, 1)]
    found = tracebacks_of("\n".join(lines) + "\n")
    assert [(unit.type, unit.rank, unit.lines) for unit in found] == [
        ("KeyError", 0, (1, 1)),
        ("ValueError", 0, (1, 1)),
        ("KeyError", 1, (2, 2)),
        ("ValueError", 1, (2, 2)),
    ]
    assert found[0].caused == 1
    assert len(found[0].frames) == 50
    assert all(unit.logged for unit in found)
    shown = lines_of(text_of(lines[0].encode()))[0]
    assert len(shown.text) == 8192
    assert shown.rank == 0


def test_is_structured() -> None:
    """A file of entries is told from a document and from metrics."""
    assert is_structured(b'{"level": "info", "message": "x"}\n{"lev')
    assert not is_structured(b'{\n  "level": "info"\n}\n')
    assert not is_structured(b'{"loss": 1.0, "step": 2}\n')
