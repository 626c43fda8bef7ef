"""Turns one message into an expression: what varies becomes a group, what is fixed stays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from diagnose.classes import dataclass
from diagnose.lazy import Lazy

LONGEST = 200  # characters of a message that become an expression
_ENOUGH = 24  # characters of a first sentence that tell a failure from others
_TITLE = 90

# What a program or a logger puts before its words.
_STAMP = Lazy(
    r"(?:\[[IWEF]?\d{2,4}[^\]]{0,120}\]:? ?|\[(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\]:? ?"
    r"|\[(?:PG |[Rr]ank)[^\]]{0,120}\]:? ?|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[\d.,]{0,10}Z?\]?:? ?"
    r"|[\w.]{1,60} - (?=(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b)"
    r"|\d\d:\d\d:\d\d[\d.,]{0,10} |[IWEF]\d{4} \d\d:\d\d:\d\d[\d.]{0,10} (?:\d+ )?"
    r"|(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b:? ?|[\w./-]{1,120}\.(?:py|cpp|cc|cu|c|h):\d+\]?:? ?|[-|:] )+"
)
_TYPE = Lazy(
    r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|Failure|Timeout|Stop)\w*): "
)
_TOKEN = Lazy(
    r"(?P<masked>\[masked\])|(?P<errno>\[Errno -?\d+\])"
    r"|(?P<time>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d[\d.,]*)?Z?)?\b|\b\d\d:\d\d:\d\d\b)"
    r"|(?P<url>\b[a-z][a-z0-9+]{1,9}://[^\s'\"]+)"
    r"|'(?P<single>[^'\n]{1,400})'(?!\w)"
    r"|\"(?P<double>[^\"\n]{1,400})\""
    r"|(?P<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)"
    r"|(?P<hex>\b0x[0-9a-fA-F]+\b)"
    r"|(?P<digest>\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}\b)"
    r"|(?P<address>\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b)"
    r"|(?P<list>\[-?\d+(?:\.\d+)?(?:, ?-?\d+(?:\.\d+)?)*,?\])"
    r"|(?P<size>(?<![\w.])\d+(?:\.\d+)? ?[KMGTP]i?B\b)"
    r"|(?P<path>(?<![\w.])(?:~|\.{1,2})?/[\w.+@=-]+(?:/[\w.+@=-]+)*/?)"
    r"|(?P<number>(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]*[A-Za-z_])%?)"
)
_FORMS: Mapping[str, str] = MappingProxyType(
    {
        "masked": r"\S{1,200}",
        "time": r"[\d:T.,Z-]+(?: [\d:.,]+)?",
        "url": r"""[a-z][a-z0-9+]{1,9}://[^\s'"]{1,300}""",
        "single": r"[^']{1,300}",
        "double": r'[^"]{1,300}',
        "uuid": r"[0-9a-f-]{36}",
        "hex": r"0x[0-9a-fA-F]+",
        "digest": r"[0-9a-f]{12,64}",
        "address": r"[\d.:]+",
        "list": r"\[[^\]]{0,200}\]",
        "size": r"[\d.]+ ?\w+",
        "path": r"[\w.+@=/~-]+",
        "number": r"-?\d[\d.eE+-]*%?",
    }
)
_NAMES: Mapping[str, str] = MappingProxyType(
    {"url": "url", "address": "address", "size": "size", "path": "path", "list": "values"}
)
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
_BEFORE = Lazy(r"([A-Za-z_]{2,25})(?: (?:is|was|equals))?(?:[ =:(#]{1,3}|'s )$")
_SENTENCE = Lazy(r"[.;!?](?= |$)")
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
        it of than to is was are be in for by with and or from the a an must at after on not no as into up per
        equals equal error exactly about over under between code has have had does needs takes only
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A message and the expression that stands for all messages like it."""

    regex: str
    captures: dict[str, str]  # named groups and what they hold in this message
    exception: str  # last component of the type that the message begins with; "" none
    title: str  # the message without what varies
    message: str  # the message without stamps and type
    cut: bool  # True: the expression stands for the beginning of the message only


def wording(body: str, exception: str = "") -> Wording:
    """Make an expression from a line's body.

    Arguments: the body, and the type of the exception whose message it is, where a traceback told it.
    """
    message = body.strip()
    if stamp := _STAMP.match(message):
        message = message[stamp.end() :]
    if told := _TYPE.match(message):
        exception = told["type"]
        message = message[told.end() :]
    kept = _beginning(message)
    parts: list[str] = []
    plain: list[str] = []
    captures: dict[str, str] = {}
    end = 0
    for found, kind, value in _tokens(kept):
        fixed = kept[end : found.start(kind)]
        parts.append(_escape(fixed))
        plain += [fixed, "…"]
        name = _name(kind, value, kept[end : found.start()], kept[found.end() :], captures)
        form = r"\d+" if kind == "number" and value.isdigit() else _FORMS[kind]
        if name:
            captures[name] = value
        parts.append(f"(?P<{name}>{form})" if name else form)
        end = found.end(kind)
    parts.append(_escape(kept[end:]))
    plain.append(kept[end:])
    title = _title("".join(plain)) or _title(exception.rpartition(".")[2])
    return Wording("".join(parts), captures, exception.rpartition(".")[2], title, message, len(kept) < len(message))


def _beginning(message: str) -> str:
    """The first sentence where it says enough, else as much as an expression needs."""
    for stop in _SENTENCE.finditer(message[:LONGEST]):
        if stop.start() >= _ENOUGH and not message[: stop.start()].rpartition(" ")[2].startswith(("/", "'", '"')):
            return message[: stop.start()]
    if len(message) <= LONGEST:
        return message
    return message[:LONGEST].rpartition(" ")[0] or message[:LONGEST]


def _tokens(text: str) -> Iterator[tuple[re.Match[str], str, str]]:
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind is not None and kind != "errno":  # its number says what failed
            yield found, kind, found[kind]


def _escape(text: str) -> str:
    return re.sub(r"\s+", lambda blank: blank[0] if blank[0] == " " else r"\s+", _SPECIAL.sub(r"\\\g<0>", text))


def _name(kind: str, value: str, before: str, after: str, taken: Mapping[str, str]) -> str:
    """A name for what varies: the word before it, or what it is; "" for a number that nothing names."""
    if kind in ("masked", "hex", "digest", "uuid", "time"):
        return ""
    word = _BEFORE.search(before)
    name = word[1].lower().strip("_") if word else ""
    if not name or name in _NO_NAMES:
        name = _NAMES.get(kind, "") or ("path" if kind in ("single", "double") and "/" in value else "")
    if not name and kind == "number" and (unit := re.match(r" ([A-Za-z]{2,12})\b", after)):
        name = "" if unit[1].lower() in _NO_NAMES else unit[1].lower()
    if not name and kind in ("single", "double"):
        name = "name"
    if not name:
        return ""
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name}{number}", number + 1
    return unique


def _title(text: str) -> str:
    flat = " ".join(text.split()).strip(" .:;,")
    if len(flat) > _TITLE:
        flat = flat[:_TITLE].rpartition(" ")[0] + " …"
    return flat[:1].upper() + flat[1:]
