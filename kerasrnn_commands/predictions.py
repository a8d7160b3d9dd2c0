"""Passes requests for predictions to the process of a model."""

import asyncio
import contextlib
import time
import zlib
from collections.abc import Callable
from typing import Any

from prometheus_client import Counter
from prometheus_client import Histogram
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from kerasrnn_commands.live_model import LiveModel
from kerasrnn_commands.live_model import again_later
from kerasrnn_commands.messages import Request
from kerasrnn_commands.messages import ServerSettings

# Shorter parts are never refused.
_SMALL = 2**16


# zlib's codes for the header of a stream.
_STREAMS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


def _decompressor(encoding):
    """Returns a stream for a `Content-Encoding`; `None` without compression."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return None
    if encoding not in _STREAMS:
        raise HTTPException(
            415,
            "The content encoding must be gzip, deflate or identity. "
            f"Received: {encoding[:20]!r}.",
            {"Accept-Encoding": "gzip, deflate"},
        )
    return zlib.decompressobj(_STREAMS[encoding])


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
    """An ASGI application for requests for predictions, within limits.

    Args:
        settings: The `ServerSettings`.
        find: Function from a request to the `LiveModel` of its path. It raises
            an `HTTPException` if there is none.
    """

    def __init__(
        self, settings: ServerSettings, find: Callable[[HttpRequest], LiveModel]
    ):
        self.settings, self._find = settings, find
        self._held = 0  # bytes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handles a request (ASGI interface).

        Raises:
            HTTPException: when it is refused.
        """
        request = HttpRequest(scope, receive)
        model, start = self._find(request), time.monotonic()
        # The answer counts as in memory until the client has read it.
        with self._part() as grow:
            status = 499  # the client left before its request was complete
            try:
                model.serving()  # raises an error at once if there is none
                # No variable keeps the body while the answer is sent.
                answer = await model.call(await self._read(request, grow))
                grow(len(answer.body))
                status = answer.status
            except HTTPException as error:
                status = error.status_code
                raise
            finally:
                name = model.path.name
                REQUESTS.labels(name, status).inc()
                SECONDS.labels(name).observe(time.monotonic() - start)
            await _response(answer)(scope, receive, send)

    @contextlib.contextmanager
    def _part(self):
        """Yields a function that records the length of a request or answer.

        It counts until the end of the block. The function raises an
        `HTTPException` if the part is long and there are too many bytes.
        """
        held, most = 0, _LARGE_BODIES * self.settings.max_request_bytes

        def grow(size):
            nonlocal held
            self._held += size - held
            held = size
            if size > _SMALL and self._held > most:
                raise again_later("Too many long requests and answers.")

        try:
            yield grow
        finally:
            self._held -= held

    async def _read(self, request, grow):
        """Returns the request for the process; raises if too long or late."""
        encodings = request.headers.getlist("content-encoding")
        stream = _decompressor(", ".join(encodings))
        most = self.settings.max_request_bytes
        # A body that is announced as too long is refused at once.
        _check_length(int(request.headers.get("content-length", 0)), most)
        body, received = bytearray(), 0
        try:
            async with asyncio.timeout(self.settings.timeout):
                async for chunk in request.stream():
                    received += len(chunk)
                    if stream is not None:
                        # Only as much is decompressed as may be too long.
                        left = most + 1 - len(body)
                        chunk = stream.decompress(chunk, left)
                    body += chunk
                    _check_length(max(received, len(body)), most)
                    grow(len(body))
        except TimeoutError as error:
            raise HTTPException(
                408,
                "The request did not come within "
                f"{self.settings.timeout:g} seconds.",
            ) from error
        except zlib.error as error:
            raise _damaged(str(error)) from error
        if stream is not None and stream.unused_data:
            raise _damaged("bytes after its end")
        if stream is not None and not stream.eof:
            raise _damaged("a part of it")
        return _for_process(request, bytes(body))


def _check_length(length, most):
    if length > most:
        raise HTTPException(413, f"A request must have at most {most} bytes.")


def _for_process(request, body):
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


def _response(answer):
    """Returns the response for the answer of a process."""
    if answer.header_length is None:
        return Response(answer.body, answer.status, None, "application/json")
    headers = {HEADER_LENGTH: str(answer.header_length)}
    binary = "application/octet-stream"
    return Response(answer.body, answer.status, headers, binary)
