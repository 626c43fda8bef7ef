"""What callers send is accepted, diagnosed and answered; what must not come in stays out."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from tests.deliver.serve.serving import OOM, World

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def test_a_log_is_diagnosed(here: World) -> None:
    """A posted path comes back with its diagnosis, in the list, on both pages and in the metrics."""
    body = {"paths": [here.log()], "job_id": 7, "name": "llama", "settings": {"micro_batch_size": 2}}
    with here.client() as client:
        answer = client.post("/v1/diagnoses?wait=60", json=body)
        assert answer.status_code == 200
        job = answer.json()
        assert (job["state"], job["verdict"], job["pattern"]) == ("done", "identified", "cuda-oom")
        assert job["diagnosis"]["root_cause"]["evidence"][0]["rank"] == 3
        assert job["event"] == {"job_id": "7", "name": "llama"}
        assert client.get("/v1/diagnoses?verdict=identified").json()["diagnoses"][0]["id"] == job["id"]
        assert job["summary"] in client.get("/").text
        assert "CUDA out of memory" in client.get(f"/d/{job['id']}").text
        numbers = client.get("/metrics").text
    assert 'diagnose_results{verdict="identified",pattern="cuda-oom"} 1' in numbers
    assert 'diagnose_requests_total{route="POST /v1/diagnoses",status="200"} 1' in numbers


def test_text_is_diagnosed_masked_and_not_kept(here: World) -> None:
    """A log may come in the request; its secrets do not come back, and it is dropped when the answer is there."""
    with here.client() as client:
        text = OOM.replace("train.py", "train.py --token Zq7w9Kd02LmX") + "HF_TOKEN=Zq7w9Kd02LmX\n"
        job = client.post("/v1/diagnoses?wait=60", json={"text": text}).json()
        assert job["pattern"] == "cuda-oom"
        assert "Zq7w9Kd02LmX" not in json.dumps(job)
    assert b"Zq7w9Kd02LmX" not in (here.folder / "db.sqlite").read_bytes()


def _refused(here: World, path: object) -> str:
    with here.client(work=False) as client:
        body = json.dumps({"paths": [path]})  # in ASCII, which holds any path
        answer = client.post("/v1/diagnoses", content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 403, 404)
        return str(answer.json()["error_code"])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/etc/passwd", "outside_root"),
        ("{root}/../secret.log", "outside_root"),
        ("{root}/./../secret.log", "outside_root"),
        ("{root}/sub/../../secret.log", "outside_root"),
        ("{root}2/x.log", "outside_root"),
        ("/etc/none", "outside_root"),
        ("logs/job.log", "invalid_path"),
        ("", "invalid_path"),
        ("{root}/a\0b", "invalid_path"),
        ("{root}/\ud800", "invalid_path"),
        (7, "invalid_path"),
        (["x"], "invalid_path"),
        ("{root}/none.log", "not_found"),
        ("{root}/link.log", "outside_root"),
        ("{root}/folder/secret.log", "outside_root"),
        ("{root}/folder/*.log", "outside_root"),
        ("{root}/../*.log", "outside_root"),
        ("{root}/pipe", "not_regular"),
    ],
)
def test_only_what_lies_below_the_roots(here: World, path: object, code: str) -> None:
    """`..`, symbolic links, patterns, devices and nonsense are refused, existing or not."""
    root = here.folder / "logs"
    (here.folder / "secret.log").write_text("s")
    (root / "link.log").symlink_to(here.folder / "secret.log")
    (root / "folder").symlink_to(here.folder)
    os.mkfifo(root / "pipe")
    assert _refused(here, path.replace("{root}", str(root)) if isinstance(path, str) else path) == code


def test_a_link_inside_a_folder_is_not_followed_out(here: World) -> None:
    """A folder below the root may hold a link that leads out: it is not opened, and its words do not come back."""
    (here.folder / "secret.log").write_text("RuntimeError: the secret words\n")
    here.log("job/rank0.log")
    (here.folder / "logs" / "job" / "rank1.log").symlink_to(here.folder / "secret.log")
    with here.client() as client:
        answer = client.post("/v1/diagnoses?wait=60", json={"paths": [str(here.folder / "logs" / "job")]}).json()
    assert answer["pattern"] == "cuda-oom"
    assert "secret words" not in json.dumps(answer)
    problems = {item["path"].rpartition("/")[2]: item["problems"] for item in answer["diagnosis"]["inputs"]}
    assert any("cannot be read" in each for each in problems["rank1.log"])


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"paths": {}}', "application/json", 400),
        (b'{"text": 3}', "application/json", 400),
        (b'{"text": "x", "config": 3}', "application/json", 400),
        (b'{"text": "x", "settings": ["novalue"]}', "application/json", 400),
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"text": "x"}', "text/plain", 415),
        (b'{"text": "' + b"x" * 5000 + b'"}', "application/json", 413),
        (b"\xff\xfe", "application/json", 400),
    ],
)
def test_wrong_requests_are_answered_in_one_shape(here: World, body: bytes, kind: str, status: int) -> None:
    """Every refusal says what is wrong, in the same form; none is an error of the server's own."""
    with here.client(work=False, body_limit=4096 if status == 413 else 1_000_000) as client:
        answer = client.post("/v1/diagnoses", content=body, headers={"content-type": kind})
    assert answer.status_code == status
    assert set(answer.json()) == {"error_code", "message"}


