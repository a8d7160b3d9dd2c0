"""Requests for predictions, passed to the process of a model and answered."""

import asyncio
import time

from prometheus_client import Counter
from prometheus_client import Histogram
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from kerasrnn_server.held import Held
from kerasrnn_server.held import HeldResponse
from kerasrnn_server.held import Part
from kerasrnn_server.inflation import Inflation
from kerasrnn_server.live_model import LiveModel
from kerasrnn_server.messages import Request
from kerasrnn_server.settings import ServerSettings

REQUESTS = Counter(
    "kerasrnn_requests",
    "Requests to a model by the status of the answer",
    ["model", "status"],
)
SECONDS = Histogram(
    "kerasrnn_request_seconds", "Seconds for an answer", ["model"]
)

# Bodies and answers of the maximum length that may be held at once.
_LARGE_BODIES = 16
HEADER_LENGTH = "inference-header-content-length"


class Predictions:
    """Passes requests on, as many as the settings allow.

    Args:
        settings: The `ServerSettings`.
    """

    def __init__(self, settings: ServerSettings):
        self.settings = settings
        self._held = Held(_LARGE_BODIES * settings.max_request_bytes)

    async def answer(self, model: LiveModel, request: HttpRequest) -> Response:
        """Answers a request for a prediction.

        Args:
            model: The `LiveModel` that it is for.
            request: The request.

        Raises:
            HTTPException: when it is refused.
        """
        start = time.monotonic()
        status = 499  # of a client that leaves before its request is complete
        try:
            model.serving()  # If there is none, nothing is waited for.
            with self._held.part() as part:
                body = await self._body(request, part)
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

    async def _body(self, request: HttpRequest, part: Part) -> bytes:
        """The whole body, inflated, unless it is too long or does not come."""
        encodings = request.headers.getlist("content-encoding")
        inflation = Inflation(", ".join(encodings))
        most = self.settings.max_request_bytes
        # If it is announced to be too long, nothing is waited for.
        _check_length(int(request.headers.get("content-length", 0)), most)
        body, received = bytearray(), 0
        try:
            async with asyncio.timeout(self.settings.timeout):
                async for chunk in request.stream():
                    received += len(chunk)
                    _check_length(received, most)
                    body += inflation.inflate(chunk, most + 1 - len(body))
                    _check_length(len(body), most)
                    part.grow(len(body))
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
    """A request for the process of a model."""
    protocol = request.url.path[1:3]
    length = request.headers.get(HEADER_LENGTH)
    if length is None or protocol == "v1":
        return Request(protocol, body)
    # Python refuses to read thousands of digits.
    if not length[:20].isdecimal() or int(length[:20]) > len(body):
        raise HTTPException(
            400,
            f"{HEADER_LENGTH} must be the bytes of the JSON before binary "
            f"tensors, at most {len(body)}. Received: {length[:20]!r}.",
        )
    return Request(protocol, body, int(length))


def _written(answer, held):
    """The response to send for the answer of a process."""
    kind, headers = "application/json", None
    if answer.header_length is not None:
        kind = "application/octet-stream"
        headers = {HEADER_LENGTH: str(answer.header_length)}
    return HeldResponse(held, answer.body, answer.status, headers, kind)
