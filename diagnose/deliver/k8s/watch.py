"""Follows workloads and pods; each failure is diagnosed once."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from diagnose.classes import dataclass
from diagnose.deliver.k8s.api import Cluster, KubernetesError
from diagnose.deliver.k8s.pods import Capture, events
from diagnose.deliver.k8s.workload import KINDS, Failure, Kind, address, failure_of
from diagnose.deliver.ledger import Ledger
from diagnose.deliver.model import Event
from diagnose.deliver.task import Announced, Task, Text
from diagnose.deliver.worker import run_boxed

_LONGEST_PAUSE = 300.0  # seconds, while the cluster does not answer
_ABSENT = frozenset((403, 404))  # the kind is not installed, or may not be listed


@dataclass(frozen=True, slots=True)
class Seen:
    """One failed workload, and what was found."""

    failure: Failure
    announced: Announced


class Watch:
    """Looks at a cluster again and again."""

    def __init__(
        self,
        cluster: Cluster,
        ledger: Ledger,
        *,
        namespaces: Sequence[str] = (),
        name: str = "",
        settings: str | None = None,
        timeout: float = 120.0,
        oldest: float = 86_400.0,
        announce: Callable[[Task, float], Announced] = run_boxed,
    ) -> None:
        """Arguments: the cluster; what remembers the failures that were told; the namespaces, all where there is none;
        the cluster's name for messages; the configuration file; seconds of one diagnosis; seconds after which a failure
        is too old to be told; `announce` is for tests.
        """
        self._cluster = cluster
        self._ledger = ledger
        self._namespaces = tuple(namespaces) or ("",)
        self._name = name
        self._settings = settings
        self._timeout = timeout
        self._oldest = oldest
        self._announce = announce
        self._capture = Capture(cluster)
        self.absent: set[str] = set()  # kinds that this cluster does not have, or does not show

    def look(self) -> list[Seen]:
        """Diagnose every workload that failed since; raises KubernetesError where the cluster does not answer."""
        found: list[Seen] = []
        self.absent.clear()
        for namespace in self._namespaces:
            for kind in KINDS:
                for failure in self._failures(kind, namespace):
                    if not self._old(failure) and self._ledger.claim(failure.key):
                        found.append(Seen(failure, self._announce(self._task(failure), self._timeout)))
        return found

    def listen(self, seconds: float) -> None:
        """Follow the pods for a time, and keep the log of every container that fails: it may be gone a moment later."""
        share = max(1.0, seconds / len(self._namespaces))
        for namespace in self._namespaces:
            path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
            for change in self._cluster.watch(path, share):
                if change.get("type") in ("ADDED", "MODIFIED", "DELETED"):
                    self._capture.see(change.get("object") or {})

    def follow(self, interval: float, tell: Callable[[Seen], None], complain: Callable[[str], None]) -> None:
        """Look and listen until interrupted, a look every `interval` seconds.

        `tell` is called with every failed workload, `complain` with a sentence when the cluster does not answer; the
        pauses double then, up to 5 minutes.
        """
        from diagnose.deliver.notify import repay
        from diagnose.deliver.settings import load_settings

        notify = load_settings(self._settings).notify
        pause = interval
        while True:
            try:
                for seen in self.look():
                    tell(seen)
                if notify.entries:
                    repay(notify)
                self.listen(interval)
                pause = interval
            except KubernetesError as error:
                complain(f"{error}; the next look is in {pause:.0f} s")
                time.sleep(pause * random.uniform(0.9, 1.1))
                pause = min(_LONGEST_PAUSE, 2 * pause)

    def _old(self, failure: Failure) -> bool:
        from datetime import datetime

        try:
            return time.time() - datetime.fromisoformat(failure.time).timestamp() > self._oldest
        except ValueError:
            return False

    def _failures(self, kind: Kind, namespace: str) -> list[Failure]:
        try:
            items = self._cluster.items(address(kind, namespace))
        except KubernetesError as error:
            if error.status not in _ABSENT:
                raise
            self.absent.add(kind.name)
            return []
        return [failure for item in items if (failure := failure_of(kind, item)) is not None]

    def _task(self, failure: Failure) -> Task:
        kind, job = failure.kind, failure.owner if failure.kind.name == "Workload" else failure.name
        texts: list[Text] = []
        if kind.label:
            selector = {"labelSelector": f"{kind.label}={failure.name}"}
            for pod in self._cluster.items(f"/api/v1/namespaces/{failure.namespace}/pods", **selector):
                self._capture.see(pod, all_logs=True)
            texts = self._capture.texts(failure.namespace, kind.label, failure.name)
        try:
            about = events(self._cluster, failure.namespace, [job or failure.name, failure.name])
        except KubernetesError:
            about = ""
        words = " ".join(failure.message.split())
        end = f"{failure.time} Warning {failure.reason} {kind.name.lower()}/{failure.name} {words}\n"
        texts.append(Text(f"{failure.namespace}/{failure.name}/events", about + end))
        event = Event(
            "k8s",
            f"{failure.namespace}/{job or failure.name}",
            job or failure.name,
            failure.user,
            self._name,
            tuple(text.path for text in texts),
            failure.time,
            failure.reason,
        )
        return Task(event, texts=tuple(texts), settings=self._settings)