def test_a_body_without_a_length_is_bounded_too(here: World) -> None:
    """Chunks are counted as they come."""
    with here.client(work=False, body_limit=4096) as client:
        chunks = (b"x" * 1000 for _ in range(100))
        answer = client.post("/v1/diagnoses", content=chunks, headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_the_token_opens_every_door_but_health(here: World) -> None:
    """With a token configured, it is wanted everywhere; as a Bearer, or as a Basic password or user."""
    token = "0123456789abcdef"
    basic = [base64.b64encode(text.encode()).decode() for text in (f"x:{token}", f"{token}:")]
    good = [f"Bearer {token}", f"bearer {token}", *(f"Basic {each}" for each in basic)]
    with here.client(work=False, token=token) as client:
        for path in ("/", "/v1/diagnoses", "/metrics", "/openapi.json", "/logs?log_path=/x", "/d/1"):
            assert client.get(path).status_code == 401
        for wrong in ("Bearer 0123456789abcdeg", "Basic !!!", "Bearer", "Basic eA=="):
            assert client.get("/", headers={"authorization": wrong}).status_code == 401
        for right in good:
            assert client.get("/", headers={"authorization": right}).status_code == 200
        assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "https://evil.example"}])
def test_a_web_page_cannot_use_an_open_server(here: World, headers: dict[str, str]) -> None:
    """Without a token, names that were rebound to loopback and foreign pages are refused."""
    with here.client(work=False) as client:
        assert client.get("/v1/diagnoses", headers=headers).status_code == 403


def test_a_full_queue_says_when_to_come_back(here: World) -> None:
    """Above its bound nothing is accepted."""
    with here.client(work=False, queue=2) as client:
        answers = [client.post("/v1/diagnoses", json={"text": "x"}) for _ in range(3)]
    assert [each.status_code for each in answers] == [202, 202, 503]
    assert answers[2].headers["retry-after"]


def test_accepted_work_survives_a_restart(here: World) -> None:
    """What one server accepted, the next one does."""
    with here.client(work=False) as client:
        name = client.post("/v1/diagnoses", json={"paths": [here.log()]}).json()["id"]
    with here.client() as client:
        assert client.get(f"/v1/diagnoses/{name}?wait=60").json()["pattern"] == "cuda-oom"


