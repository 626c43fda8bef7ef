"""The routes."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from diagnose.deliver.serve import metrics, nvrx, page
from diagnose.deliver.serve.gate import Json, error, json_body, refuse
from diagnose.deliver.serve.guard import RefusedError, Roots
from diagnose.deliver.serve.openapi import document
from diagnose.deliver.serve.pool import Pool
from diagnose.deliver.serve.request import Wanted, about, alertmanager, cloud_events, log_key, own_form
from diagnose.deliver.serve.settings import ServeSettings
from diagnose.deliver.serve.store import FullError, Job, Store
from diagnose.typed import Any

_LOOK = 0.2  # seconds between two looks at a job that is waited for
_LONGEST_WAIT = 60  # seconds
_RETRY_AFTER = 15  # seconds after which a caller may find room in the queue
_PAGE = 50  # rows

Handler = Callable[[Request], Awaitable[Response]]


class Server:
    """What the routes share."""

    def __init__(self, settings: ServeSettings, *, work: bool = True) -> None:
        """Open the database; raises sqlite3.Error or OSError. Without `work` requests are only accepted."""
        self.settings = settings
        self.roots = Roots(settings.roots)
        self.store = Store(settings.database)
        self.pool = Pool(settings, self.store)
        self.counters = metrics.Counters()
        self._work = work

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Run the workers as long as the server."""
        if self._work:
            self.pool.start()
        yield
        await run_in_threadpool(self.pool.stop)

    async def accept(self, wanted: Wanted) -> tuple[Job, bool]:
        """Put a request into the queue; raises RefusedError where it is full."""
        try:
            job, new = await run_in_threadpool(
                self.store.add, wanted.request, time.time(), self.settings.queue, wanted.once
            )
        except FullError:
            raise RefusedError(503, "queue_full", "the queue is full") from None
        self.pool.wake()
        return job, new

    async def wait(self, name: str, seconds: float) -> Job | None:
        """Wait until a job is finished, at most `seconds`; returns it as it is then."""
        end = time.monotonic() + seconds
        while True:
            job = await run_in_threadpool(self.store.get, name)
            if job is None or job.finished is not None or time.monotonic() >= end:
                return job
            await asyncio.sleep(_LOOK)

    async def shown(self, job: Job) -> dict[str, Any]:
        """Give a job with its diagnosis."""
        diagnosis, _ = await run_in_threadpool(self.store.answer, job.id)
        return {**_line(job), "diagnosis": diagnosis}


def build(settings: ServeSettings, *, work: bool = True) -> Starlette:
    """Make the application; raises sqlite3.Error or OSError where the database cannot be opened."""
    server = Server(settings, work=work)
    routes = [
        ("/v1/diagnoses", ["POST"], post_diagnosis),
        ("/v1/diagnoses", ["GET"], list_diagnoses),
        ("/v1/diagnoses/{id}", ["GET"], get_diagnosis),
        ("/v1/events", ["POST"], post_events),
        ("/v1/alertmanager", ["POST"], post_alertmanager),
        ("/logs", ["POST"], post_log),
        ("/logs", ["GET"], get_log),
        ("/openapi.json", ["GET"], get_openapi),
        ("/healthz", ["GET"], get_health),
        ("/metrics", ["GET"], get_metrics),
        ("/d/{id}", ["GET"], get_page),
        ("/", ["GET"], get_list),
    ]
    app = Starlette(
        routes=[Route(path, _guarded(server, path, handler), methods=methods) for path, methods, handler in routes],
        lifespan=server.lifespan,
        exception_handlers={HTTPException: _http_error},
    )
    app.state.server = server
    return app


def _guarded(server: Server, path: str, handler: Handler) -> Handler:
    async def run(request: Request) -> Response:
        answer: Response | None = refuse(request, server.settings)
        if answer is None:
            try:
                answer = await handler(request)
            except RefusedError as refused:
                busy = {"Retry_After": str(_RETRY_AFTER)} if refused.status == 503 else {}
                answer = error(refused.status, refused.code, str(refused), **busy)
            except sqlite3.Error:
                answer = error(503, "database", "the database cannot be used", Retry_After=str(_RETRY_AFTER))
        server.counters.request(f"{request.method} {path}", answer.status_code)
        return answer

    return run


