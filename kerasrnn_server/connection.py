"""Connections that uvicorn closes too early, and a line for each refusal."""

import logging
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)


class Connection(H11Protocol):
    """Answers a client that has closed its side after its request."""

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
