"""Cuts shell words, assignments and flags out of command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diagnose.facts.model import Value
from diagnose.facts.names import LIST_FIELDS, canonical
from diagnose.facts.values import parse_value, split_items
from diagnose.lazy import Lazy

LONGEST = 20_000  # characters of a command that are looked at
ASSIGNMENT = Lazy(r"([A-Za-z_]\w{0,100})=(.*)", re.DOTALL)
OVERRIDE = Lazy(r"[+~]{0,2}([A-Za-z_][\w-]{0,80}(?:[./][\w-]{1,80}){1,8})=(.*)", re.DOTALL)
_DEFAULT = Lazy(r"\$\{\w+:?-([^{}$]*)\}")
_NEGATIVE = Lazy(r"-\.?\d")
_EMPTY_ON_PURPOSE = frozenset({"''", '""'})


def words(command: str) -> list[str]:
    """Cut a command into words as a shell does; where the quoting is broken, at blanks."""
    import shlex

    command = command[:LONGEST]
    try:
        return shlex.split(command, comments=False)
    except ValueError:
        return command.split()


def resolve(value: str) -> str | None:
    """Fill in `${NAME:-default}`; None where the value depends on a variable that nobody knows."""
    value = _DEFAULT.sub(lambda m: m[1], value)
    return None if "$" in value or "`" in value else value


def flags(tokens: Sequence[str]) -> Iterator[tuple[str, Value]]:
    """Yield name and value of every `--flag`, `--flag value …` and `--flag=value`, and of `--no-flag` as False.

    A value that a shell variable would fill in, or that a help text describes (`{full,selective}`), is left out.
    """
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if not token.startswith("--") or len(token) < 4:
            continue
        name, equals, value = token[2:].partition("=")
        if not re.fullmatch(r"[A-Za-z][\w.-]{0,120}", name):
            continue
        values = [value] if equals else []
        while not equals and position < len(tokens) and not _is_flag(tokens[position]):
            values.append(tokens[position])
            position += 1
        yield from _flag(name, values, bool(equals))


def _is_flag(token: str) -> bool:
    return token.startswith("-") and not _NEGATIVE.match(token)


def _flag(name: str, values: list[str], equals: bool) -> Iterator[tuple[str, Value]]:
    known = [resolved for value in values if (resolved := resolve(value)) is not None]
    if len(known) < len(values) or any(value[:1] in {"{", "["} and not equals for value in values):
        return
    if not known:
        plain = name.replace("_", "-")
        if plain.startswith("no-"):
            yield name[3:], False
        elif canonical(name) in LIST_FIELDS:
            yield name, []
        else:
            yield name, True
    elif canonical(name) in LIST_FIELDS:
        yield name, [parse_value(part) for value in known for part in _listed(value)]
    else:
        typed = [parse_value(value) for value in known]
        yield name, typed[0] if len(typed) == 1 else typed


def _listed(value: str) -> list[str]:
    return split_items(value[1:-1]) if value[:1] == "[" and value[-1:] == "]" else split_items(value)
