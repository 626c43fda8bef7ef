"""Ends connections on which no whole request comes, so that a few silent callers do not keep all others out."""

from __future__ import annotations

import asyncio

from diagnose.typed import Any

HEAD_TIME = 20.0  # seconds in which a request's head must have come, on a new connection or behind an answer


def bounded(protocol: type[Any], seconds: float = HEAD_TIME) -> type[Any]:
    """Give uvicorn's HTTP protocol with a time limit for the head of a request, which it lacks itself.

    Arguments: the class to extend, H11Protocol or HttpToolsProtocol of uvicorn; the limit in seconds.
    """

    class Bounded(protocol):  # type: ignore[misc]
        """A connection that is closed where it has been waiting for a head for too long."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            """Begin to look after the connection."""
            super().connection_made(transport)
            self._seen: object = None
            self._waited = 0.0
            self._look_after = self.loop.call_later(seconds / 4, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            """Stop looking."""
            self._look_after.cancel()
            super().connection_lost(exc)

        def _look(self) -> None:
            idle = self.cycle is None or self.cycle.response_complete
            self._waited = self._waited + seconds / 4 if idle and self.cycle is self._seen else 0.0
            self._seen = self.cycle
            if self._waited >= seconds:
                self.transport.close()
                return
            self._look_after = self.loop.call_later(seconds / 4, self._look)

    return Bounded
