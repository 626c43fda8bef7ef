"""YAML files as trees that know where each key and value stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from diagnose.catalogue.model import Trouble
from diagnose.classes import dataclass, field
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 256 * 1024
MAX_DEPTH = 20
MAX_NODES = 20_000  # after aliases are followed
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_SWITCHES = frozenset(form for word in ("yes", "no", "on", "off") for form in (word, word.title(), word.upper()))


class Where(NamedTuple):
    """A place in a file; line and column count from 1."""

    path: str
    line: int
    column: int


@dataclass(slots=True)
class Scalar:
    """A single value: `kind` is text, number, flag, switch (yes, no, on, off) or null."""

    where: Where
    text: str
    kind: str
    shift: int | None = None  # columns from `where` to the text, where it stands in the file character by character
    weight: int = 1
    height: int = 1

    def at(self, column: int) -> Where:
        """Return the place of the text's `column`-th character (from 1), as exactly as it is known."""
        if self.shift is None:
            return self.where
        return Where(self.where.path, self.where.line, self.where.column + self.shift + column - 1)


@dataclass(slots=True)
class Items:
    """A list."""

    where: Where
    items: list[Node] = field(default_factory=list)
    weight: int = 1
    height: int = 1

    def add(self, node: Node) -> None:
        """Append a value."""
        self.items.append(node)
        self.weight += node.weight
        self.height = max(self.height, node.height + 1)


@dataclass(slots=True)
class Table:
    """A mapping: key text to (the key's place, value)."""

    where: Where
    pairs: dict[str, tuple[Where, Node]] = field(default_factory=dict)
    weight: int = 1
    height: int = 1

    def add(self, key: str, where: Where, node: Node) -> None:
        """Set a key."""
        self.pairs[key] = (where, node)
        self.weight += node.weight + 1
        self.height = max(self.height, node.height + 1)


Node = Scalar | Items | Table


def place_of(table: Table, *path: str | int) -> Where:
    """Return the place of a value in a tree; of the nearest mapping or list around it where it is not there."""
    node: Node = table
    for step in path:
        if isinstance(node, Table) and isinstance(step, str) and step in node.pairs:
            node = node.pairs[step][1]
        elif isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
    return node.where


