"""Sends a body to a URL: a time for each attempt and for all of them, back-off with jitter, a signature."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import random
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable

from diagnose import __version__
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diagnose.deliver.notify.settings import Notifier

_AGAIN = frozenset((408, 425, 429, 500, 502, 503, 504))  # statuses that another attempt may change
_ATTEMPTS = 6
_FIRST_PAUSE = 0.5  # seconds; doubled each time, and a random part of it is waited
_LONGEST_PAUSE = 20.0


class SendError(Exception):
    """Sending failed; `again` says whether another attempt may help, `after` how many seconds the receiver asks for."""

    def __init__(self, message: str, *, again: bool, after: float = 0.0) -> None:
        super().__init__(message)
        self.again = again
        self.after = after


def attempts(
    send: Callable[[float], None],
    *,
    total: float,
    timeout: float,
    most: int = _ATTEMPTS,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[int, str]:
    """Call `send` until it works; returns the number of attempts and the last error, "" where one worked.

    Arguments: `send`, given the seconds it may take, raises SendError; `total`, seconds of everything; `timeout`,
    seconds of one attempt; `most`, the number of attempts.
    """
    end = clock() + total
    for number in range(1, most + 1):
        try:
            send(max(0.1, min(timeout, end - clock())))
            return number, ""
        except SendError as error:
            pause = max(error.after, random.uniform(0.5, 1.0) * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (number - 1)))
            if not error.again or number == most or clock() + pause >= end:
                return number, str(error)
        sleep(pause)
    return most, "not tried"


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it would carry body and signature elsewhere."""

    def redirect_request(self, *_request: Any, **_more: Any) -> None:
        """Refuse; the redirect's own status is the answer."""


def post(notifier: Notifier, body: bytes, kind: str, message_id: str, timeout: float) -> None:
    """Send once, through the environment's proxy where it names one; raises SendError."""
    host = "the receiver"
    try:
        host = urllib.parse.urlsplit(notifier.url).hostname or host
        request = urllib.request.Request(notifier.url, body, _headers(notifier, body, kind, message_id), method="POST")
        with urllib.request.build_opener(_Stay).open(request, timeout=timeout):
            return
    except urllib.error.HTTPError as error:
        after = error.headers.get("Retry-After", "")
        seconds = float(after) if after.isdigit() and len(after) < 6 else 0.0
        error.close()
        raise SendError(f"{host} answered {error.code}", again=error.code in _AGAIN, after=seconds) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        certificate = getattr(reason, "verify_message", "")
        if certificate:
            raise SendError(f"the certificate of {host} was refused: {certificate}", again=False) from None
        raise SendError(f"{host} cannot be reached: {_words(reason)}", again=True) from None
    except ValueError as error:
        raise SendError(f"the URL or a header is wrong: {type(error).__name__}", again=False) from None


def signature(secret: str, body: bytes, moment: int) -> str:
    """Sign time and body with HMAC-SHA256: the receiver recomputes it over `<t>.<body>` and refuses old times."""
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={digest}"


def _headers(notifier: Notifier, body: bytes, kind: str, message_id: str) -> dict[str, str]:
    headers = {"Content-Type": kind, "User-Agent": f"diagnose/{__version__}", "Idempotency-Key": message_id}
    if notifier.authorization:
        headers["Authorization"] = notifier.authorization
    if notifier.secret:
        headers["X-Diagnose-Signature"] = signature(notifier.secret, body, int(time.time()))
    return headers


def _words(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    # A receiver that speaks no HTTP is quoted in the error: its bytes may be anything.
    words = " ".join(str(getattr(error, "strerror", "") or error).split())
    return "".join(filter(str.isprintable, words))[:200] or type(error).__name__
