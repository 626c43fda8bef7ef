"""What hooks and notifiers share: the event that a diagnosis belongs to, settings, and what became of a delivery."""

from __future__ import annotations

from diagnose.classes import dataclass
from diagnose.typed import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from diagnose.catalogue.document import Table
    from diagnose.reason.result import Diagnosis

Origin = Literal["wrap", "slurm", "k8s", "serve"]


@dataclass(frozen=True, slots=True)
class Event:
    """One failed job, as the place that announced it knows it."""

    source: Origin
    job_id: str = ""  # "123", "123_4", a pod's or a job's name
    name: str = ""  # what the user called the job
    user: str = ""
    cluster: str = ""
    paths: tuple[str, ...] = ()  # the logs
    time: str = ""  # when it ended, ISO 8601
    state: str = ""  # in the scheduler's words: "FAILED", "TIMEOUT"; "exit 3" or "SIGKILL" from wrap


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one delivery."""

    notifier: str  # its name in the settings
    ok: bool
    error: str = ""  # one sentence
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """The `notify` section of diagnose.yaml as it stands, each value with its place; notifiers read their own entry."""

    entries: tuple[Table, ...] = ()


class Deliver(Protocol):
    """`deliver.notify.deliver`: tells everybody who is to be told; never raises."""

    def __call__(self, diagnosis: Diagnosis, event: Event, settings: NotifySettings) -> list[Outcome]:
        """Deliver a diagnosis through every notifier of the settings."""
