"""Connections that uvicorn closes too early, and a line for each refusal."""

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)


class Connection(H11Protocol):
    """Answers a client that has closed its side after its request.

    It drops a client that does not finish its request headers, or does not
    read its answer, within the server's shutdown timeout.
    """

    _begun: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Called when a client has connected."""
        super().connection_made(transport)
        self._begun = self._leave_later()

    def data_received(self, data: bytes) -> None:
        """Called when it has sent something."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop(self._begun)
            self._begun = None
        elif self._begun is None:
            self._begun = self._leave_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when the connection has ended."""
        self._stop(self._begun)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Called when the client has not read what was sent."""
        super().pause_writing()
        self._stalled = self._leave_later()

    def resume_writing(self) -> None:
        """Called when it has."""
        super().resume_writing()
        self._stop(self._stalled)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Returns whether an answer is still to be sent."""
        cycle = self.cycle
        if cycle is None or cycle.more_body or cycle.response_complete:
            return False
        cycle.keep_alive = False
        return True

    def _leave_later(self):
        return self.loop.call_later(
            self.config.timeout_graceful_shutdown or 0, self.transport.abort
        )

    @staticmethod
    def _stop(timer):
        if timer is not None:
            timer.cancel()


class Logged:
    """Logs one line for a request that is refused: its path and its status.

    Args:
        app: The ASGI application behind it.
        everything: Whether to log the other requests, too.
    """

    def __init__(self, app: Any, everything: bool):
        self.app, self.everything = app, everything

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handles a request, as ASGI demands."""

        async def noted(message):
            await send(message)
            if message["type"] == "http.response.start":
                self._log(scope, message["status"])

        if scope["type"] == "http":
            await self.app(scope, receive, noted)
        else:
            await self.app(scope, receive, send)

    def _log(self, scope, status):
        if status < 400 and not self.everything:
            return
        # 503 asks a client to try again, such as while a version is loaded.
        fault = status >= 500 and status != 503
        level = logging.ERROR if fault else logging.INFO
        path = scope["raw_path"].decode("ascii")
        log.log(level, "%s %s: %d", scope["method"], path[:200], status)
