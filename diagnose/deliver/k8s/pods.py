"""What is kept of pods: the end of each container's log, how it ended, and the events around it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from diagnose.deliver.k8s.api import Cluster, KubernetesError
from diagnose.deliver.task import Text
from diagnose.typed import Any

_LINES = 20_000  # of one log
_BYTES = 4 * 1024 * 1024  # of one log
_KEPT = 64 * 1024 * 1024  # bytes of logs that are kept until their workload's end is known
_EVENTS = 500


class Capture:
    """Takes logs while their pods are still there: a workload that starts again removes its pods first."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._texts: OrderedDict[str, Text] = OrderedDict()  # by namespace/pod/container and start
        self._ends: dict[str, tuple[str, ...]] = {}  # by namespace/pod: how its containers ended
        self._labels: dict[str, Mapping[str, str]] = {}  # by namespace/pod
        self._size = 0

    def see(self, pod: Mapping[str, Any], *, all_logs: bool = False) -> None:
        """Look at a pod: keep the logs of containers that failed, or of all with `all_logs`."""
        about = pod.get("metadata") or {}
        name = f"{about.get('namespace')}/{about.get('name')}"
        status = pod.get("status") or {}
        ends = list(_ends(pod))
        if ends or all_logs:
            self._labels[name] = about.get("labels") or {}
            self._ends[name] = tuple(dict.fromkeys((*self._ends.get(name, ()), *ends)))
        for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
            for state, previous in ((container.get("lastState"), True), (container.get("state"), False)):
                ended = (state or {}).get("terminated") or {}
                running = not previous and (state or {}).get("running")
                if (ended and (ended.get("exitCode") or all_logs)) or (running and all_logs):
                    self._read(pod, container.get("name") or "", ended.get("startedAt") or "", previous=previous)

    def texts(self, namespace: str, label: str, value: str) -> list[Text]:
        """Give what was kept of the pods with this label, and forget it."""
        names = [
            name
            for name, labels in self._labels.items()
            if name.startswith(f"{namespace}/") and label and labels.get(label) == value
        ]
        found = [self._take(key) for key in [key for key in self._texts if key.rsplit("/", 1)[0] in names]]
        lines = [line for name in names for line in self._ends.pop(name, ())]
        for name in names:
            del self._labels[name]
        return found + ([Text(f"{namespace}/{value}/pods", "\n".join(lines) + "\n")] if lines else [])

    def _read(self, pod: Mapping[str, Any], container: str, started: str, *, previous: bool) -> None:
        about = pod.get("metadata") or {}
        namespace, name = about.get("namespace"), about.get("name")
        key = f"{namespace}/{name}/{container}@{started}"
        if started and key in self._texts:
            return
        query = {"container": container, "tailLines": str(_LINES), "limitBytes": str(_BYTES), "timestamps": "true"}
        if previous:
            query["previous"] = "true"
        try:
            log = self._cluster.text(f"/api/v1/namespaces/{namespace}/pods/{name}/log", **query)
        except KubernetesError:
            return  # gone, or never started: the pod's state and the events still tell
        if not log:
            return
        if key in self._texts:
            self._take(key)
        node = str((pod.get("spec") or {}).get("nodeName") or "")
        shown = f"{namespace}/{name}/{container}" + ("/previous" if previous else "")
        self._texts[key] = Text(shown, log.decode("utf-8", "replace"), node=node)
        self._size += len(log)
        while self._size > _KEPT and len(self._texts) > 1:
            self._take(next(iter(self._texts)))

    def _take(self, key: str) -> Text:
        text = self._texts.pop(key)
        self._size -= len(text.content)
        return text


def _ends(pod: Mapping[str, Any]) -> Iterable[str]:
    """Write how a pod's containers ended, in the words that Kubernetes uses."""
    about, status = pod.get("metadata") or {}, pod.get("status") or {}
    name, node = about.get("name"), (pod.get("spec") or {}).get("nodeName") or "no node"
    if status.get("reason"):
        words = " ".join(str(status.get("message") or "").split())
        yield f"{_stamp(status.get('startTime'))}Pod {name} on {node}: {status['reason']}: {words}"
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        for state in (container.get("lastState") or {}, container.get("state") or {}):
            ended, waiting = state.get("terminated"), state.get("waiting")
            if ended and ended.get("exitCode"):
                reason, words = ended.get("reason") or "Error", " ".join(str(ended.get("message") or "").split())[:500]
                yield (
                    f"{_stamp(ended.get('finishedAt'))}Pod {name} terminated with exit code {ended['exitCode']} "
                    f"({reason}) in container {container.get('name')} on {node}{': ' if words else ''}{words}"
                )
            elif waiting and waiting.get("message"):
                words = " ".join(str(waiting["message"]).split())[:500]
                yield f"Pod {name} waits on {node}: {waiting.get('reason')}: {words}"


def events(cluster: Cluster, namespace: str, names: Iterable[str]) -> str:
    """Write the events about objects with these names, or names that begin with them, oldest first."""
    wanted = tuple(names)
    found = []
    for event in cluster.items(f"/api/v1/namespaces/{namespace}/events"):
        about = event.get("involvedObject") or {}
        name = str(about.get("name") or "")
        if any(name == each or name.startswith(f"{each}-") for each in wanted):
            moment = event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp") or ""
            words = " ".join(str(event.get("message") or "").split())[:1000]
            kind = f"{str(about.get('kind') or '').lower()}/{name}"
            found.append((str(moment), f"{event.get('type')} {event.get('reason')} {kind} {words}"))
    found.sort(key=lambda pair: pair[0])
    return "".join(f"{_stamp(moment)}{line}\n" for moment, line in found[-_EVENTS:])


def _stamp(moment: Any) -> str:
    return f"{moment} " if moment else ""
