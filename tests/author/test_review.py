"""What a reviewer says of pattern files."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.author import Remark, review
from diagnose.author.healthy import alarms, healthy_sources, recovered_in
from diagnose.author.shape import disorder
from diagnose.catalogue import load
from diagnose.catalogue.document import Table, read_document

GOOD = """\
id: fleet-shard-gone
title: A shard is gone
category: storage
role: root
status: stable
match:
  - regex: 'shard (?P<shard>\\d+) of fleet is gone'
checks: []
causes: [{id: lost, text: It was lost.}]
fixes: [{id: copy, text: Copy it again.}]
references: [fleet.py]
samples:
  match: [{text: 'shard 3 of fleet is gone'}]
  no_match: [{text: 'shard 3 of fleet is here', why: it is here}]
"""


def remarks(folder: Path, text: str, *skip: str) -> list[Remark]:
    """Review one file."""
    path = folder / "fleet-shard-gone.yaml"
    path.write_text(text)
    return review([path], skip=skip, layers=False)


def checks(folder: Path, text: str) -> list[tuple[str, bool]]:
    """Name the checks that say something, and whether it is an error."""
    return [(each.check, each.grave) for each in remarks(folder, text)]


def test_nothing_to_say(tmp_path: Path) -> None:
    """A good file passes every check."""
    assert remarks(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("It was lost.", "'FILL IN: why'", ("blanks", True)),
        ("references: [fleet.py]", "references: []", ("format", True)),
        ("category: storage", "category: shop", ("format", True)),
        ("is gone'\nchecks", "is gone'\n  - regex: 'fleet shard \\d+ went away'\nchecks", ("alternatives", False)),
        ("shard (?P<shard>\\d+) of fleet is gone", "iteration|shard \\d+ of fleet is gone", ("literals", False)),
    ],
)
def test_weaknesses(tmp_path: Path, old: str, new: str, said: tuple[str, bool]) -> None:
    """Each check finds what it is for; errors are told from warnings."""
    assert said in checks(tmp_path, GOOD.replace(old, new))


def test_a_root_that_fires_on_a_healthy_log(tmp_path: Path) -> None:
    """A log of a healthy run that the pattern calls failed is an error that names log and line."""
    found = remarks(
        tmp_path,
        GOOD.replace(
            "shard (?P<shard>\\d+) of fleet is gone", "Process group has been destroyed|epoch 0 finished, 0 errors"
        ),
    )
    (told,) = [each.trouble.message for each in found if each.check == "healthy" and each.grave][:1]
    assert "`fleet-shard-gone` calls a healthy log failed: bad-samples-skipped.log:16: " in told


def test_what_a_healthy_log_is_there_to_show_is_no_warning() -> None:
    """A healthy log's header names the patterns whose lines the run got over; they are not told again."""
    (path,) = [each for each in healthy_sources() if str(each.path).endswith("/ib-port-flap.log")]
    assert recovered_in(path) == {"nic-port-error"}
    catalogue = load(layers=False)
    assert list(alarms(catalogue, [catalogue.patterns["nic-port-error"]])) == []


def test_checks_can_be_left_out(tmp_path: Path) -> None:
    """`skip` leaves out a check by its name."""
    text = GOOD.replace("It was lost.", "'FILL IN: why'")
    assert remarks(tmp_path, text, "blanks") == []


def tree(text: str) -> Table:
    """Read a file's tree."""
    node, _ = read_document("x.yaml", text.encode())
    assert isinstance(node, Table)
    return node


def test_order_of_shared_fixes() -> None:
    """Shared fixes keep the shared order; one that the file changes may stand anywhere."""
    shared = ("cheap", "dear")
    wrong = disorder(tree("fixes:\n  - use: dear\n  - use: cheap\n"), shared)
    assert wrong is not None
    assert (wrong[0].line, wrong[1:]) == (3, ("cheap", "dear"))
    assert disorder(tree("fixes:\n  - use: cheap\n  - use: dear\n"), shared) is None
    assert disorder(tree("fixes:\n  - use: dear\n    when: run.planned\n  - use: cheap\n"), shared) is None