def test_two_replicas_do_each_job_once(here: World) -> None:
    """Servers that share a database share the work."""
    with here.client() as one, here.client() as two:
        names = [client.post("/v1/diagnoses", json={"text": OOM}).json()["id"] for client in (one, two) * 3]
        done = [two.get(f"/v1/diagnoses/{name}?wait=60").json() for name in names]
        made = [client.app.state.server.pool.finished for client in (one, two)]  # type: ignore[attr-defined]
    assert [each["state"] for each in done] == ["done"] * 6
    assert sum(made) == 6


def test_a_diagnosis_that_takes_too_long_is_ended(here: World) -> None:
    """A job over its time fails with words, and the worker goes on."""
    with here.client(job_timeout=0.05) as client:
        job = client.post("/v1/diagnoses?wait=30", json={"text": OOM}).json()
    assert job["state"] == "failed"
    assert "took longer" in job["error"]


def test_an_idempotency_key_is_accepted_once(here: World) -> None:
    """A caller that repeats itself gets the same job."""
    with here.client(work=False) as client:
        names = {
            client.post("/v1/diagnoses", json={"text": "x"}, headers={"idempotency-key": "k"}).json()["id"]
            for _ in range(3)
        }
    assert len(names) == 1


def _alert(starts: str = "2026-07-10T02:14:07Z", **more: Any) -> dict[str, Any]:
    labels = {"alertname": "KubeJobFailed", "namespace": "team-a", "job_name": "llama"}
    alert = {"status": "firing", "labels": labels, "annotations": {}, "startsAt": starts, "fingerprint": "f1", **more}
    return {"version": "4", "status": "firing", "groupKey": "g", "alerts": [alert], "commonLabels": {}}


def test_alertmanager(here: World) -> None:
    """A firing alert's logs are found by its labels; what is sent again is known, what is resolved is ignored."""
    here.log("team-a/llama/0.log")
    templates = (str(here.folder / "logs" / "{namespace}" / "{job_name}"),)
    with here.client(work=False, alert_paths=templates) as client:

        def send(body: Any) -> Any:
            return client.post("/v1/alertmanager", json=body).json()

        first = send(_alert())
        assert len(first["accepted"]) == 1
        assert send(_alert())["known"] == first["accepted"]
        assert send(_alert("2026-07-11T00:00:00Z"))["accepted"]
        assert send(_alert(status="resolved"))["ignored"] == ["KubeJobFailed: resolved"]
        for bad in ("..", "../team-a", "a/b", "*", ""):
            assert not send(_alert(labels={"namespace": "team-a", "job_name": bad}, fingerprint=bad))["accepted"]
        assert send(_alert(annotations={"log_path": "/etc/passwd"}, fingerprint="f2"))["ignored"]
        event = client.get(f"/v1/diagnoses/{first['accepted'][0]}").json()["event"]
    assert event["cluster"] == "team-a"
    assert event["name"] == "llama"


def test_cloud_events(here: World) -> None:
    """Structured, batched and binary events and plain JSON are accepted, each event once."""
    data = {"log_path": here.log()}
    event = {"specversion": "1.0", "id": "1", "source": "/ci", "type": "t", "subject": "job-9", "data": data}
    with here.client(work=False) as client:
        kind = {"content-type": "application/cloudevents+json"}
        assert len(client.post("/v1/events", json=event, headers=kind).json()["accepted"]) == 1
        batch = client.post("/v1/events", json=[event, {**event, "id": "2"}], headers=kind).json()
        assert (len(batch["accepted"]), len(batch["known"])) == (1, 1)
        binary = {"ce-specversion": "1.0", "ce-id": "3", "ce-source": "/ci", "ce-subject": "job-10"}
        accepted = client.post("/v1/events", json=data, headers=binary).json()["accepted"]
        assert client.get(f"/v1/diagnoses/{accepted[0]}").json()["event"] == {"job_id": "job-10"}
        assert client.post("/v1/events", json=data).status_code == 202
        assert client.post("/v1/events", json={**event, "id": ""}).status_code == 400


