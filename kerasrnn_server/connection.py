"""Connections that uvicorn closes too early, and a line for each refusal."""

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)


class Connection(H11Protocol):
    """Answers a client that has closed its side after its request.

    It leaves a client that does not take its answer, as long as the server
    would wait for it to end.
    """

    _stalled: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Called when the client has not read what was sent."""
        super().pause_writing()
        self._stalled = self.loop.call_later(
            self.config.timeout_graceful_shutdown or 0, self.transport.abort
        )

    def resume_writing(self) -> None:
        """Called when it has."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Returns whether an answer is still to be sent."""
        cycle = self.cycle
        if cycle is None or cycle.more_body or cycle.response_complete:
            return False
        cycle.keep_alive = False
        return True


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
        level = logging.ERROR if status >= 500 else logging.INFO
        path = scope["raw_path"].decode("ascii")
        log.log(level, "%s %s: %d", scope["method"], path[:200], status)
