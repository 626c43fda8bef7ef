"""What fails in a cluster: Jobs, JobSets, TrainJobs, PyTorchJobs, and workloads that Kueue evicts."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.classes import dataclass
from diagnose.typed import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of workload, and how its pods and its end are found."""

    name: str
    path: str  # of the API, without the namespace
    plural: str
    label: str  # of the pods; its value is the workload's name
    failed: str = "Failed"  # the condition that says so


KINDS = (
    Kind("TrainJob", "/apis/trainer.kubeflow.org/v1alpha1", "trainjobs", "jobset.sigs.k8s.io/jobset-name"),
    Kind("JobSet", "/apis/jobset.x-k8s.io/v1alpha2", "jobsets", "jobset.sigs.k8s.io/jobset-name"),
    Kind("PyTorchJob", "/apis/kubeflow.org/v1", "pytorchjobs", "training.kubeflow.org/job-name"),
    Kind("Job", "/apis/batch/v1", "jobs", "job-name"),
    Kind("Workload", "/apis/kueue.x-k8s.io/v1beta1", "workloads", "", "Evicted"),
)
_OWNERS = frozenset(("TrainJob", "JobSet", "PyTorchJob"))
_GOOD = frozenset(("Complete", "Completed", "Succeeded", "SuccessCriteriaMet"))


@dataclass(frozen=True, slots=True)
class Failure:
    """One workload that failed."""

    kind: Kind
    namespace: str
    name: str
    key: str  # the same whenever this end of it is seen
    reason: str
    message: str
    time: str  # ISO 8601
    user: str
    owner: str  # name of the job that a Kueue workload stands for


def address(kind: Kind, namespace: str) -> str:
    """Give the path that lists a kind, in one namespace or in all ("")."""
    return f"{kind.path}/namespaces/{namespace}/{kind.plural}" if namespace else f"{kind.path}/{kind.plural}"


def failure_of(kind: Kind, item: Mapping[str, Any]) -> Failure | None:
    """Say how a workload failed; None where it did not, or where the workload that owns it tells.

    A Job that reached its success criteria is a success, however many of its pods failed.
    """
    about, status = item.get("metadata") or {}, item.get("status") or {}
    true = {
        condition.get("type"): condition
        for condition in status.get("conditions") or []
        if isinstance(condition, dict) and condition.get("status") == "True"
    }
    condition = true.get(kind.failed)
    owners = [owner for owner in about.get("ownerReferences") or [] if owner.get("controller")]
    if condition is None or _GOOD & true.keys():
        return None
    if kind.failed == "Failed" and any(owner.get("kind") in _OWNERS for owner in owners):
        return None
    moment = str(condition.get("lastTransitionTime") or "")
    labels, notes = about.get("labels") or {}, about.get("annotations") or {}
    return Failure(
        kind,
        str(about.get("namespace") or ""),
        str(about.get("name") or ""),
        f"{about.get('uid') or about.get('name')} {kind.failed} {moment}",
        str(condition.get("reason") or kind.failed),
        str(condition.get("message") or ""),
        moment,
        str(labels.get("user") or notes.get("user") or ""),
        str(owners[0].get("name") or "") if owners else "",
    )
