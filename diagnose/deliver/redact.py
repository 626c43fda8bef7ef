"""Masks secrets in whatever leaves the machine: messages, reports that are shared, answers of the server."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass

from diagnose.deliver.secret_names import is_said, is_secret, no_value, strength
from diagnose.deliver.secret_shapes import MASK, mask_shapes
from diagnose.lazy import Lazy
from diagnose.typed import Any, TypeVar, cast

T = TypeVar("T")

# A name and what may stand between it and its value: quotes, escaped quotes, brackets, `name: X, value: Y`.
# Everything is bounded, and most of it possessive, so that no text makes it run away.
_QUOTE = r"""(?:\\{0,3}["'])"""
_NAME = Lazy(
    rf"""(?<![\w$%.-])(?P<name>-{{0,2}}[A-Za-z_](?:[\w-]|\.(?=\w)){{1,80}}+)
    (?:{_QUOTE}?+[ \t]{{0,3}}+\]?+[ \t]{{0,3}}+(?:=>|:=|[=:](?!=)|%3D)[ \t]{{0,3}}+(?:\[(?!masked\]))?+
      |[ \t]{{1,3}}+\.{{3,100}}+[ \t]{{1,3}}+
      |(?P<column>{_QUOTE}?+(?:[ \t]{{0,40}}+(?:\||->)[ \t]{{0,40}}+|\t{{1,9}}+))
      |{_QUOTE}?+\s{{0,40}}+,?+\s{{0,40}}+{_QUOTE}?+value{_QUOTE}?+[ \t]{{0,3}}+[:=][ \t]{{0,3}}+
      |{_QUOTE}[ \t]{{0,3}}+,[ \t]{{0,3}}+(?={_QUOTE})
      |(?P<option>(?<=[\w.-])(?:{_QUOTE}?+,?+\s{{1,40}}+)(?=[^\s-])))""",
    re.VERBOSE,
)
_VALUE = Lazy(
    r"""(?:!!?\w{1,40}[ \t]{1,3})?+(?:[bru]{1,2}(?=["']))?+
    (?:(?P<escaped>\\{1,3}["'])(?P<a>[^\n]*?)(?=(?P=escaped)|\n|\Z)
      |(?P<quote>["'])(?P<b>(?:[^\\\n]|\\[^\n])*?)(?=(?P=quote)|\n|\Z)
      |(?P<c>(?:[^\s"'`]|["'`](?![\s,;:)\]}]|\Z))+))""",
    re.VERBOSE,
)
# Colours as terminals take them, as syslog, JSON and `cat -v` write them, and with their first byte lost.
_COLOR = Lazy(r"(?:\x1b|\\x1b|\\u001b|\\033|\\e|\#033|\^\[)\[[0-9;:]{0,20}[mK]|\[[0-9;]{1,20}m", re.IGNORECASE)
_LONGEST, _LONGEST_WEAK = 4096, 300  # characters of a value
_REST = Lazy(r"""[^\s"']*""")  # of a value that is longer than that
_MASKED = Lazy(r"(?:[\w.:-]{1,24}…)?\[masked\]")


def redact(value: T) -> T:
    """Give a copy of `value` in which no text, at any depth of dataclasses and containers, holds a secret.

    What a dictionary holds under the name of a secret is masked whole. Masking twice changes nothing.
    """
    return cast(T, _walk(value))


def redact_text(text: str) -> str:
    """Mask the secrets in `text`: by their shape (`hf_…`), by their place (a URL, a header), and by their name.

    Colours go where something is masked: a code between a name and its value would hide one from the other.
    """
    plain = _COLOR.sub("", text) if "[" in text else text
    masked = _mask_named(mask_shapes(plain))
    return text if masked == plain else masked


def _mask_named(text: str) -> str:
    parts: list[str] = []
    done = at = 0
    while (head := _NAME.search(text, at)) is not None:
        option = head["name"][0] == "-"
        at = head.end("name")
        how = "" if head["option"] and not option else strength(head["name"], option=option)
        if not how:
            continue
        limit = head.end() + (_LONGEST if how == "strong" else _LONGEST_WEAK)
        found = _VALUE.match(text, head.end(), limit)
        if found is None:
            continue
        first, last = found.span("a" if found["escaped"] else "b" if found["quote"] else "c")
        value = text[first:last]
        if _MASKED.match(value.lstrip("({<`'\"")):
            continue
        if found["c"] is not None:
            value = value.rstrip(",;)]" if "{" in value else ",;)]}")
            if is_said(value) and not option:
                continue
        if head["column"] and (len(value) < 8 or not any(map(str.isdigit, value))):  # a heading, a description
            continue
        if not is_secret(head["name"], value, option=option):
            continue
        parts += [text[done:first], MASK]
        done = at = first + len(value)
        if last >= limit and (rest := _REST.match(text, at)) is not None:
            done = at = rest.end()
    return "".join([*parts, text[done:]]) if parts else text


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return redact_text(value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{field.name: _walk(getattr(value, field.name)) for field in fields(value)})
    if isinstance(value, dict):
        return {_walk(key): _entry(key, item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_walk(item) for item in value)
    return value


def _entry(name: object, value: Any) -> Any:
    """Mask the value of a dictionary's key that sounds like a secret; a ConfigValue keeps where it was seen."""
    if not isinstance(name, str) or not strength(name):
        return _walk(value)
    if isinstance(value, str):
        masked = redact_text(value)
        return MASK if masked == value and not no_value(value) and is_secret(name, value) else masked
    if is_dataclass(value) and not isinstance(value, type) and isinstance(getattr(value, "value", None), str):
        known = {field.name: getattr(value, field.name) for field in fields(value)}
        return type(value)(**{key: _entry(name if key == "value" else "", item) for key, item in known.items()})
    return _walk(value)
