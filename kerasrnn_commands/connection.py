"""Connections of clients: limits and timeouts."""

import asyncio
import contextlib
import errno
import fcntl
import functools
import json
import logging
import resource
import termios
from typing import Any

import h11
import uvicorn
from starlette.responses import JSONResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

from kerasrnn_commands.messages import ServerSettings

_CLOSE = {"Connection": "close"}
_BODY = {b"content-length", b"transfer-encoding"}
# Bytes to read at once. Between them, other clients are answered: in chunks of
# one byte, 256 KiB, asyncio's default, would hold them up for half a second.
_PIECE = 2**14

log = logging.getLogger(__name__)


def http_server(app: Any, settings: ServerSettings) -> "Server":
    """Returns the server of an application, to `run()`.

    Args:
        app: The ASGI application.
        settings: The `ServerSettings`.
    """
    connections, backlog = settings.max_connections, 128
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY:
        # All waiting connections may be accepted at once. The rest is for
        # models.
        connections = min(connections, files // 2)
        backlog = min(backlog, files // 4)
    if connections < settings.max_connections:
        log.warning(
            "At most %d connections are kept, because the process may open "
            "only %d files (`ulimit -n`).",
            connections,
            files,
        )
    # This package logs refused requests itself.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        Refusals(app, settings.timeout, settings.access_log),
        host=settings.host,
        port=settings.port,
        http=Connection,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        backlog=backlog,
        timeout_graceful_shutdown=int(settings.timeout) + 1,
    )
    return Server(config, connections)


class Server(uvicorn.Server):
    """A server that logs its address once it listens.

    Args:
        config: The `uvicorn.Config`.
        connections: Maximum number of connections.
    """

    def __init__(self, config: uvicorn.Config, connections: int):
        super().__init__(config)
        self.server_state.most = connections  # type: ignore[attr-defined]
        self._complained = 0.0

    async def startup(self, sockets: Any = None) -> None:
        """Binds the port."""
        asyncio.get_running_loop().set_exception_handler(self._failed)
        await super().startup(sockets)
        host = self.config.host
        port = self.servers[0].sockets[0].getsockname()[1]
        url = f"[{host}]" if ":" in host else host
        log.info("Serving at http://%s:%d", url, port)

    def _failed(self, loop, context):
        """Logs a lack of file descriptors once a second, as asyncio retries."""
        error = context.get("exception")
        if getattr(error, "errno", None) not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif loop.time() > self._complained + 1:
            self._complained = loop.time()
            log.error("No connection can be accepted: %s", error)


class Connection(H11Protocol):
    """A connection that also answers clients that closed their side.

    It drops clients that do not finish their request headers, or do not read
    their answer, within the server's shutdown timeout. If a request is not
    HTTP, it receives and drops the rest until then, so that the client can read
    why. If there are too many connections, the one that has been idle longest
    is closed. If all are in use, the new one is refused.
    """

    _begun: asyncio.TimerHandle
    _stalled: asyncio.TimerHandle
    _ended = _broken = False
    _since = 0.0

    @property
    def _idle(self) -> bool:
        answered = self.cycle is None or self.cycle.response_complete
        return self._broken or answered

    @property
    def _unread(self) -> bool:
        """Whether a request has come that was not read, as in a burst."""
        waiting = self.transport.get_extra_info("socket").fileno()
        return any(fcntl.ioctl(waiting, termios.FIONREAD, bytes(4)))

    def connection_made(self, transport: Any) -> None:
        """Called when a client has connected."""
        if len(self.connections) >= self.server_state.most:  # type: ignore[attr-defined]
            self._make_room()
        super().connection_made(transport)
        transport.max_size = _PIECE
        self._since = self.loop.time()
        self._begun = self._leave_later()

    def _make_room(self):
        idle = [x for x in self.connections if x._idle and not x._unread]
        if not idle:
            self.app = functools.partial(_when_full, self.app)
            return
        # First connections without any request.
        oldest = min(idle, key=lambda x: (x.cycle is not None, x._since))
        self.connections.discard(oldest)
        oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Called when the client has sent data."""
        if self._broken:
            return
        super().data_received(data)
        if not self._idle:
            self._begun.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when the connection has ended."""
        self._begun.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Called when the client does not read what was sent."""
        super().pause_writing()
        self._stalled = self._leave_later()

    def resume_writing(self) -> None:
        """Called when the client reads again."""
        super().resume_writing()
        self._stalled.cancel()

    def send_400_response(self, msg: str) -> None:
        """Called when the request is not HTTP."""
        state = self.conn.our_state
        if self.cycle is not None:
            # The application must not answer, too.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if state is h11.IDLE:
            log.info("A request that is not HTTP: 400")
        if state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (
                h11.Response(status_code=400, headers=[*_CLOSE.items()]),
                h11.Data(data=json.dumps({"error": msg}).encode()),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event))
            self._broken = True
            self._begun.cancel()
            self._begun = self._leave_later()
            self.transport.write_eof()
        else:
            self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Returns whether an answer must still be sent."""
        self._ended = True
        return not self._idle and not self.cycle.more_body

    def on_response_complete(self) -> None:
        """Called when an answer was sent; continues with the next request."""
        super().on_response_complete()
        self._since = self.loop.time()
        if self._idle:
            self._begun = self._leave_later()
        if self._ended and (self._idle or self.cycle.more_body):
            self.transport.close()

    def _leave_later(self):
        return self.loop.call_later(
            self.config.timeout_graceful_shutdown or 0, self.transport.abort
        )


class Refusals:
    """Delivers refusals to clients and logs each in one line.

    A client that is still sending would fail instead of reading the refusal. So
    its remaining data are received and dropped.

    Args:
        app: The wrapped ASGI application.
        seconds: Maximum time to receive remaining data.
        log_all: Whether to log all requests.
    """

    def __init__(self, app: Any, seconds: float, log_all: bool = False):
        self.app, self.seconds, self.log_all = app, seconds, log_all

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handles a request (ASGI interface)."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _BODY & {name for name, _ in scope["headers"]}
        unread = bool(body)

        async def read():
            nonlocal unread
            message = await receive()
            unread = message.get("more_body", False)
            return message

        async def noted(message):
            nonlocal unread
            if message["type"] == "http.response.start":
                self._log(scope, message["status"])
                if (b"connection", b"close") in message["headers"]:
                    unread = False
            elif unread and not message.get("more_body", False):
                await send({**message, "more_body": True})
                message = {"type": "http.response.body"}
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self.seconds):
                        while unread:
                            await read()
            await send(message)

        # With both headers, a proxy may see another end of the request.
        app = _AMBIGUOUS if body == _BODY else self.app
        await app(scope, read, noted)

    def _log(self, scope, status):
        # The process of the model logs why a call failed (500).
        if not self.log_all and (status < 400 or status == 500):
            return
        # 503 tells clients to try again, such as while a version is loaded.
        fault = status >= 500 and status != 503
        level = logging.ERROR if fault else logging.INFO
        line = f"{scope['method']} {scope['raw_path'].decode('ascii')}"
        log.log(level, "%s: %d", line[:200], status)


_AMBIGUOUS = JSONResponse(
    {
        "error": "A request must have either Content-Length or "
        "Transfer-Encoding. Received: both."
    },
    400,
    _CLOSE,
)


async def _when_full(app, scope, receive, send):
    """Only tells that the server lives. Restarting it would not help."""
    app = app if scope.get("path") == "/v2/health/live" else _FULL
    await app(scope, receive, send)


_FULL = Refusals(
    JSONResponse(
        {"error": "Too many clients are connected. Try again later."},
        503,
        {"Retry-After": "1", **_CLOSE},
    ),
    0,
)
