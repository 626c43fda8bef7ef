"""Lists the settings that runs do not share, those first that the catalogue asks about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnose.catalogue.condition import parse
from diagnose.catalogue.model import Catalogue
from diagnose.reason.compare.model import Difference
from diagnose.reason.result import ConfigValue, Run

# Different in any two runs, and never the reason for a difference between them.
_ALWAYS = frozenset({"master_addr", "master_port", "local_rank", "rank", "slurm_job_id", "job_id", "hostname"})


def config_differences(runs: Sequence[Run], catalogue: Catalogue) -> tuple[Difference, ...]:
    """List differing configuration keys."""
    return _differences([run.config for run in runs], _asked(catalogue, "config."))


def environment_differences(runs: Sequence[Run], catalogue: Catalogue) -> tuple[Difference, ...]:
    """List differing environment variables."""
    return _differences([run.environment for run in runs], _asked(catalogue, "env."))


def version_differences(runs: Sequence[Run]) -> tuple[Difference, ...]:
    """List programs whose versions differ."""
    values = [{name: ConfigValue(version, "") for name, version in run.versions.items()} for run in runs]
    return _differences(values, frozenset())


def _differences(values: Sequence[Mapping[str, ConfigValue]], asked: frozenset[str]) -> tuple[Difference, ...]:
    # A run that shows nothing of the kind does not differ: nobody knows.
    keys = {key for each in values for key in each if all(values) and key.lower() not in _ALWAYS}
    found = [Difference(key, tuple(each.get(key) for each in values), key in asked) for key in keys]
    differing = [each for each in found if len({repr(value.value) if value else "" for value in each.values}) > 1]
    return tuple(sorted(differing, key=lambda each: (not each.asked, each.key)))


def _asked(catalogue: Catalogue, prefix: str) -> frozenset[str]:
    conditions = (*catalogue.predictions.values(), *catalogue.later.values(), *catalogue.comparisons.values())
    names = {name for condition in conditions for name in parse(condition).names}
    bare = {name.removeprefix("before.").removeprefix("after.") for name in names}
    return frozenset(name.removeprefix(prefix) for name in bare if name.startswith(prefix))
