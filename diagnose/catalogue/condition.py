"""Conditions of pattern files: small expressions with three answers, yes, no and unknown.

`grammar.py` reads them; here they are evaluated, as trees of plain lists that a cache can hold. Nothing is ever run as
code. A fact that nobody saw is unknown, and unknown travels by Kleene's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from diagnose.catalogue.version import Version
from diagnose.classes import dataclass, field
from diagnose.expressions import EXPRESSIONS, search_within
from diagnose.typed import Any, Protocol

NAMESPACES = ("config", "env", "capture", "let", "check", "run", "memory", "before", "after", "change")
COMPARED = ("before", "after", "change")  # namespaces that only a comparison of runs knows
VERSIONS = (
    *("core", "bridge", "lm", "te", "torch", "nccl", "cuda", "driver", "deepspeed", "transformers", "lightning"),
    *(
        "python",
        "slurm",
        "accelerate",
        "vllm",
        "ray",
        "triton",
        "cudnn",
        "flash_attn",
        "apex",
        "nemo",
        "nvrx",
        "kernel",
    ),
)
# ["is", value], ["fact", key], ["text"], ["and" or "or", nodes], ["not" or "minus", node], ["list", nodes],
# ["do", symbol, left, right], ["compare", symbols, nodes], ["if", test, body, else], ["call", name, nodes]
Tree = Sequence[Any]
MAX_LENGTH = 2000
_TEXT_LIMIT = 20_000


class Unknown:
    """The value of a fact that nobody saw."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = Unknown()


class ConditionError(ValueError):
    """A condition that cannot be read: `message`, and `column` (from 1) in its text."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


@dataclass(frozen=True, slots=True)
class Seen:
    """A known fact: its value, and the line it was seen on (an Evidence, or None)."""

    value: Any
    evidence: Any = None
    source: str = ""  # in words, where there is no line: "--set", "default of Megatron Core"


class Scope(Protocol):
    """What a condition can ask for."""

    def lookup(self, key: str) -> Seen | None:
        """Return the fact `namespace.name`, or None where nobody saw it."""

    def found(self, name: str) -> bool:
        """Tell whether another pattern (or one of a category) matched in this job."""

    def frame(self, expression: str) -> bool | None:
        """Tell whether a frame of the event's traceback matches; None without a traceback."""

    @property
    def text(self) -> str | None:
        """The evidence line's body."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition."""

    source: str
    tree: Tree
    names: tuple[str, ...]  # all `namespace.name` it mentions
    calls: tuple[tuple[str, tuple[str, ...]], ...]  # functions with their text arguments


@dataclass(slots=True)
class Outcome:
    """What a condition came to, with the facts that it asked for."""

    value: Any
    used: dict[str, Seen] = field(default_factory=dict)  # known facts, in the order asked
    missing: list[str] = field(default_factory=list)  # facts that nobody saw

    @property
    def answer(self) -> bool | None:
        """True yes, False no, None unknown."""
        return None if self.value is UNKNOWN else bool(self.value)


def parse(text: str) -> Condition:
    """Read a condition.

    Raises ConditionError with the column where the text is no condition.
    """
    from diagnose.catalogue.grammar import read

    condition = read(text)
    _TREES[text] = condition.tree
    return condition


def trees_in(value: Any) -> dict[str, Tree]:
    """Find the conditions that were read among all texts of a value made of lists, mappings and texts."""
    if isinstance(value, str):
        return {value: _TREES[value]} if value in _TREES else {}
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return {text: tree for each in inner for text, tree in trees_in(each).items()}


def remember(trees: Mapping[str, Any]) -> None:
    """Take trees that were read before, so that their texts need not be read again: a start reads some hundred."""
    _TREES.update(trees)


