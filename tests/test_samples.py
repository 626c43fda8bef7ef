"""Every whole log in `samples/` is diagnosed as its header says."""

from __future__ import annotations

import re

import pytest

from diagnose.api import collect_all, load_catalogue
from diagnose.catalogue.model import Catalogue
from diagnose.read import find_sources
from diagnose.reason import Diagnosis, reason
from tests.samples import SAMPLES, Expected, all_samples


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The packaged catalogue, loaded once."""
    return load_catalogue()


def diagnosis_of(expected: Expected, catalogue: Catalogue) -> Diagnosis:
    """Diagnose one sample."""
    sources, problems = find_sources([str(expected.path)])
    assert not problems
    return reason(collect_all(sources, catalogue), catalogue, problems=problems)


def folded(text: str) -> str:
    """Fold white space, which prefixes and editors change."""
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.parametrize("expected", all_samples(), ids=lambda each: str(each.path.relative_to(SAMPLES)))
def test_sample(expected: Expected, catalogue: Catalogue) -> None:
    """The verdict, the root line, its rank and category, and the fallout are those of the header."""
    diagnosis = diagnosis_of(expected, catalogue)
    root = diagnosis.root_cause
    assert diagnosis.verdict in expected.verdict, diagnosis.summary
    if expected.category:
        assert (root.category if root else "none") in expected.category
    if expected.pattern:
        assert (root.pattern if root else "none") in expected.pattern
    if expected.root_line is not None:
        assert root is not None
        assert root.evidence[0].line == expected.root_line, root.evidence[0].text
    if expected.root_text and not (root is None and "none" in expected.category):
        assert root is not None
        assert folded(root.evidence[0].text) in [folded(text) for text in expected.root_text]
    if expected.rank:
        assert root is not None
        assert str(root.evidence[0].rank) in expected.rank
    assert set(expected.fallout) <= {each.pattern for each in diagnosis.fallout}
