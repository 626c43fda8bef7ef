"""Diagnoses a job while it runs: reads what is added to its logs, and settles when the job has ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from diagnose.follow.ending import Rules
from diagnose.follow.follower import Follower
from diagnose.follow.logs import Logs
from diagnose.reason.result import Diagnosis
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.model import Catalogue
    from diagnose.facts.model import Observation
    from diagnose.facts.numbers import Metrics
    from diagnose.reason.slow import Reference

__all__ = ["Rules", "follow"]


def follow(
    paths: Sequence[str],
    catalogue: Catalogue,
    told: Callable[[Diagnosis], None],
    stop: threading.Event,
    *,
    rules: Rules | None = None,
    config: str | None = None,
    env: str | None = None,
    settings: Iterable[str] = (),
    golden: float | None = None,
    baseline: str | None = None,
    regression: float = 5.0,
    metrics: Metrics = "sampled",
) -> Diagnosis:
    """Diagnose a job while it runs, and return the diagnosis when it has ended; the one so far when `stop` is set.

    Arguments: `paths`, files, folders and globs, which need not exist yet; `catalogue`, the patterns; `told`, is handed
    each provisional diagnosis that differs from the one before; `rules`, when the job counts as ended; the others as
    in `diagnose.diagnose`.

    Raises as `diagnose.diagnose` does.
    """
    from diagnose import api
    from diagnose.reason import reason

    given: Sequence[Observation] = api.given_facts(config=config, env=env, settings=settings)
    reference: Reference = api.reference_of(golden, baseline, regression, catalogue, None)

    def diagnosis(logs: Logs) -> Diagnosis:
        return reason(logs.records(), catalogue, given=given, problems=logs.problems, reference=reference)

    restarts = frozenset(name for name, pattern in catalogue.patterns.items() if pattern.marks == "restart")
    logs = Logs(paths, catalogue, metrics)
    try:
        follower = Follower(logs, rules or Rules(), diagnosis, told, stop, restarts)
        return api.with_news(follower.run(), logs.sources, baseline)
    finally:
        logs.close()