def evaluate(condition: Condition | str, scope: Scope) -> Outcome:
    """Evaluate a condition on the facts of a scope; what cannot be decided is unknown, never an exception."""
    tree = _tree(condition) if isinstance(condition, str) else condition.tree
    outcome = Outcome(UNKNOWN)
    try:
        outcome.value = _evaluate(tree, scope, outcome)
    except (TypeError, ValueError, ArithmeticError, RecursionError, LookupError):
        outcome.value = UNKNOWN
    return outcome


def _tree(text: str) -> Tree:
    known = _TREES.get(text)
    return parse(text).tree if known is None else known


def _evaluate(node: Tree, scope: Scope, seen: Outcome) -> Any:
    return _EVALUATORS[node[0]](node, scope, seen)


def _both(node: Tree, scope: Scope, seen: Outcome) -> Any:
    return _boolean(node[0] == "and", [_evaluate(each, scope, seen) for each in node[1]])


def _not(node: Tree, scope: Scope, seen: Outcome) -> Any:
    value = _evaluate(node[1], scope, seen)
    return UNKNOWN if value is UNKNOWN else not value


def _minus(node: Tree, scope: Scope, seen: Outcome) -> Any:
    value = _evaluate(node[1], scope, seen)
    return UNKNOWN if value is UNKNOWN else -value


def _binary(node: Tree, scope: Scope, seen: Outcome) -> Any:
    _, operator, left, right = node
    return _arithmetic(operator, _evaluate(left, scope, seen), _evaluate(right, scope, seen))


def _chain(node: Tree, scope: Scope, seen: Outcome) -> Any:
    _, operators, operands = node
    first, *rest = (_evaluate(each, scope, seen) for each in operands)
    return _comparison(first, operators, rest)


def _choice(node: Tree, scope: Scope, seen: Outcome) -> Any:
    _, test, body, orelse = node
    chosen = _evaluate(test, scope, seen)
    return UNKNOWN if chosen is UNKNOWN else _evaluate(body if chosen else orelse, scope, seen)


def _items(node: Tree, scope: Scope, seen: Outcome) -> Any:
    items = [_evaluate(each, scope, seen) for each in node[1]]
    return UNKNOWN if any(item is UNKNOWN for item in items) else items


def _text(_node: Tree, scope: Scope, _seen: Outcome) -> Any:
    return UNKNOWN if scope.text is None else scope.text


def _fact(key: str, scope: Scope, seen: Outcome) -> Any:
    known = scope.lookup(key)
    if known is None:
        if key not in seen.missing:
            seen.missing.append(key)
        return UNKNOWN
    seen.used.setdefault(key, known)
    if key.startswith("version."):
        value = known.value if isinstance(known.value, Version) else Version.parse(str(known.value))
        return UNKNOWN if value is None else value
    return known.value


def _boolean(conjunction: bool, values: list[Any]) -> Any:
    deciding = not conjunction  # one no decides an "and", one yes decides an "or"
    unknown = False
    for value in values:
        if value is UNKNOWN:
            unknown = True
        elif bool(value) is deciding:
            return deciding
    return UNKNOWN if unknown else conjunction


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if operator == "+" and isinstance(left, str) and isinstance(right, str):
        return (left + right)[:_TEXT_LIMIT]
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return UNKNOWN
    return ARITHMETIC[operator](left, right)


def _comparison(left: Any, operators: Sequence[str], comparators: list[Any]) -> Any:
    results: list[Any] = []
    for operator, right in zip(operators, comparators, strict=True):
        results.append(_compare(operator, left, right))
        left = right
    return _boolean(True, results)


def _compare(operator: str, left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, Version) or isinstance(right, Version):
        return _compare_versions(operator, left, right)
    if operator in ("in", "not in"):
        inside = _contains(right, left)
        return inside if operator == "in" or inside is UNKNOWN else not inside
    try:
        return COMPARISONS[operator](left, right)
    except TypeError:
        return UNKNOWN


def _contains(container: Any, item: Any) -> Any:
    if container is None:
        return False
    if isinstance(container, str):
        return isinstance(item, str) and item in container
    return item in container if isinstance(container, list | tuple | set | dict) else UNKNOWN


