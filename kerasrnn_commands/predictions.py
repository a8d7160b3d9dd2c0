"""Passes requests for predictions to the process of a model."""

import asyncio
import contextlib
import time
import zlib
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

from prometheus_client import Counter
from prometheus_client import Histogram
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from kerasrnn_commands.live_model import LiveModel
from kerasrnn_commands.live_model import again_later
from kerasrnn_commands.messages import Request
from kerasrnn_commands.settings import ServerSettings

# Shorter parts are never refused.
_SMALL = 2**16


class Held:
    """Counts the bytes in memory, and refuses long parts beyond a limit.

    Args:
        most: Approximate maximum number of bytes.
    """

    def __init__(self, most: int):
        self.most, self.size = most, 0

    @contextlib.contextmanager
    def part(self) -> Iterator[Callable[[int], None]]:
        """Yields a function that records the length of a request or answer.

        It counts until the end of the block. The function raises an
        `HTTPException` if the part is long and the limit is exceeded.
        """
        held = 0

        def grow(size):
            nonlocal held
            self.size += size - held
            held = size
            if size > _SMALL and self.size > self.most:
                raise again_later("Too many long requests and answers.")

        try:
            yield grow
        finally:
            self.size -= held


class HeldResponse(Response):
    """A response that counts as in memory until the client has read it.

    Args:
        held: The common `Held`.
        *args: As in `Response`.
    """

    def __init__(self, held: Held, *args: Any):
        super().__init__(*args)
        self.held = held

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Sends the response (ASGI interface)."""
        with self.held.part() as grow:
            grow(len(self.body))
            await super().__call__(scope, receive, send)


# zlib's codes for the header of a stream.
_STREAMS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class Inflation:
    """Decompresses a body piece by piece, safe against zip bombs.

    Args:
        encoding: The header `Content-Encoding`.

    Raises:
        HTTPException: when it names another encoding.
    """

    def __init__(self, encoding: str):
        encoding = encoding.strip().lower()
        self._stream = None
        if encoding in _STREAMS:
            self._stream = zlib.decompressobj(_STREAMS[encoding])
        elif encoding not in ("", "identity"):
            raise HTTPException(
                415,
                "The content encoding must be gzip, deflate or identity. "
                f"Received: {encoding[:20]!r}.",
                {"Accept-Encoding": "gzip, deflate"},
            )

    def inflate(self, piece: bytes, most: int) -> bytes:
        """Decompresses a piece, up to a maximum length.

        Args:
            piece: The next bytes of the body.
            most: Maximum number of bytes to return. With fewer, the piece is
                complete.

        Raises:
            HTTPException: when the stream is damaged.
        """
        if self._stream is None:
            return piece
        try:
            found = self._stream.decompress(piece, most)
        except zlib.error as error:
            raise _damaged(str(error)) from error
        if self._stream.unused_data:
            raise _damaged("bytes after its end")
        return found

    def end(self) -> None:
        """Tells that the body has ended.

        Raises:
            HTTPException: when the stream is incomplete.
        """
        if self._stream is not None and not self._stream.eof:
            raise _damaged("a part of it")


def _damaged(received):
    return HTTPException(
        400,
        "The body must be one complete stream of its content encoding. "
        f"Received: {received}.",
    )


REQUESTS = Counter(
    "kerasrnn_requests",
    "Requests to a model by the status of the answer",
    ["model", "status"],
)
SECONDS = Histogram(
    "kerasrnn_request_seconds", "Seconds for an answer", ["model"]
)

# Number of bodies and answers of maximum length that fit into the limit.
_LARGE_BODIES = 16
HEADER_LENGTH = "inference-header-content-length"


class Predictions:
    """Passes requests on, within the limits of the settings.

    Args:
        settings: The `ServerSettings`.
    """

    def __init__(self, settings: ServerSettings):
        self.settings = settings
        self._held = Held(_LARGE_BODIES * settings.max_request_bytes)

    async def answer(self, model: LiveModel, request: HttpRequest) -> Response:
        """Answers a request for a prediction.

        Args:
            model: The `LiveModel` to call.
            request: The request.

        Raises:
            HTTPException: when it is refused.
        """
        start = time.monotonic()
        status = 499  # the client left before its request was complete
        try:
            model.serving()  # raises an error at once if there is none
            with self._held.part() as grow:
                body = await self._body(request, grow)
                answer = await model.call(_read(request, body))
            status = answer.status
        except HTTPException as error:
            status = error.status_code
            raise
        finally:
            name = model.path.name
            REQUESTS.labels(name, status).inc()
            SECONDS.labels(name).observe(time.monotonic() - start)
        return _written(answer, self._held)

    async def _body(
        self, request: HttpRequest, grow: Callable[[int], None]
    ) -> bytes:
        """Returns the decompressed body; raises if it is too long or late."""
        encodings = request.headers.getlist("content-encoding")
        inflation = Inflation(", ".join(encodings))
        most = self.settings.max_request_bytes
        # A body that is announced as too long is refused at once.
        _check_length(int(request.headers.get("content-length", 0)), most)
        body, received = bytearray(), 0
        try:
            async with asyncio.timeout(self.settings.timeout):
                async for chunk in request.stream():
                    received += len(chunk)
                    _check_length(received, most)
                    body += inflation.inflate(chunk, most + 1 - len(body))
                    _check_length(len(body), most)
                    grow(len(body))
        except TimeoutError as error:
            raise HTTPException(
                408,
                "The request did not come within "
                f"{self.settings.timeout:g} seconds.",
                {"Connection": "close"},
            ) from error
        inflation.end()
        return bytes(body)


def _check_length(length, most):
    if length > most:
        raise HTTPException(413, f"A request must have at most {most} bytes.")


def _read(request, body):
    """Returns the request for the process of a model."""
    protocol = request.url.path[1:3]
    length = request.headers.get(HEADER_LENGTH)
    if length is None or protocol == "v1":
        return Request(protocol, body)
    # Python does not parse thousands of digits.
    if len(length) > 20 or not length.isdecimal() or int(length) > len(body):
        raise HTTPException(
            400,
            f"{HEADER_LENGTH} must be the bytes of the JSON before binary "
            f"tensors, at most {len(body)}. Received: {length[:20]!r}.",
        )
    return Request(protocol, body, int(length))


def _written(answer, held):
    """Returns the response for the answer of a process."""
    kind, headers = "application/json", None
    if answer.header_length is not None:
        kind = "application/octet-stream"
        headers = {HEADER_LENGTH: str(answer.header_length)}
    return HeldResponse(held, answer.body, answer.status, headers, kind)
