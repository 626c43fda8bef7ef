"""Conditions of pattern files: small expressions with three answers, yes, no and unknown.

The grammar is Python's, read by `ast`; only a closed list of nodes, names and functions is accepted, and nothing is
ever evaluated as code. A fact that nobody saw is unknown, and unknown travels by Kleene's rules.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Protocol

from diagnose.catalogue.version import Version
from diagnose.classes import dataclass, field

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
    tree: ast.expr
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


@lru_cache(maxsize=4096)
def _tree(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise ConditionError(f"the condition is longer than {MAX_LENGTH} characters", 1)
    try:
        if "\\" not in text:
            return ast.parse(text.strip(), mode="eval").body
        with warnings.catch_warnings():
            # A text may hold an expression with a "\\[" in it, which Python warns of.
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConditionError("this is no expression", getattr(error, "offset", None) or 1) from None


@lru_cache(maxsize=4096)
def parse(text: str) -> Condition:
    """Read a condition.

    Raises ConditionError with the column where the text is no condition.
    """
    tree = _tree(text)
    names: list[str] = []
    calls: list[tuple[str, tuple[str, ...]]] = []
    _check(tree, names, calls, 0)
    return Condition(text, tree, tuple(names), tuple(calls))


def _check(node: ast.expr, names: list[str], calls: list[tuple[str, tuple[str, ...]]], depth: int) -> None:
    column = node.col_offset + 1
    if depth > 40:
        raise ConditionError("the condition is nested too deeply", column)

    def inner(*nodes: ast.expr) -> None:
        for each in nodes:
            _check(each, names, calls, depth + 1)

    match node:
        case ast.Constant(value=str() | int() | float() | bool() | None):
            return
        case ast.BoolOp(values=values):
            inner(*values)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            inner(operand)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _ARITHMETIC:
            inner(left, right)
        case ast.Compare(left=left, ops=operators, comparators=right):
            for each in operators:
                if type(each) not in _COMPARISONS:
                    raise ConditionError("use == and != in place of is", column)
            inner(left, *right)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            inner(test, body, orelse)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            inner(*elements)
        case ast.Attribute():
            names.append(_dotted(node))
        case ast.Name(id=name):
            if name not in VERSIONS and name != "text":
                raise ConditionError(f"unknown name {name!r}; facts are written like config.KEY or env.NAME", column)
            names.append(name)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in _FUNCTIONS and name not in _ASKING:
                raise ConditionError(f"unknown function {name!r}; there are {', '.join(FUNCTIONS)}", column)
            texts = [a.value for a in arguments if isinstance(a, ast.Constant)]
            calls.append((name, tuple(value for value in texts if isinstance(value, str))))
            inner(*arguments)
        case _:
            raise ConditionError(f"{type(node).__name__} is not allowed in a condition", column)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name) or inner.id not in NAMESPACES:
        raise ConditionError(f"facts begin with one of {', '.join(NAMESPACES)}", node.col_offset + 1)
    return ".".join([inner.id, *reversed(parts)])


def evaluate(condition: Condition | str, scope: Scope) -> Outcome:
    """Evaluate a condition on the facts of a scope; what cannot be decided is unknown, never an exception."""
    # Pattern files were checked when they were read; what is not allowed in a condition has no value here.
    tree = _tree(condition) if isinstance(condition, str) else condition.tree
    outcome = Outcome(UNKNOWN)
    try:
        outcome.value = _evaluate(tree, scope, outcome)
    except (TypeError, ValueError, ArithmeticError, RecursionError, IndexError):
        outcome.value = UNKNOWN
    return outcome


def _evaluate(node: ast.expr, scope: Scope, seen: Outcome) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.BoolOp(op=operator, values=values):
            return _boolean(isinstance(operator, ast.And), [_evaluate(each, scope, seen) for each in values])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = _evaluate(operand, scope, seen)
            return UNKNOWN if value is UNKNOWN else not value
        case ast.UnaryOp(operand=operand):
            value = _evaluate(operand, scope, seen)
            return UNKNOWN if value is UNKNOWN else -value
        case ast.BinOp(left=left, op=operator, right=right):
            return _arithmetic(type(operator), _evaluate(left, scope, seen), _evaluate(right, scope, seen))
        case ast.Compare(left=left, ops=operators, comparators=comparators):
            first, *rest = (_evaluate(each, scope, seen) for each in (left, *comparators))
            return _comparison(first, operators, rest)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen = _evaluate(test, scope, seen)
            return UNKNOWN if chosen is UNKNOWN else _evaluate(body if chosen else orelse, scope, seen)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            items = [_evaluate(each, scope, seen) for each in elements]
            return UNKNOWN if any(item is UNKNOWN for item in items) else items
        case ast.Attribute():
            return _fact(_dotted(node), scope, seen)
        case ast.Name(id="text"):
            return UNKNOWN if scope.text is None else scope.text
        case ast.Name(id=name):
            return _fact(f"version.{name}", scope, seen)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, arguments, scope, seen)
    return UNKNOWN


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


def _arithmetic(operator: type[ast.operator], left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if operator is ast.Add and isinstance(left, str) and isinstance(right, str):
        return (left + right)[:_TEXT_LIMIT]
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return UNKNOWN
    known = _ARITHMETIC.get(operator)
    return UNKNOWN if known is None else known(left, right)


def _comparison(left: Any, operators: list[ast.cmpop], comparators: list[Any]) -> Any:
    results: list[Any] = []
    for operator, right in zip(operators, comparators, strict=True):
        results.append(_compare(operator, left, right))
        left = right
    return _boolean(True, results)


def _compare(operator: ast.cmpop, left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, Version) or isinstance(right, Version):
        return _compare_versions(operator, left, right)
    if isinstance(operator, ast.In | ast.NotIn):
        inside = _contains(right, left)
        return inside if isinstance(operator, ast.In) or inside is UNKNOWN else not inside
    try:
        return _COMPARISONS[type(operator)](left, right)
    except (TypeError, KeyError):
        return UNKNOWN


def _contains(container: Any, item: Any) -> Any:
    if container is None:
        return False
    if isinstance(container, str):
        return isinstance(item, str) and item in container
    return item in container if isinstance(container, list | tuple | set | dict) else UNKNOWN


_SYMBOLS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _compare_versions(operator: ast.cmpop, left: Any, right: Any) -> Any:
    symbol = _SYMBOLS.get(type(operator))
    if symbol is None:
        return UNKNOWN
    if isinstance(left, Version):
        answer = left.compare(symbol, str(right))
    else:
        answer = right.compare(_TURNED[symbol], str(left))
    return UNKNOWN if answer is None else answer


def _call(name: str, arguments: list[ast.expr], scope: Scope, seen: Outcome) -> Any:
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
    known = _FUNCTIONS.get(name)
    return UNKNOWN if known is None or any(value is UNKNOWN for value in values) else known(*values)


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
    import regex

    try:
        return regex.search(str(expression), str(text)[:_TEXT_LIMIT], timeout=0.1) is not None
    except (TimeoutError, regex.error):
        return UNKNOWN


def _sum_sizes(text: Any, expression: Any) -> float | Unknown:
    import regex

    try:
        found = regex.findall(str(expression), str(text)[:_TEXT_LIMIT], timeout=0.1)
    except (TimeoutError, regex.error):
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
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
