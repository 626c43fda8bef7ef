"""What the iteration lines and the speakers of one source told, read off its bytes without any pattern."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.classes import dataclass, field
from diagnose.facts.model import Held, Step
from diagnose.facts.progress import ProgressMeter
from diagnose.facts.reader import TextView
from diagnose.facts.series import Survey
from diagnose.facts.series_meter import SeriesMeter
from diagnose.facts.surveys import surveys_of
from diagnose.facts.voices import VoiceMeter, Voices, voices_of
from diagnose.read.model import Source
from diagnose.scan import Meter, Watcher
from diagnose.typed import Literal

Metrics = Literal["all", "sampled", "off"]


@dataclass(slots=True)
class Meters:
    """Who reads numbers and speakers off one source while it is scanned."""

    progress: ProgressMeter = field(default_factory=ProgressMeter)
    voices: VoiceMeter = field(default_factory=VoiceMeter)
    series: SeriesMeter = field(default_factory=SeriesMeter)

    def sampled(self, metrics: Metrics) -> Sequence[Meter]:
        """Return those that see a sample of a large source."""
        return (self.progress, self.voices, self.series) if metrics == "sampled" else (self.progress, self.voices)

    def always(self, metrics: Metrics) -> Sequence[Watcher]:
        """Return those that see all of it."""
        return (self.series,) if metrics == "all" else ()


@dataclass(slots=True)
class Numbers:
    """What the meters of one source told."""

    steps: list[Step]
    voices: Voices | None  # None: its path says which rank speaks
    held: Held
    surveys: list[Survey]
    sampled: bool = False  # whether they saw a sample only


def numbers_of(
    meters: Meters, source: Source, text: TextView, modified: float | None, *, sampled: bool, brief: bool = False
) -> Numbers:
    """Ask the meters of a source that was read; they are used up.

    `modified` is a time close to its last line, in seconds since the epoch; `brief` as in `collect`.
    """
    alone = source.rank is not None
    return Numbers(
        meters.progress.steps(text, few=brief),
        None if alone else voices_of(meters.voices, text, source.node, modified),
        "no" if alone else meters.voices.held(text),
        surveys_of(meters.series, text, brief=brief),
        sampled,
    )
