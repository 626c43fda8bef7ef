"""Reads conditions: the grammar is Python's, of which a closed list of nodes, names and functions is taken."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from functools import lru_cache

from diagnose.catalogue.condition import FUNCTIONS, MAX_LENGTH, NAMESPACES, VERSIONS, Condition, ConditionError, Tree
from diagnose.typed import Any

_DEEPEST = 40
_ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip


@lru_cache(maxsize=4096)
def read(text: str) -> Condition:
    """Read a condition.

    Raises ConditionError with the column where the text is no condition.
    """
    if len(text) > MAX_LENGTH:
        raise ConditionError(f"the condition is longer than {MAX_LENGTH} characters", 1)
    try:
        with warnings.catch_warnings():
            # A text may hold an expression with a "\\[" in it, which Python warns of.
            warnings.simplefilter("ignore")
            parsed = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConditionError("this is no expression", getattr(error, "offset", None) or 1) from None
    reader = _Reader()
    return Condition(text, reader.tree(parsed), tuple(reader.names), tuple(reader.calls))


class _Reader:
    """Turns Python's tree into ours and notes what it asks for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self._depth = 0

    def tree(self, node: ast.expr) -> Tree:
        """Read one node and all below it."""
        if self._depth > _DEEPEST:
            raise ConditionError("the condition is nested too deeply", node.col_offset + 1)
        self._depth += 1
        found = self._read(node)
        self._depth -= 1
        return found

    def _read(self, node: ast.expr) -> list[Any]:
        column = node.col_offset + 1
        match node:
            case ast.Constant(value=str() | int() | float() | bool() | None):
                return ["is", node.value]
            case ast.BoolOp(op=operator, values=values):
                return ["and" if isinstance(operator, ast.And) else "or", self._all(values)]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ["not", self.tree(operand)]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return ["minus", self.tree(operand)]
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _ARITHMETIC:
                return ["do", _ARITHMETIC[type(operator)], self.tree(left), self.tree(right)]
            case ast.Compare(left=left, ops=operators, comparators=right):
                if any(type(each) not in _COMPARISONS for each in operators):
                    raise ConditionError("use == and != in place of is", column)
                return ["compare", [_COMPARISONS[type(each)] for each in operators], self._all([left, *right])]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return ["if", self.tree(test), self.tree(body), self.tree(orelse)]
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return ["list", self._all(elements)]
            case ast.Attribute():
                return self._fact(_dotted(node))
            case ast.Name(id="text"):
                self.names.append("text")
                return ["text"]
            case ast.Name(id=name):
                return self._version(name, column)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(name, arguments, column)
        raise ConditionError(f"{type(node).__name__} is not allowed in a condition", column)

    def _all(self, nodes: list[ast.expr]) -> list[Tree]:
        return [self.tree(each) for each in nodes]

    def _fact(self, name: str) -> list[Any]:
        self.names.append(name)
        return ["fact", name]

    def _version(self, name: str, column: int) -> list[Any]:
        if name not in VERSIONS:
            raise ConditionError(f"unknown name {name!r}; facts are written like config.KEY or env.NAME", column)
        self.names.append(name)
        return ["fact", f"version.{name}"]

    def _call(self, name: str, arguments: list[ast.expr], column: int) -> list[Any]:
        if name not in FUNCTIONS:
            raise ConditionError(f"unknown function {name!r}; there are {', '.join(FUNCTIONS)}", column)
        texts = [each.value for each in arguments if isinstance(each, ast.Constant)]
        self.calls.append((name, tuple(value for value in texts if isinstance(value, str))))
        return ["call", name, self._all(arguments)]


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name) or inner.id not in NAMESPACES:
        raise ConditionError(f"facts begin with one of {', '.join(NAMESPACES)}", node.col_offset + 1)
    return ".".join([inner.id, *reversed(parts)])
