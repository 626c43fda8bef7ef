"""A cursor over one mapping of a pattern file: typed reads that collect what is wrong instead of raising."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnose.catalogue.document import Items, Node, Scalar, Table, Where, number
from diagnose.catalogue.model import Trouble
from diagnose.classes import dataclass, field


@dataclass(slots=True)
class Report:
    """Collects troubles, and the names of other patterns that a file mentions."""

    troubles: list[Trouble] = field(default_factory=list)
    mentions: list[tuple[Where, str]] = field(default_factory=list)  # ids, categories or roles, decided across files
    tables: list[tuple[Where, str]] = field(default_factory=list)  # tables of codes that conditions ask

    def add(self, where: Where, message: str, hint: str = "") -> None:
        """Note a trouble."""
        self.troubles.append(Trouble(*where, message, hint))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known word, or lists a few."""
    import difflib

    options = list(known)
    near = difflib.get_close_matches(word.lower(), options, 1, 0.6)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"one of {', '.join(options)}" if 0 < len(options) <= 24 else ""


def text_of(report: Report, node: Node, what: str) -> str:
    """Return a scalar's text, or note that it is something else and return ""."""
    if isinstance(node, Scalar) and node.kind == "text":
        return node.text.rstrip("\n")
    if not isinstance(node, Scalar):
        kind = "a list" if isinstance(node, Items) else "a mapping"
        report.add(node.where, f"{what} must be a text, not {kind}", "quote a text that begins with { or [")
    elif node.kind == "null":
        report.add(node.where, f"{what} is empty")
    elif node.kind == "number":
        report.add(node.where, f"{what} must be a text, not a number", f"write '{node.text}'")
    else:
        report.add(
            node.where, f"{what} must be a text; YAML reads {node.text} as a truth value", f"write '{node.text}'"
        )
    return ""


class Form:
    """Reads the keys of one mapping."""

    def __init__(self, report: Report, table: Table, what: str, keys: Sequence[str]) -> None:
        """Note every key that is not one of `keys`; `what` names the mapping in messages ("a check")."""
        self.report = report
        self.table = table
        self.what = what
        for key, (where, _) in table.pairs.items():
            if key not in keys:
                report.add(where, f"{what} has no key `{key}`", did_you_mean(key, keys))

    def has(self, key: str) -> bool:
        """Tell whether the key is there."""
        return key in self.table.pairs

    def node(self, key: str) -> Node | None:
        """Return the key's value, if there is one."""
        pair = self.table.pairs.get(key)
        return pair[1] if pair else None

    def raw(self, key: str) -> str:
        """Return a single value as it is written, whatever YAML makes of it."""
        node = self.node(key)
        return node.text if isinstance(node, Scalar) else ""

    def where(self, key: str = "") -> Where:
        """Return the place of a key's value, or of the mapping."""
        node = self.node(key)
        return self.table.where if node is None else node.where

    def complain(self, key: str, message: str, hint: str = "") -> None:
        """Note a trouble at a key's value."""
        self.report.add(self.where(key), message, hint)

    def require(self, *keys: str) -> None:
        """Note the keys that are missing, or that hold a blank text."""
        for key in keys:
            node = self.node(key)
            if node is None:
                self.report.add(self.table.where, f"{self.what} needs `{key}`")
            elif isinstance(node, Scalar) and node.kind == "text" and not node.text.strip():
                self.report.add(node.where, f"`{key}` is empty")

    def text(self, key: str) -> str:
        """Return a text, "" where the key is missing."""
        node = self.node(key)
        return "" if node is None else text_of(self.report, node, f"`{key}`")

    def texts(self, key: str, *, one: bool = False) -> tuple[str, ...]:
        """Return a list of texts; with `one`, a single text is a list of one."""
        node = self.node(key)
        if node is None:
            return ()
        if isinstance(node, Items):
            return tuple(text_of(self.report, item, f"an entry of `{key}`") for item in node.items)
        if one:
            return (text_of(self.report, node, f"`{key}`"),)
        self.report.add(node.where, f"`{key}` must be a list", f"write {key}: [...]")
        return ()

    def places(self, key: str) -> list[Where]:
        """Return the places of a list's entries (or of the one text), in the order of `texts`."""
        node = self.node(key)
        if isinstance(node, Items):
            return [item.where for item in node.items]
        return [] if node is None else [node.where]

    def choice(self, key: str, options: Sequence[str], default: str = "") -> str:
        """Return one of some words."""
        if not self.has(key):
            return default
        word = self.text(key)
        if word and word not in options:
            self.complain(key, f"`{key}` cannot be {word!r}", did_you_mean(word, options))
        return word

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        node = self.node(key)
        if node is None:
            return default
        if isinstance(node, Scalar) and node.kind == "flag":
            return node.text[0] in "tT"
        self.report.add(node.where, f"`{key}` must be true or false")
        return default

    def whole(self, key: str, default: int, most: int) -> int:
        """Return a whole number from 1 to `most`."""
        node = self.node(key)
        if node is None:
            return default
        value = number(node.text) if isinstance(node, Scalar) and node.kind == "number" else None
        if not isinstance(value, int) or not 1 <= value <= most:
            self.report.add(node.where, f"`{key}` must be a whole number from 1 to {most}")
            return default
        return value

    def decimal(self, key: str) -> float | None:
        """Return a number above zero; None where the key is missing."""
        node = self.node(key)
        if node is None:
            return None
        value = number(node.text) if isinstance(node, Scalar) and node.kind == "number" else None
        if value is None or not 0 < value < 1e12:
            self.report.add(node.where, f"`{key}` must be a number above zero")
            return None
        return float(value)

    def form(self, key: str, keys: Sequence[str], what: str) -> Form | None:
        """Return a cursor over a mapping inside this one."""
        node = self.node(key)
        if node is None:
            return None
        if isinstance(node, Table):
            return Form(self.report, node, what, keys)
        self.report.add(node.where, f"`{key}` must be a mapping", f"with the keys {', '.join(keys)}")
        return None

    def tables(self, key: str) -> list[Table]:
        """Return a list of mappings."""
        node = self.node(key)
        if node is None:
            return []
        if not isinstance(node, Items):
            self.report.add(node.where, f"`{key}` must be a list", "begin each entry with `- `")
            return []
        found = []
        for item in node.items:
            if isinstance(item, Table):
                found.append(item)
            else:
                self.report.add(item.where, f"an entry of `{key}` must be a mapping, `key: value`")
        return found