class _StopError(Exception):
    """Ends the reading of one file with a trouble."""

    def __init__(self, where: Where, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.trouble = Trouble(*where, message, hint)


def read_document(path: str, data: bytes) -> tuple[Node | None, list[Trouble]]:
    """Read one YAML document.

    Arguments: the path to show in troubles, and the file's bytes. Returns the tree (None where it cannot be read) and
    what was wrong, each with line and column.
    """
    troubles: list[Trouble] = []
    try:
        return _Builder(path, troubles).build(_decode(path, data)), troubles
    except _StopError as stop:
        return None, [*troubles, stop.trouble]


def _decode(path: str, data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise _StopError(
            Where(path, 1, 1), f"the file is larger than {MAX_BYTES // 1024} KB", "one failure is one file"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        where = Where(path, before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
        raise _StopError(where, "the file is not UTF-8", "save it as UTF-8") from None


class _Builder:
    """Builds a tree from parser events, without recursion: a hostile file must not exhaust the stack."""

    def __init__(self, path: str, troubles: list[Trouble]) -> None:
        self._path = path
        self._troubles = troubles
        self._anchors: dict[str, Node] = {}
        self._open: list[tuple[Items | Table, str | None]] = []  # containers being filled, with their anchors
        self._keys: list[tuple[str, Where] | None] = []  # for each open table, the key that waits for its value
        self._root: Node | None = None
        self._documents = 0

    def build(self, text: str) -> Node | None:
        import yaml

        try:
            for event in _events(text):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = Where(self._path, mark.line + 1, mark.column + 1) if mark else Where(self._path, 1, 1)
            message = f"this is not YAML: {error.problem or error.context}"
            tabbed = mark is not None and text[mark.index : mark.index + 1] == "\t"
            raise _StopError(where, message, _TAB_HINT if tabbed else _yaml_hint(error.problem or "")) from None
        except yaml.reader.ReaderError as error:
            before = text[: error.position]
            where = Where(self._path, before.count("\n") + 1, error.position - before.rfind("\n"))
            raise _StopError(where, "a control character stands in the file", r"write \x1b in double quotes") from None
        if self._root is None:
            raise _StopError(Where(self._path, 1, 1), "the file is empty")
        return self._root

    def _take(self, event: Any) -> None:
        where = Where(self._path, event.start_mark.line + 1, event.start_mark.column + 1)
        match type(event).__name__:
            case "DocumentStartEvent":
                self._documents += 1
                if self._documents > 1:
                    raise _StopError(where, "the file holds a second YAML document", "one failure is one file")
            case "ScalarEvent":
                node = _scalar(event, where)
                self._remember(event.anchor, node)
                self._place(node)
            case "AliasEvent":
                if event.anchor not in self._anchors:
                    raise _StopError(
                        where, f"nothing above is called &{event.anchor}", "quote a text that begins with *"
                    )
                self._place(self._anchors[event.anchor], where)
            case "SequenceStartEvent":
                self._start(Items(where), event.anchor)
            case "MappingStartEvent":
                self._start(Table(where), event.anchor)
            case "SequenceEndEvent" | "MappingEndEvent":
                container, anchor = self._open.pop()
                self._keys.pop()
                self._remember(anchor, container)
                self._place(container)

    def _start(self, node: Items | Table, anchor: str | None) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _StopError(node.where, f"nested deeper than {MAX_DEPTH} levels")
        self._open.append((node, anchor))
        self._keys.append(None)

    def _remember(self, anchor: str | None, node: Node) -> None:
        if anchor is not None:
            self._anchors[anchor] = node

    def _place(self, node: Node, alias: Where | None = None) -> None:
        where = alias or node.where
        if not self._open:
            self._root = node
            return
        parent = self._open[-1][0]
        if isinstance(parent, Items):
            parent.add(node)
        elif (waiting := self._keys[-1]) is None:
            if not isinstance(node, Scalar):
                raise _StopError(where, "a key must be a word", "quote a text that begins with { or [")
            self._keys[-1] = (node.text, where)
        else:
            self._keys[-1] = None
            self._pair(parent, *waiting, node)
        if parent.weight > MAX_NODES or parent.height > MAX_DEPTH:
            raise _StopError(where, "the file is too large once its aliases are followed")

    def _pair(self, parent: Table, key: str, where: Where, node: Node) -> None:
        if key in parent.pairs:
            first = parent.pairs[key][0].line
            self._troubles.append(Trouble(*where, f"`{key}` is given twice", f"the first one is on line {first}"))
            return
        parent.add(key, where, node)


def _events(text: str) -> Iterator[Any]:
    import yaml

    parse: Callable[..., Iterator[Any]] = yaml.parse
    loader: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return parse(text, Loader=loader)


_TAB_HINT = "YAML is indented with spaces; put a text with tabs in double quotes and write \\t"


def _yaml_hint(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "a text that holds `: ` must stand in single quotes"
    if "while parsing a block mapping" in problem or "expected <block end>" in problem:
        return "look at the indentation and the quotes of the lines above; inside '…' a quote is written twice"
    if "unknown escape character" in problem:
        return "write expressions in single quotes: there a backslash is a backslash"
    if "cannot start any token" in problem:
        return "put the text in single quotes"
    return ""


def _scalar(event: Any, where: Where) -> Scalar:
    text: str = event.value
    if event.tag == "!" or (event.tag or "").endswith(":str") or not event.implicit[0]:
        one_line = event.style == "'" and "'" not in text and event.end_mark.line == event.start_mark.line
        return Scalar(where, text, "text", 1 if one_line else None)
    shift = 0 if event.end_mark.line == event.start_mark.line else None
    if text in _NULLS:
        kind = "null"
    elif text in _TRUE or text in _FALSE:
        kind = "flag"
    elif text in _SWITCHES:
        kind = "switch"
    else:
        kind = "text" if number(text) is None else "number"
    return Scalar(where, text, kind, shift)


def number(text: str) -> int | float | None:
    """Read a plain YAML number; None where the text is none."""
    if not text[:2].strip("+-.")[:1].isdigit() or "_" in text or not text.isascii():
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def plain(node: Node) -> Any:
    """Return a tree as plain Python values; yes, no, on and off stay text."""
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    if isinstance(node, Table):
        return {key: plain(value) for key, (_, value) in node.pairs.items()}
    if node.kind == "number":
        return number(node.text)
    if node.kind == "flag":
        return node.text in _TRUE
    return None if node.kind == "null" else node.text
