"""Loads the catalogue, from the cache where it can, and checks pattern files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from diagnose.catalogue.cache import fetch, fetch_shipped, store
from diagnose.catalogue.layers import Layers, find_layers
from diagnose.catalogue.model import Catalogue, Trouble
from diagnose.classes import dataclass
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from diagnose.catalogue.document import Table


def load(*, extra: Sequence[Path | str] = (), layers: bool = True, cache: bool = True) -> Catalogue:
    """Load all patterns in force.

    Arguments: `extra` folders or files of patterns, later ones win; `layers` False leaves out the site's, the user's
    and the project's; `cache` False reads every file anew. Never raises for what is wrong in a file: see `troubles`.
    """
    found = find_layers(extra, layers=layers)
    cached = (fetch(found) or fetch_shipped(found)) if cache else None
    if cached is not None:
        return cached
    from diagnose.catalogue.assemble import assemble

    catalogue = assemble(found).catalogue()
    if not cache:
        return catalogue
    from diagnose.catalogue.examined import EXAMINED

    EXAMINED.save()
    return store(found, catalogue)


@dataclass(frozen=True, slots=True)
class Checked:
    """Pattern files that were read to be looked over."""

    catalogue: Catalogue  # of all layers, these files among them
    tables: dict[str, Table]  # the trees of the patterns that these files define, by id
    troubles: list[Trouble]  # of these files, by path and line
    shared_fixes: tuple[str, ...]  # ids, in their order


def check_files(paths: Iterable[Path], *, layers: bool = True) -> list[Trouble]:
    """Check pattern files: everything that `load` checks, and their expressions tried on samples and hostile texts.

    Arguments: files or folders. One that belongs to no layer is checked as if it were laid over them. Returns the
    troubles of these files, by path and line.
    """
    return examine_files(paths, layers=layers).troubles


def examine_files(paths: Iterable[Path], *, layers: bool = True, samples: bool = True) -> Checked:
    """Do the same and return what was read, too; without `samples` no expression is tried."""
    from diagnose.catalogue.assemble import assemble
    from diagnose.catalogue.form import Report
    from diagnose.catalogue.samples import try_samples

    given = list(paths)
    found = find_layers(given, layers=layers)
    wanted = _shown(found, given)
    state = assemble(found)
    tables = {id: state.tables[id] for id, pattern in state.patterns.items() if pattern.origin in wanted}
    for id, table in tables.items() if samples else ():
        report = Report()
        try_samples(report, state.patterns[id], table)
        state.report.troubles += report.troubles
    named = {str(path) for path in given}
    troubles = {each for each in state.report.troubles if each.path in wanted or each.path in named}
    ordered = sorted(troubles, key=lambda each: (each.path, each.line, each.column, each.message))
    return Checked(state.catalogue(), tables, ordered, tuple(state.shared["fixes"]))


def _shown(found: Layers, given: Sequence[Path]) -> set[str]:
    """Return the files, as shown in troubles, that lie at or under the given paths."""
    roots = [os.path.realpath(path) for path in given]
    return {
        file.path
        for file in found.files
        if any(
            os.path.realpath(file.path) == root or os.path.realpath(file.path).startswith(root + os.sep)
            for root in roots
        )
    }
