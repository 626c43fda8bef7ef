"""A caller that says nothing does not keep its place."""

from __future__ import annotations

import asyncio

from diagnose.deliver.serve.idle import bounded


class _Cycle:
    def __init__(self, response_complete: bool) -> None:
        self.response_complete = response_complete


class _Transport:
    closed = False

    def close(self) -> None:
        """Note it."""
        self.closed = True


class _Protocol:
    """What of uvicorn's protocols the limit looks at."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.cycle: _Cycle | None = None
        self.transport = _Transport()

    def connection_made(self, transport: _Transport) -> None:
        """Begin."""
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""


def _closed(cycle: _Cycle | None) -> bool:
    async def run() -> bool:
        connection = bounded(_Protocol, 0.1)()
        connection.connection_made(_Transport())
        connection.cycle = cycle
        await asyncio.sleep(0.5)
        closed: bool = connection.transport.closed
        connection.connection_lost(None)
        return closed

    return asyncio.run(run())


def test_a_connection_without_a_request_is_closed() -> None:
    """A connection is closed where no request's head comes in time, at first or behind an answer."""
    assert _closed(None)
    assert _closed(_Cycle(response_complete=True))


def test_a_connection_that_is_being_answered_stays() -> None:
    """A caller who waits for an answer is not cut off."""
    assert not _closed(_Cycle(response_complete=False))
