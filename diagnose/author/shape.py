"""What the checker looks at in the file itself: blanks that nobody filled in, the order of fixes, references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.catalogue.document import Items, Node, Scalar, Table, Where
from diagnose.catalogue.model import Pattern

BLANK = "FILL IN:"  # begins every text that a skeleton leaves to its author


def blanks(node: Node) -> Iterator[Where]:
    """Yield the places of texts that still begin with FILL IN."""
    if isinstance(node, Scalar):
        if node.text.lstrip().startswith(BLANK):
            yield node.where
        return
    for child in node.items if isinstance(node, Items) else [pair[1] for pair in node.pairs.values()]:
        yield from blanks(child)


def disorder(table: Table, shared: Sequence[str]) -> tuple[Where, str, str] | None:
    """Find the first fix that stands before one which the shared list of fixes puts first.

    Arguments: the file's tree; the ids of the shared fixes in their order. A shared fix that is changed here (by other
    keys beside `use`) may stand anywhere. Returns the place, the fix, and the one that should stand behind it.
    """
    fixes = table.pairs.get("fixes")
    if fixes is None or not isinstance(fixes[1], Items):
        return None
    positions = {name: number for number, name in enumerate(shared)}
    last = (-1, "")
    for entry in fixes[1].items:
        use = entry.pairs.get("use") if isinstance(entry, Table) and len(entry.pairs) == 1 else None
        if use is None or not isinstance(use[1], Scalar) or use[1].text not in positions:
            continue
        here = (positions[use[1].text], use[1].text)
        if here < last:
            return use[1].where, here[1], last[1]
        last = here
    return None


def unsupported(pattern: Pattern) -> bool:
    """Tell whether a pattern that is called stable names no source."""
    return pattern.status == "stable" and not pattern.references