def test_nvrx(here: World) -> None:
    """A resiliency launcher can ask this server: the log is submitted, and the verdict says whether to restart."""
    path = here.log()
    with here.client() as client:
        sent = client.post("/logs", json={"log_path": path, "user": "u", "job_id": "1", "analysis_intent": "terminal"})
        assert sent.json()["submitted"] is True
        answer = client.get("/logs", params={"log_path": path}).json()
        assert answer["status"] == "completed"
        assert answer["recommendation"]["action"] in ("STOP", "RESTART", "UNKNOWN")
        item = answer["result"]["result"][0]
        assert item["attribution_text"].startswith("CUDA out of memory")
        assert client.app.state.server.pool.finished == 1  # type: ignore[attr-defined]
        outside = client.get("/logs", params={"log_path": "/etc/passwd"})
        assert (outside.status_code, outside.json()["error_code"]) == (403, "outside_root")


def test_pages_escape_what_logs_say(here: World) -> None:
    """A log cannot put markup, scripts or escape codes into a page."""
    with here.client() as client:
        body = {"text": "RuntimeError: <script>alert(1)</script>\x1b[31m\n", "name": "<b>x</b>"}
        job = client.post("/v1/diagnoses?wait=60", json=body).json()
        pages = [client.get("/"), client.get(f"/d/{job['id']}")]
    for page in pages:
        assert "<script" not in page.text
        assert "<b>x" not in page.text
        assert "\x1b" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]


def test_openapi_describes_every_route(here: World) -> None:
    """The document names the routes, and its references lead somewhere."""
    with here.client(work=False) as client:
        document = client.get("/openapi.json").json()
        routes = {route.path for route in client.app.routes}  # type: ignore[attr-defined]
    assert set(document["paths"]) == routes - {"/", "/d/{id}", "/openapi.json"}
    for reference in _references(document):
        place: Any = document
        for part in reference[2:].split("/"):
            place = place[part]


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [each for item in value.values() for each in _references(item)]
    return [each for item in value for each in _references(item)] if isinstance(value, list) else []


def test_unknown_things(here: World) -> None:
    """A wrong address, id, method or parameter is answered, not crashed on."""
    with here.client(work=False) as client:
        assert client.get("/nope").status_code == 404
        assert client.get("/v1/diagnoses/nope").status_code == 404
        assert client.delete("/v1/diagnoses").status_code == 405
        assert client.get("/v1/diagnoses?limit=x").status_code == 400
        assert client.get("/logs").status_code == 400


def test_half_a_surrogate_pair_spoils_no_list(here: World) -> None:
    """Words about a job that no text can hold, and a file name that is no UTF-8, are shown with a replacement."""
    odd = here.log("b\udcff.log")
    with here.client(work=False) as client:
        body = json.dumps({"paths": [odd], "job_id": "\ud800", "name": "x\udfff"})
        answer = client.post("/v1/diagnoses", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 202
        shown = client.get("/v1/diagnoses").json()["diagnoses"][0]
        assert shown["event"] == {"job_id": "?", "name": "x?"}
        assert shown["paths"][0].endswith("/b?.log")
        assert client.get("/").status_code == 200


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_numbers_without_end_are_no_json(here: World, number: str) -> None:
    """What the database could not read back is refused when it comes in."""
    with here.client(work=False) as client:
        body = f'{{"text": "x", "config": {{"lr": {number}}}}}'
        answer = client.post("/v1/diagnoses", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["error_code"]) == (400, "invalid_json")


@pytest.mark.parametrize("text", ["0" * 19 + "9" * 40, "0" * 5000, "9" * 19, "-1", "1.5", "\u0661"])
def test_a_parameter_that_is_no_small_number_is_refused(here: World, text: str) -> None:
    """A count beyond what the database takes is the caller's mistake."""
    with here.client(work=False) as client:
        assert client.get("/v1/diagnoses", params={"before": text}).status_code == 400
