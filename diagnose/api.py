"""The library's face: paths in, diagnosis out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnose.catalogue.model import Catalogue
from diagnose.facts.model import Event, Observation, SourceRecord
from diagnose.read.model import Problem, Source
from diagnose.reason.result import Diagnosis
from diagnose.typed import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

    from diagnose.ahead import Ahead
    from diagnose.facts.many import Progress
    from diagnose.facts.numbers import Metrics
    from diagnose.facts.probe import Probe
    from diagnose.reason.compare import Comparison
    from diagnose.reason.forecast import Forecast
    from diagnose.reason.slow import Reference


def diagnose(
    paths: Sequence[str | Path],
    *,
    config: str | Path | None = None,
    env: str | Path | None = None,
    settings: Iterable[str] = (),
    patterns: Iterable[str | Path] = (),
    catalogue: Catalogue | None = None,
    engine: str | None = None,
    stdin: BinaryIO | None = None,
    extra: Sequence[Source] = (),
    golden: float | None = None,
    baseline: str | Path | None = None,
    regression: float = 5.0,
    metrics: Metrics = "sampled",
    jobs: int | None = None,
    progress: Progress | None = None,
    ahead: Ahead | None = None,
) -> Diagnosis:
    """Diagnose a job from what it left behind.

    Arguments: `paths`, files, folders, globs, or "-" for `stdin`; `config`, the run's configuration (YAML, JSON or a
    launch script); `env`, a file of NAME=value lines; `settings`, facts as KEY=VALUE; `patterns`, folders of further
    pattern files; `catalogue`, a loaded one in place of the packaged one; `engine`, a scan engine by name; `extra`,
    further sources that lie in no file (see `Source.content`); `golden`, the TFLOP/s/GPU that the run should reach;
    `baseline`, the log of a good run, for its speed and for what it printed; `regression`, percent below either from
    which on the run is degraded; `metrics`, "all" iteration lines, those of a sample of large logs ("sampled"), or
    "off"; `jobs`, `progress` and `ahead` as in `collect_all`.

    Raises ConfigFileError where `config`, `env` or a setting cannot be read, and BaselineError where `baseline` cannot.
    Inputs that cannot be read do not raise: they stand in the result's inputs.
    """
    from diagnose.read import find_sources
    from diagnose.reason import reason

    given = given_facts(config=config, env=env, settings=settings)
    catalogue = catalogue or load_catalogue(patterns)
    sources, problems = find_sources([str(path) for path in paths])
    reference = reference_of(golden, baseline, regression, catalogue, engine)
    records = collect_all(
        [*sources, *extra],
        catalogue,
        engine=engine,
        stdin=stdin,
        metrics=metrics,
        jobs=jobs,
        progress=progress,
        ahead=ahead,
    )
    diagnosis = reason(records, catalogue, given=given, problems=problems, reference=reference)
    return with_news(diagnosis, sources, baseline)


def with_news(diagnosis: Diagnosis, sources: Sequence[Source], baseline: str | Path | None) -> Diagnosis:
    """Add what is new in the logs: against a good run, or, where no pattern knows the failure, against themselves."""
    unexplained = diagnosis.verdict == "unknown" and diagnosis.root_cause is None
    if diagnosis.verdict in ("no_failure", "degraded") or not (unexplained or baseline):
        return diagnosis
    from diagnose.classes import replace
    from diagnose.facts.templates import known_templates, novel_lines
    from diagnose.read import find_sources

    known = known_templates(find_sources([str(baseline)])[0]) if baseline else None
    news = novel_lines(sources, known)
    return replace(diagnosis, notes=news) if news else diagnosis


def reference_of(
    golden: float | None, baseline: str | Path | None, regression: float, catalogue: Catalogue, engine: str | None
) -> Reference:
    from diagnose.read import find_sources
    from diagnose.reason.slow import BaselineError, Reference, baseline_of

    if golden is not None and not 0 < golden < 1e6:
        raise ValueError(f"golden must be a positive number of TFLOP/s/GPU, not {golden}")
    if baseline is None:
        return Reference(golden, regression=regression)
    sources, problems = find_sources([str(baseline)])
    if not sources:
        raise BaselineError(f"{baseline}: {problems[0].what if problems else 'there is nothing to read'}")
    steady, path = baseline_of(collect_all(sources, catalogue, engine=engine)) or (None, str(baseline))
    return Reference(golden, steady, path, regression)


def forecast(
    config: str | Path | None = None,
    *,
    arguments: Sequence[str] = (),
    env: str | Path | None = None,
    settings: Iterable[str] = (),
    versions: Iterable[str] = (),
    framework: str | None = None,
    patterns: Iterable[str | Path] = (),
    catalogue: Catalogue | None = None,
) -> Forecast:
    """Judge a configuration that has not run: what would fail, in which releases, and which fixes to try.

    Arguments: `config`, a file (YAML, JSON, TOML, launch script, arguments); `arguments`, a command line or overrides,
    which go over the file; `env`, a file of NAME=value lines; `settings`, facts as KEY=VALUE; `versions`, such as
    "core=0.16.1"; `framework`, what constructs it (megatron-core, megatron-lm, megatron-bridge, nemo), taken from the
    file's form where None; `patterns`, folders of further pattern files; `catalogue`, a loaded one in place of the
    packaged one.

    Raises ConfigFileError where a file cannot be read, ValueError where a setting or a version cannot.
    """
    from diagnose.facts.intended import intended_facts
    from diagnose.reason.forecast import forecast as judge

    given, constructor = intended_facts(
        config=config, arguments=arguments, env=env, settings=settings, versions=versions, framework=framework
    )
    return judge(catalogue or load_catalogue(patterns), given, constructor)


class UnreadableError(ValueError):
    """A run that is to be compared cannot be read; the text says which and why."""


def compare(
    runs: Sequence[str | Path],
    *,
    settings: Iterable[str] = (),
    margin: float = 1.0,
    patterns: Iterable[str | Path] = (),
    catalogue: Catalogue | None = None,
    engine: str | None = None,
) -> Comparison:
    """Compare runs; every later one is held against the first.

    Arguments: `runs`, two or more, each a log, a folder or a glob; `settings`, facts as KEY=VALUE that hold for all;
    `margin`, the percentage below which a difference means nothing in practice; `patterns`, folders of further pattern
    files; `catalogue`, a loaded one in place of the packaged one; `engine`, a scan engine by name.

    Raises UnreadableError where nothing of a run can be read, ValueError where there are fewer than two runs or a
    setting is none.
    """
    from diagnose.reason.compare import compare as compared

    paths = [str(run) for run in runs]
    if len(paths) < 2:
        raise ValueError("a comparison needs at least two runs")
    catalogue = catalogue or load_catalogue(patterns)
    given = given_facts(settings=settings)
    records = [_records(path, catalogue, engine) for path in paths]
    return compared([*zip(_names(paths), paths, records, strict=True)], catalogue, given=given, margin=margin)


def _records(path: str, catalogue: Catalogue, engine: str | None) -> list[SourceRecord]:
    from diagnose.read import find_sources

    sources, problems = find_sources([path])
    records = collect_all(sources, catalogue, engine=engine)
    if any(record.bytes or not record.problems for record in records):
        return records
    reasons = [*(each.what for each in problems), *(each for record in records for each in record.problems)]
    raise UnreadableError(f"{path}: {reasons[0] if reasons else 'nothing to read'}")


def _names(paths: Sequence[str]) -> list[str]:
    """Give each path a short name that no other has: its last part, or as many parts as it takes."""
    from pathlib import Path

    parts = [Path(path).parts for path in paths]
    for length in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(each[-length:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{path} ({number})" for number, path in enumerate(paths, 1)]


def load_catalogue(patterns: Iterable[str | Path] = ()) -> Catalogue:
    """Load the pattern files of all layers; `patterns` are further folders, the strongest layer."""
    from diagnose.catalogue import load

    return load(extra=[str(each) for each in patterns])


def collect_all(
    sources: Sequence[Source],
    catalogue: Catalogue,
    *,
    engine: str | None = None,
    stdin: BinaryIO | None = None,
    metrics: Metrics = "sampled",
    jobs: int | None = None,
    progress: Progress | None = None,
    ahead: Ahead | None = None,
) -> list[SourceRecord]:
    """Scan every source and return the records in the same order; they are the same with any number of processes.

    Arguments, beside those of `diagnose`: `jobs`, how many processes read, None for one a processor (at most eight)
    where there is much to read; `progress`, called with the bytes that were read and those in all; `ahead`, a process
    that reads the numbers of the only source already.
    """
    from diagnose.facts.many import collect_many
    from diagnose.facts.probe import prepare

    probe = prepare(catalogue, engine=engine)
    return collect_many(sources, probe, jobs=jobs, stdin=stdin, metrics=metrics, progress=progress, ahead=ahead)


def match_text(text: str, catalogue: Catalogue, *, probe: Probe | None = None) -> list[Event]:
    """Run a few lines through the scanner and the collector, in memory, and return the events.

    Arguments: the lines; the catalogue; `probe`, the catalogue made ready by `prepare`, for those who match many texts.
    """
    import io

    from diagnose.facts.collect import collect, prepare

    record = collect(Source("-"), probe or prepare(catalogue), stdin=io.BytesIO(text.encode()))
    return record.events


def given_facts(
    *, config: str | Path | None = None, env: str | Path | None = None, settings: Iterable[str] = ()
) -> list[Observation]:
    """Read the facts that the user hands in; raises ConfigFileError with path:line:column."""
    found: list[Observation] = []
    settings = list(settings)
    if config is None and env is None and not settings:
        return found
    from diagnose.facts.config_file import parse_set, read_config_file, read_env_file

    if config is not None:
        found.extend(read_config_file(str(config)))
    if env is not None:
        found.extend(read_env_file(str(env)))
    for setting in settings:
        found.append(parse_set(setting))
    return found


__all__ = [
    "Diagnosis",
    "Problem",
    "UnreadableError",
    "collect_all",
    "compare",
    "diagnose",
    "forecast",
    "given_facts",
    "load_catalogue",
    "match_text",
]
