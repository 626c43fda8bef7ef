"""Values as programs print them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.facts.model import Value
from diagnose.facts.values import parse_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("True", True),
        ("false", False),
        ("None", None),
        ("none", "none"),
        ("4", 4),
        ("-1", -1),
        ("1e-4", 1e-4),
        ("1E-05", 1e-5),
        ("0.1", 0.1),
        ("1e400", "1e400"),
        ("007", "007"),
        ("", ""),
        ("'full'", "full"),
        ("['core_attn']", ["core_attn"]),
        ("['core_attn', 'mlp']", ["core_attn", "mlp"]),
        ("[]", []),
        ("{}", {}),
        ("[<CudaGraphScope.attn: 2>]", ["attn"]),
        ("<InferenceCudaGraphScope.none: 1>", "none"),
        ("<Signals.SIGTERM: 15>", "sigterm"),
        ("AttnBackend.auto", "auto"),
        ("torch.bfloat16", "torch.bfloat16"),
        ("README.md", "README.md"),
        ("(0.9, 0.95)", [0.9, 0.95]),
        ("{'a': 1, 'b': [True]}", {"a": 1, "b": [True]}),
        ("{'core_attn', 'mlp'}", ["core_attn", "mlp"]),
        ("[(0, 0.5), (0.5, 1.0)]", [[0, 0.5], [0.5, 1.0]]),
        ("'a, b'", "a, b"),
        ("/data/run,1", "/data/run,1"),
    ],
)
def test_printed_values_get_their_type(text: str, value: Value) -> None:
    """Literals are typed, enums become names, everything else stays text."""
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


@settings(derandomize=True, max_examples=100)
@given(st.text(alphabet="[](){}<>'\",:. aA1e-\\", max_size=80))
def test_any_text_is_a_value(text: str) -> None:
    """No text crashes, and what comes out can be written as JSON."""
    json.dumps(parse_value(text), allow_nan=False)


def test_deep_nesting_is_not_followed() -> None:
    """Brackets without end cost no recursion."""
    assert parse_value("[" * 5000 + "]" * 5000)