async def _http_error(_request: Request, failure: Exception) -> Response:
    status = failure.status_code if isinstance(failure, HTTPException) else 500
    return error(status, "not_found" if status == 404 else "http_error", getattr(failure, "detail", "error"))


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def _stamp(seconds: float | None) -> str | None:
    return None if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _line(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "url": f"/v1/diagnoses/{job.id}",
        "state": job.state,
        "created": _stamp(job.created),
        "finished": _stamp(job.finished),
        "event": job.request.get("event") or {},
        "paths": job.request.get("paths") or [],
        "verdict": job.verdict,
        "pattern": job.pattern,
        "summary": job.summary,
        "error": job.error,
    }


def _whole(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > most:
        raise RefusedError(400, "invalid_parameter", f"`{name}` must be a whole number up to {most}")
    return int(text)


async def post_diagnosis(request: Request) -> Response:
    """Accept a request, and answer it where the caller waits."""
    server = _server(request)
    seconds = _whole(request, "wait", 0, _LONGEST_WAIT)
    body = await json_body(request, server.settings)
    if not isinstance(body, dict):
        raise RefusedError(400, "invalid_request", "the body must be a JSON object")
    wanted = await run_in_threadpool(own_form, body, server.roots)
    key = request.headers.get("idempotency-key")
    job, _ = await server.accept(Wanted(wanted.request, f"key:{key[:200]}") if key else wanted)
    done = await server.wait(job.id, seconds) if seconds else job
    job = done or job
    return Json(await server.shown(job), 200 if job.finished is not None else 202)


async def list_diagnoses(request: Request) -> Response:
    """List jobs, newest first."""
    limit = max(1, _whole(request, "limit", _PAGE, 200))
    before = _whole(request, "before", 0, 2**62) or None
    query = request.query_params
    jobs = await run_in_threadpool(
        _server(request).store.recent, limit, before, query.get("state", ""), query.get("verdict", "")
    )
    following = jobs[-1].number if len(jobs) == limit else None
    return Json({"diagnoses": [_line(job) for job in jobs], "next": following})


async def get_diagnosis(request: Request) -> Response:
    """Show one job."""
    server = _server(request)
    job = await server.wait(request.path_params["id"], _whole(request, "wait", 0, _LONGEST_WAIT))
    if job is None:
        raise RefusedError(404, "not_found", "there is no such diagnosis")
    return Json(await server.shown(job))


async def post_events(request: Request) -> Response:
    """Accept CloudEvents and plain JSON; all of a batch is checked before any of it is accepted."""
    server = _server(request)
    body = await json_body(request, server.settings)
    wanted = await run_in_threadpool(cloud_events, body, dict(request.headers), server.roots)
    accepted = [await server.accept(each) for each in wanted]
    return Json({"accepted": [job.id for job, new in accepted if new], **_known(accepted)}, 202)


async def post_alertmanager(request: Request) -> Response:
    """Accept the firing alerts of a notification; one that is sent again is known."""
    server = _server(request)
    body = await json_body(request, server.settings)
    if not isinstance(body, dict):
        raise RefusedError(400, "invalid_request", "the body must be a JSON object")
    alerts = await run_in_threadpool(alertmanager, body, server.roots, server.settings.alert_paths)
    accepted = [await server.accept(each) for each in alerts.wanted]
    new = [job.id for job, is_new in accepted if is_new]
    return Json({"accepted": new, **_known(accepted), "ignored": alerts.ignored})


def _known(accepted: list[tuple[Job, bool]]) -> dict[str, list[str]]:
    return {"known": [job.id for job, new in accepted if not new]}


async def post_log(request: Request) -> Response:
    """NVRx: take note of a log; it is diagnosed at once only where the job has ended."""
    server = _server(request)
    body = await json_body(request, server.settings)
    if not isinstance(body, dict):
        raise RefusedError(400, "invalid_request", "the body must be a JSON object")
    real = await run_in_threadpool(server.roots.check, body.get("log_path"))
    if str(body.get("analysis_intent", "")).lower() == "terminal":
        await server.accept(await run_in_threadpool(_log, real, about(body)))
    return Json(nvrx.submitted(real))


async def get_log(request: Request) -> Response:
    """NVRx: diagnose a log as it is now, and say whether to restart."""
    server = _server(request)
    real = await run_in_threadpool(server.roots.check, request.query_params.get("log_path"))
    restart = _whole(request, "wl_restart", 0, 2**31)
    job, _ = await server.accept(await run_in_threadpool(_log, real, {}))
    waits = request.query_params.get("wait", "true").lower() not in ("false", "0", "no")
    job = await server.wait(job.id, _LONGEST_WAIT - 5 if waits else 0) or job
    diagnosis, text = await run_in_threadpool(server.store.answer, job.id)
    return Json(nvrx.verdict(job, diagnosis, text, restart))


def _log(real: str, event: dict[str, str]) -> Wanted:
    try:
        return Wanted({"paths": [real], "event": event}, log_key(real))
    except OSError:
        raise RefusedError(404, "not_found", "there is no such file") from None


async def get_openapi(_request: Request) -> Response:
    """Give the OpenAPI document."""
    return Json(await run_in_threadpool(document))


async def get_health(request: Request) -> Response:
    """Say whether the database can be used; tells nothing else, as anybody may ask."""
    try:
        await run_in_threadpool(_server(request).store.count)
    except sqlite3.Error:
        return Json({"status": "fail"}, 503)
    return Json({"status": "ok"})


async def get_metrics(request: Request) -> Response:
    """Give the numbers for Prometheus."""
    server = _server(request)
    states, verdicts, oldest = await run_in_threadpool(server.store.count)
    waited = 0.0 if oldest is None else max(0.0, time.time() - oldest)
    pool = server.pool
    jobs = [({"state": state}, float(states.get(state, 0))) for state in ("queued", "running", "done", "failed")]
    kept = [({"verdict": verdict, "pattern": pattern}, float(n)) for (verdict, pattern), n in sorted(verdicts.items())]
    calls = [({"route": route, "status": status}, float(n)) for (route, status), n in server.counters.requests()]
    text = metrics.page(
        [
            ("diagnose_jobs", "gauge", "Requests in the database, of all servers that share it.", jobs),
            ("diagnose_results", "gauge", "Kept diagnoses by verdict and root cause.", kept),
            ("diagnose_queue_oldest_seconds", "gauge", "How long the oldest request has waited.", [({}, waited)]),
            ("diagnose_finished_total", "counter", "Diagnoses made by this server.", [({}, float(pool.finished))]),
            ("diagnose_seconds_total", "counter", "Time they took.", [({}, pool.seconds)]),
            ("diagnose_lost_total", "counter", "Workers that died or ran out of time.", [({}, float(pool.lost))]),
            ("diagnose_requests_total", "counter", "Answered HTTP requests of this server.", calls),
        ]
    )
    return PlainTextResponse(text, media_type=metrics.CONTENT_TYPE)


async def get_list(request: Request) -> Response:
    """Show recent diagnoses to people."""
    store = _server(request).store
    before = _whole(request, "before", 0, 2**62) or None
    jobs = await run_in_threadpool(store.recent, _PAGE, before)
    states, _, _ = await run_in_threadpool(store.count)
    return HTMLResponse(page.recent(jobs, states), headers=page.HEADERS)


async def get_page(request: Request) -> Response:
    """Show one diagnosis to people."""
    store = _server(request).store
    job = await run_in_threadpool(store.get, request.path_params["id"])
    if job is None:
        raise RefusedError(404, "not_found", "there is no such diagnosis")
    _, text = await run_in_threadpool(store.answer, job.id)
    return HTMLResponse(page.one(job, text), headers=page.HEADERS)
