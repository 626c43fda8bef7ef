"""Finds literals of which one stands on every line that an expression can match; they drive the fast scan."""

from __future__ import annotations

import re
from collections.abc import Iterable

from diagnose.catalogue.expression import Ahead, Alt, Chars, Gap, Node, Repeat, Seq, UnknownSyntaxError, parse
from diagnose.classes import dataclass

MIN_BYTES = 4
MAX_LITERALS = 16
_MAX_CHARS = 64
_MAX_REPEAT = 4
_TOKEN = re.compile(r"[A-Za-z]+|[^A-Za-z]")

# JSON loggers escape these, some terminals and encodings change the others: a literal without them is found everywhere.
_FRAGILE = re.compile(r"[\"\\<>&\x00-\x1f\x7f-\U0010ffff]+")

# Words that healthy training logs are full of.
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        a after all allocated and args argument arguments at attention batch be been but by checkpoint config
        consumed core cuda debug device elapsed end epoch error eval even file for from global gpu gpus grad has
        have if in info int is it iteration iterations layer layernorm learning line lm loading loss max
        megatron memory mlp model module more must nan nccl new no norm not now number of on one only or
        parallel params per pipeline py python rank rate recompute reserved rng samples saving scale set should
        size skipped step still tensor tflop tflops than that the then they this throughput time to torch train
        training transformer type use used user using utilisation utilization validation value warn warning was
        were when which will with you zeros
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Literals:
    """Texts of which one stands on every line that an expression can match."""

    values: tuple[str, ...]  # sorted; each at least 4 bytes in UTF-8, without a newline
    nocase: bool = False  # compare without regard to ASCII case; the values are lower-case then


@dataclass(frozen=True, slots=True)
class _Text:
    """A fixed text inside an expression."""

    value: str
    nocase: bool = False

    def __add__(self, other: _Text) -> _Text:
        return _Text(self.value + other.value, self.nocase or other.nocase)


_Exact = frozenset[_Text]
_EMPTY: _Exact = frozenset({_Text("")})


def required_literals(pattern: str, *, nocase: bool = False) -> Literals | None:
    """Find literals of which one stands on every line that `pattern` can match.

    Args:
        pattern: an expression of the `regex` module (its version 0 behaviour).
        nocase: True where it is compiled with the IGNORECASE flag.

    Returns None where there are none of 4 bytes or more, or where the syntax is not understood for certain.
    Case is folded as ASCII does: the Kelvin sign, the long s and the Turkish i, which Unicode folds to k, s and i, are
    not covered.
    """
    try:
        node = parse(pattern, nocase=nocase)
    except UnknownSyntaxError:
        return None
    best = _best(_needs(node))
    if best is None:
        return None
    folded = any(text.nocase for text in best)
    values = {_fold(text.value) if folded else text.value for text in best}
    return Literals(tuple(sorted(_without_longer(values))), folded)


def _fold(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _exact(node: Node) -> _Exact | None:
    """All texts that a node can match, where they are few."""
    if isinstance(node, Chars):
        return frozenset(_Text(char, node.nocase) for char in node.choices)
    if isinstance(node, Ahead):
        return _EMPTY
    if isinstance(node, Alt):
        return _union(_exact(branch) for branch in node.branches)
    if isinstance(node, Seq):
        return _product(_exact(item) for item in node.items)
    if isinstance(node, Repeat):
        return _exact_repeat(node)
    return None


def _exact_repeat(node: Repeat) -> _Exact | None:
    if node.most is None or node.most > _MAX_REPEAT:
        return None
    body = _exact(node.body)
    return _union(_product([body] * times) for times in range(node.least, node.most + 1))


def _union(sets: Iterable[_Exact | None]) -> _Exact | None:
    result: _Exact = frozenset()
    for each in sets:
        if each is None or len(result | each) > MAX_LITERALS:
            return None
        result |= each
    return result


def _product(sets: Iterable[_Exact | None]) -> _Exact | None:
    result = _EMPTY
    for each in sets:
        if each is None or len(result) * len(each) > MAX_LITERALS:
            return None
        result = frozenset(head + tail for head in result for tail in each)
    return result


def _needs(node: Node) -> list[_Exact]:
    """Sets of texts; of each set one text stands in whatever the node matches."""
    if isinstance(node, Ahead):
        return _needs(node.body)
    if isinstance(node, Repeat):
        return _needs(node.body) if node.least else []
    if isinstance(node, Alt):
        return _needs_alternatives(node)
    return _needs_sequence(node.items if isinstance(node, Seq) else (node,))


def _needs_alternatives(node: Alt) -> list[_Exact]:
    joined: set[_Text] = set()
    for branch in node.branches:
        best = _best(_needs(branch))
        if best is None:
            return []
        joined |= best
    return [frozenset(joined)]


def _needs_sequence(items: tuple[Node, ...]) -> list[_Exact]:
    found: list[_Exact] = []
    run = _EMPTY
    for item in items:
        if isinstance(item, Gap):
            found.append(run)
            run = _EMPTY
            continue
        exact = _exact(item)
        if exact is None or isinstance(item, Ahead):
            found.extend(_needs(item))
        if exact is None:
            edge = _exact(item.body) if isinstance(item, Repeat) and item.least else None
            found.append(_product((run, edge)) or run)
            run = edge or _EMPTY
        else:
            longer = _product((run, exact))
            if longer is None:
                found.append(run)
            run = longer or exact
    return [*found, run]


def _best(sets: list[_Exact]) -> _Exact | None:
    """The set whose worst text is the longest and rarest; a small set wins over a large one of about the same worth."""
    best, best_worth = None, 0.0
    for each in sets:
        parts = [_best_part(text) for text in each]
        chosen = frozenset(part for part in parts if part is not None)
        if not parts or None in parts or len(chosen) > MAX_LITERALS:
            continue
        worth = min(_worth(text.value) for text in chosen) - 0.3 * (len(chosen) - 1)
        if best is None or worth > best_worth:
            best, best_worth = chosen, worth
    return best


def _best_part(text: _Text) -> _Text | None:
    """The part of a text that is found most surely and most rarely; None where it is too short."""
    parts = [part.strip()[:_MAX_CHARS] for part in _FRAGILE.split(text.value)]
    parts = [part for part in parts if len(part) >= MIN_BYTES] or [
        part for part in (text.value.strip()[:_MAX_CHARS],) if len(part.encode("utf-8", "surrogatepass")) >= MIN_BYTES
    ]
    return _Text(max(parts, key=_worth), text.nocase) if parts else None


def _worth(text: str) -> float:
    worth = 0.0
    for token in _TOKEN.findall(text):
        if not token.isalpha():
            worth += 0.3 if token == " " else 0.8
        elif token.lower() in _COMMON:
            worth += 1.0
        else:
            worth += len(token)
    return min(worth, 24.0) + min(len(text), 40) * 0.1 - (8.0 if _FRAGILE.search(text) else 0.0)


def _without_longer(values: set[str]) -> set[str]:
    return {value for value in values if not any(other != value and other in value for other in values)}
