"""Failed workloads are found, their pods' words are kept, and each is diagnosed once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("kubernetes")

from kubernetes import client

from diagnose.deliver.k8s.api import Cluster, KubernetesError
from diagnose.deliver.k8s.watch import Watch
from diagnose.deliver.k8s.workload import KINDS, address, failure_of
from diagnose.deliver.ledger import Ledger
from diagnose.deliver.task import Announced, Task
from diagnose.deliver.worker import run_boxed
from tests.deliver.k8s.cluster import NOW, Stub, event, pod, stub, workload

JOBS = "/apis/batch/v1/jobs"
PODS = "/api/v1/namespaces/team/pods"
EVENTS = "/api/v1/namespaces/team/events"
OOM = (
    "2099-07-10T02:14:06.1Z [rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 320.00 MiB. GPU 3 "
    "has a total capacity of 79.10 GiB of which 201.00 MiB is free.\n"
)


@pytest.fixture
def api() -> Iterator[Stub]:
    """An empty cluster."""
    with stub() as state:
        yield state


def _cluster(api: Stub) -> Cluster:
    configuration = client.Configuration(host=api.url)
    configuration.api_key["authorization"] = "Bearer t0ken"
    return Cluster(client.ApiClient(configuration))


def _watch(api: Stub, folder: Path, tasks: list[Task], **more: object) -> Watch:
    def announce(task: Task, _seconds: float) -> Announced:
        tasks.append(task)
        return Announced("identified", "s")

    return Watch(_cluster(api), Ledger(str(folder / "ledger")), announce=announce, **more)  # type: ignore[arg-type]


def test_a_failed_job_is_announced_once(api: Stub, tmp_path: Path) -> None:
    """Log, end of the pods and events become sources; the next look, and the next watcher, find nothing new."""
    api.lists = {
        JOBS: [workload("llama", ("Failed", "BackoffLimitExceeded")), workload("good", ("Complete", ""))],
        PODS: [pod("llama-0", "job-name", "llama", 137, "OOMKilled"), pod("other-0", "job-name", "other")],
        EVENTS: [event("llama-0", "BackOff", "Back-off restarting failed container"), event("other-0", "X", "other")],
    }
    api.logs = {("llama-0", "trainer", False): OOM, ("other-0", "trainer", False): "other\n"}
    tasks: list[Task] = []
    watch = _watch(api, tmp_path, tasks, name="eos")
    assert [seen.failure.reason for seen in watch.look()] == ["BackoffLimitExceeded"]
    assert watch.look() == []
    assert _watch(api, tmp_path, tasks).look() == []
    (task,) = tasks
    assert (task.event.source, task.event.job_id, task.event.cluster) == ("k8s", "team/llama", "eos")
    log, pods, events = task.texts
    assert (log.path, log.content, log.node) == ("team/llama-0/trainer", OOM, "gpu-7")
    assert "Pod llama-0 terminated with exit code 137 (OOMKilled) in container trainer on gpu-7" in pods.content
    assert "Back-off restarting failed container" in events.content
    assert "other" not in events.content
    assert events.content.endswith("BackoffLimitExceeded job/llama BackoffLimitExceeded it was\n")
    assert all(asked.startswith("Bearer t0ken /") for asked in api.asked)
    assert watch.absent == {"TrainJob", "JobSet", "PyTorchJob", "Workload"}


def test_the_diagnosis_itself(api: Stub, tmp_path: Path) -> None:
    """A pod that ran out of GPU memory is diagnosed as that."""
    api.lists = {
        JOBS: [workload("llama", ("Failed", "BackoffLimitExceeded"))],
        PODS: [pod("llama-0", "job-name", "llama")],
        EVENTS: [],
    }
    api.logs = {("llama-0", "trainer", False): OOM}
    seen = Watch(_cluster(api), Ledger(str(tmp_path / "l")), announce=run_boxed).look()
    assert seen[0].announced.verdict == "identified"
    assert "CUDA out of memory" in seen[0].announced.summary


def test_a_log_is_kept_when_its_pod_is_gone(api: Stub, tmp_path: Path) -> None:
    """A container that fails is read at once, before a restart of the whole set removes its pod."""
    label = "jobset.sigs.k8s.io/jobset-name"
    api.changes = [{"type": "MODIFIED", "object": pod("set-0", label, "set")}]
    api.logs = {("set-0", "trainer", False): "first words\n"}
    tasks: list[Task] = []
    watch = _watch(api, tmp_path, tasks)
    watch.listen(1)
    api.logs = {}
    jobsets = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
    api.lists = {jobsets: [workload("set", ("Failed", "ReachedMaxRestarts"))], PODS: [], EVENTS: []}
    watch.look()
    assert tasks[0].texts[0].content == "first words\n"


def test_the_previous_container_is_read(api: Stub, tmp_path: Path) -> None:
    """Where a container was started again, the log of the run before is the one that failed."""
    again = pod("llama-0", "job-name", "llama")
    state = again["status"]["containerStatuses"][0]
    state["lastState"], state["state"] = state["state"], {"running": {"startedAt": NOW}}
    api.lists = {JOBS: [workload("llama", ("Failed", "DeadlineExceeded"))], PODS: [again], EVENTS: []}
    api.logs = {("llama-0", "trainer", True): "before\n", ("llama-0", "trainer", False): "after\n"}
    tasks: list[Task] = []
    _watch(api, tmp_path, tasks).look()
    assert [text.path for text in tasks[0].texts][:2] == ["team/llama-0/trainer/previous", "team/llama-0/trainer"]


def test_every_kind_is_found_once(api: Stub, tmp_path: Path) -> None:
    """A TrainJob's JobSet and a JobSet's Jobs are told by their owner; an eviction is told for the job it hit."""
    owner = [{"kind": "TrainJob", "name": "t", "controller": True}]
    evicted = workload("job-t", ("Evicted", "Preempted"), ownerReferences=[{**owner[0], "kind": "Job", "name": "j"}])
    items = {
        "TrainJob": [workload("t", ("Failed", "DeadlineExceeded"))],
        "JobSet": [workload("t", ("Failed", "FailedJobs"), ownerReferences=owner)],
        "PyTorchJob": [workload("p", ("Failed", "PyTorchJobFailed"))],
        "Job": [workload("t-node-0", ("Failed", "X"), ownerReferences=[{**owner[0], "kind": "JobSet"}])],
        "Workload": [evicted],
    }
    api.lists = {address(kind, ""): items[kind.name] for kind in KINDS} | {PODS: [], EVENTS: []}
    tasks: list[Task] = []
    seen = _watch(api, tmp_path, tasks).look()
    assert [each.failure.kind.name for each in seen] == ["TrainJob", "PyTorchJob", "Workload"]
    assert tasks[2].event.job_id == "team/j"
    assert "Preempted workload/job-t" in tasks[2].texts[-1].content


def test_success_beats_failed_pods() -> None:
    """A Job with success criteria met is no failure."""
    assert failure_of(KINDS[3], workload("j", ("Failed", "x"), ("SuccessCriteriaMet", "y"))) is None


def test_old_failures_are_not_told(api: Stub, tmp_path: Path) -> None:
    """What failed long before the watcher came is left alone."""
    old = workload("old", ("Failed", "x"))
    old["status"]["conditions"][0]["lastTransitionTime"] = "2020-01-01T00:00:00Z"
    api.lists = {JOBS: [old], PODS: [], EVENTS: []}
    assert _watch(api, tmp_path, []).look() == []


def test_namespaces_and_pages(api: Stub, tmp_path: Path) -> None:
    """Only the named namespaces are asked for, and long lists come in pages."""
    api.page = 2
    jobs = [workload(f"j{number}", ("Failed", "x")) for number in range(5)]
    api.lists = {"/apis/batch/v1/namespaces/team/jobs": jobs, PODS: [], EVENTS: []}
    assert len(_watch(api, tmp_path, [], namespaces=["team"]).look()) == 5
    assert all("/namespaces/team/" in asked for asked in api.asked)


@pytest.mark.parametrize("status", [401, 500, 503])
def test_a_cluster_that_does_not_answer(api: Stub, tmp_path: Path, status: int) -> None:
    """An error is raised with its status and the cluster's words; it is not taken for "nothing failed"."""
    api.status = status
    with pytest.raises(KubernetesError, match=f"{status} no"):
        _watch(api, tmp_path, []).look()


def test_a_log_that_cannot_be_read_costs_nothing_else(api: Stub, tmp_path: Path) -> None:
    """Without a log and without events, the end of the pods still tells."""
    api.lists = {JOBS: [workload("j", ("Failed", "x"))], PODS: [pod("j-0", "job-name", "j", 139)]}
    api.forbidden = {EVENTS}
    tasks: list[Task] = []
    _watch(api, tmp_path, tasks).look()
    assert "exit code 139" in tasks[0].texts[0].content