_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _compare_versions(symbol: str, left: Any, right: Any) -> Any:
    if symbol not in _TURNED:
        return UNKNOWN
    if isinstance(left, Version):
        answer = left.compare(symbol, str(right))
    else:
        answer = right.compare(_TURNED[symbol], str(left))
    return UNKNOWN if answer is None else answer


def _call(node: Tree, scope: Scope, seen: Outcome) -> Any:
    _, name, arguments = node
    if name in ("found", "frame"):
        given = _evaluate(arguments[0], scope, seen) if arguments else UNKNOWN
        if not isinstance(given, str):
            return UNKNOWN
        if name == "found":
            return scope.found(given)
        inside = scope.frame(given)
        return UNKNOWN if inside is None else inside
    values = [_evaluate(each, scope, seen) for each in arguments]
    if name == "known":
        return all(value is not UNKNOWN for value in values)
    if name == "default":
        return next((value for value in values if value is not UNKNOWN), UNKNOWN)
    if name == "code" and not any(value is UNKNOWN for value in values):
        table, number, asked = values
        return _fact(f"code.{table}.{number}.{asked}", scope, seen)
    return UNKNOWN if name == "code" or any(value is UNKNOWN for value in values) else _FUNCTIONS[name](*values)


_UNITS = {"b": 1, "byte": 1, "bytes": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "eb": 1e18}
_UNITS |= {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def size(text: Any) -> float | Unknown:
    """Read a size like "1.96 GiB" or "320 MB" as bytes; a plain number is bytes already."""
    if isinstance(text, int | float):
        return float(text)
    import re

    found = re.match(r"\s*([\d.,]+)\s*([A-Za-z]*)", str(text))
    if not found:
        return UNKNOWN
    unit = _UNITS.get(found.group(2).lower() or "b")
    return UNKNOWN if unit is None else float(found.group(1).replace(",", "")) * unit


def _matches(text: Any, expression: Any) -> bool | Unknown:
    compiled = EXPRESSIONS.compiled(str(expression))
    try:
        return UNKNOWN if compiled is None else search_within(compiled, str(text)[:_TEXT_LIMIT], 0.1) is not None
    except TimeoutError:
        return UNKNOWN


def _sum_sizes(text: Any, expression: Any) -> float | Unknown:
    compiled = EXPRESSIONS.compiled(str(expression))
    try:
        found = (
            compiled.findall(str(text)[:_TEXT_LIMIT], timeout=0.1, concurrent=False) if compiled is not None else None
        )
    except TimeoutError:
        return UNKNOWN
    if found is None:
        return UNKNOWN
    values = [size(each if isinstance(each, str) else each[0]) for each in found]
    return sum(value for value in values if not isinstance(value, Unknown))


def _least(*values: Any) -> Any:
    return min(values[0] if len(values) == 1 else values)


def _most(*values: Any) -> Any:
    return max(values[0] if len(values) == 1 else values)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "size": size,
    "int": lambda value: int(float(value)),
    "float": float,
    "len": len,
    "lower": lambda value: str(value).lower(),
    "min": _least,
    "max": _most,
    "without": lambda items, others: [each for each in items or [] if each not in others],
    "any": any,
    "all": all,
    "matches": _matches,
    "sum_sizes": _sum_sizes,
}
_ASKING = ("known", "default", "found", "frame", "code")
FUNCTIONS = (*_ASKING, *_FUNCTIONS)
ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
_EVALUATORS: Mapping[str, Callable[[Tree, Scope, Outcome], Any]] = {
    "is": lambda node, _scope, _seen: node[1],
    "fact": lambda node, scope, seen: _fact(node[1], scope, seen),
    "text": _text,
    "and": _both,
    "or": _both,
    "not": _not,
    "minus": _minus,
    "list": _items,
    "do": _binary,
    "compare": _chain,
    "if": _choice,
    "call": _call,
}
_TREES: dict[str, Tree] = {}  # what was read once
