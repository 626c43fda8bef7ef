"""The server's OpenAPI document."""

from __future__ import annotations

import json

from diagnose import __version__
from diagnose.data import data_folder
from diagnose.typed import Any


def document() -> dict[str, Any]:
    """Describe every route; the answer's schema is the one that is published for the JSON report."""
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "diagnose",
            "version": __version__,
            "description": "Says why a training job failed: what failed first, and which fixes to try.",
        },
        "security": [{"bearer": []}, {"basic": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "basic": {"type": "http", "scheme": "basic", "description": "any user, the token as password"},
            },
            "schemas": {"Request": _REQUEST, "Job": _JOB, "Error": _ERROR, "Diagnosis": _diagnosis()},
        },
    }


def _diagnosis() -> dict[str, Any]:
    with open(f"{data_folder('schemas')}/diagnosis-v1.schema.json", encoding="utf-8") as file:
        schema: dict[str, Any] = json.load(file)
    schema.pop("$schema", None)
    schema.pop("$id", None)
    # Its definitions move along, so its references must say where they are now.
    text = json.dumps(schema).replace('"#/', '"#/components/schemas/Diagnosis/')
    moved: dict[str, Any] = json.loads(text)
    return moved


def _text(what: str) -> dict[str, str]:
    return {"type": "string", "description": what}


_ERROR = {"type": "object", "properties": {"error_code": {"type": "string"}, "message": {"type": "string"}}}
_REQUEST = {
    "type": "object",
    "properties": {
        "paths": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 256,
            "description": "absolute paths of logs, folders or patterns with * and ?, below the server's roots",
        },
        "text": _text("a log itself, where the server cannot open it"),
        "config": {"oneOf": [{"type": "string"}, {"type": "object"}], "description": "the run's configuration"},
        "settings": {
            "oneOf": [{"type": "object"}, {"type": "array", "items": {"type": "string"}}],
            "description": "facts that the log lacks, as a mapping or as KEY=VALUE",
        },
        **{name: _text("of the job") for name in ("job_id", "name", "user", "cluster", "time", "state")},
    },
}
_JOB = {
    "type": "object",
    "required": ["id", "state", "created"],
    "properties": {
        "id": {"type": "string"},
        "state": {"type": "string", "enum": ["queued", "running", "done", "failed"]},
        "created": {"type": "string", "format": "date-time"},
        "finished": {"type": "string", "format": "date-time", "nullable": True},
        "event": {"type": "object", "additionalProperties": {"type": "string"}},
        "paths": {"type": "array", "items": {"type": "string"}},
        "verdict": {"type": "string"},
        "pattern": {"type": "string"},
        "summary": {"type": "string"},
        "error": {"type": "string"},
        "diagnosis": {"allOf": [{"$ref": "#/components/schemas/Diagnosis"}], "nullable": True},
    },
}


def _answers(good: str, what: str, schema: dict[str, Any], *bad: str) -> dict[str, Any]:
    words = {
        "400": "the request is wrong",
        "401": "the token is missing or wrong",
        "403": "the path lies outside the roots, or cannot be read",
        "404": "there is no such thing",
        "413": "the request is too large",
        "415": "the body is not JSON",
        "503": "the queue is full; Retry-After says when to come back",
    }
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    answers: dict[str, Any] = {good: {"description": what, "content": {"application/json": {"schema": schema}}}}
    return answers | {status: {"description": words[status], "content": error} for status in ("401", *bad)}


def _body(schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {"required": True, "content": {kind: {"schema": schema}}}


def _query(name: str, what: str, kind: str = "string", *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "description": what, "schema": {"type": kind}}


def _paths() -> dict[str, Any]:
    job = {"$ref": "#/components/schemas/Job"}
    plain: dict[str, Any] = {"type": "object"}
    refusals = ("400", "403", "404", "413", "415", "503")
    wait = _query("wait", "seconds to wait for the answer, at most 60", "integer")
    key = {"name": "Idempotency-Key", "in": "header", "description": "accept once", "schema": {"type": "string"}}
    name = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    log_path = _query("log_path", "absolute path below the roots", required=True)
    return {
        "/v1/diagnoses": {
            "post": {
                "summary": "Have a job diagnosed",
                "parameters": [wait, key],
                "requestBody": _body({"$ref": "#/components/schemas/Request"}),
                "responses": _answers("202", "accepted, and on disk", job, *refusals),
            },
            "get": {
                "summary": "List diagnoses, newest first",
                "parameters": [
                    _query("limit", "1 to 200", "integer"),
                    _query("before", "`next` of the page before", "integer"),
                    _query("state", "only these"),
                    _query("verdict", "only these"),
                ],
                "responses": _answers(
                    "200",
                    "a page",
                    {
                        "type": "object",
                        "properties": {
                            "diagnoses": {"type": "array", "items": job},
                            "next": {"type": "integer", "nullable": True},
                        },
                    },
                    "400",
                ),
            },
        },
        "/v1/diagnoses/{id}": {
            "get": {
                "summary": "One diagnosis",
                "parameters": [name, wait],
                "responses": _answers("200", "the job, and its diagnosis once it is there", job, "404"),
            }
        },
        "/v1/events": {
            "post": {
                "summary": "CloudEvents 1.0 (structured, batched or binary), or JSON in the form of a request",
                "requestBody": _body(plain, "application/cloudevents+json"),
                "responses": _answers("202", "the accepted ids", plain, *refusals),
            }
        },
        "/v1/alertmanager": {
            "post": {
                "summary": "Prometheus Alertmanager's webhook, version 4",
                "requestBody": _body(plain),
                "responses": _answers(
                    "200", "the accepted ids, and what was ignored", plain, "400", "413", "415", "503"
                ),
            }
        },
        "/logs": {
            "post": {
                "summary": "NVRx attribution: submit a log",
                "requestBody": _body({"type": "object", "required": ["log_path"]}),
                "responses": _answers("200", "submitted", plain, *refusals),
            },
            "get": {
                "summary": "NVRx attribution: the verdict and the recommendation",
                "parameters": [log_path, _query("wl_restart", "restart", "integer"), _query("wait", "wait", "boolean")],
                "responses": _answers("200", "the verdict", plain, "400", "403", "404", "503"),
            },
        },
        "/healthz": {
            "get": {"summary": "Is the server well?", "security": [], "responses": {"200": {"description": "yes"}}}
        },
        "/metrics": {"get": {"summary": "Prometheus metrics", "responses": {"200": {"description": "text format"}}}},
    }
