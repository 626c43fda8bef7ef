"""What stands before every route: who may come in, how much may be said, and what an error looks like."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
from math import isfinite

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from diagnose.deliver.serve.guard import RefusedError
from diagnose.deliver.serve.settings import ServeSettings, is_loopback
from diagnose.typed import Any

_BODY_TIME = 30.0  # seconds in which a body must have come
_OPEN = frozenset(("/healthz",))


class Json(JSONResponse):
    """An answer in JSON that can always be encoded: file names may hold bytes that are no UTF-8."""

    def render(self, content: Any) -> bytes:
        """Encode it."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def error(status: int, code: str, message: str, **headers: str) -> JSONResponse:
    """Make an error's answer, the same shape everywhere."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Json({"error_code": code, "message": message}, status, named)


def refuse(request: Request, settings: ServeSettings) -> JSONResponse | None:
    """Give the answer for who may not come in, None for who may."""
    if request.url.path in _OPEN:
        return None
    if settings.token:
        if _same(_shown(request), settings.token):
            return None
        return error(
            401, "unauthorized", "show the token", WWW_Authenticate='Bearer realm="diagnose", Basic realm="diagnose"'
        )
    # Without a token everybody on this machine may come in, but no web page that a browser on it has open.
    host = request.headers.get("host", "")
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    if not is_loopback(name):
        return error(403, "forbidden_host", "without a token only this machine is served")
    origin = request.headers.get("origin")
    if origin and origin not in (f"http://{host}", f"https://{host}"):
        return error(403, "forbidden_origin", "without a token no other site may call")
    return None


def _shown(request: Request) -> str:
    """Take the token from a Bearer header, or, for browsers and clients with a URL only, from a Basic password."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":
        try:
            user, _, password = base64.b64decode(value, validate=True).decode("utf-8", "replace").partition(":")
            return password or user
        except (binascii.Error, ValueError):
            return ""
    return ""


def _same(shown: str, token: str) -> bool:
    # Digests have one length, so the time tells nothing of the token's.
    digests = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in (shown, token)]
    return hmac.compare_digest(*digests)


async def json_body(request: Request, settings: ServeSettings) -> Any:
    """Read a JSON body of bounded size in bounded time; raises RefusedError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise RefusedError(415, "unsupported_media_type", "send application/json")
    data = await _bytes(request, settings.body_limit)
    try:
        return json.loads(data, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        raise RefusedError(400, "invalid_json", "the body is no JSON") from None


def _finite(text: str) -> float:
    # JSON knows no infinity: neither the database nor a caller could read it back.
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


async def _bytes(request: Request, limit: int) -> bytes:
    too_large = RefusedError(413, "too_large", f"a request may hold {limit} bytes")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length[:18]) > limit:
        raise too_large
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_TIME):
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise too_large
                parts.append(part)
    except TimeoutError:
        raise RefusedError(408, "too_slow", "the body did not come in time") from None
    except ClientDisconnect:
        raise RefusedError(400, "disconnected", "the caller left") from None
    return b"".join(parts)
