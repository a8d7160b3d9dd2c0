"""What the HTTP process and the processes of models tell each other.

That is the settings of the server, requests and answers.
"""

import asyncio
import dataclasses
import math
import pickle
import re
from typing import Any
from typing import BinaryIO

_SIZE_BYTES = 8
# Numbers of no requests. A process that is told to cancel `ALIVE` answers, and
# so proves that it reads its messages. `EXAMPLE` is a call of its own making,
# which proves that it computes.
ALIVE, EXAMPLE = -1, -2


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Settings of the server. Larger requests are refused before any work.

    Raises:
        ValueError: when a number is not positive, `port` is not a port, or
            `cors` has anything but origins.
    """

    max_rows: int = 1024
    """Maximum rows of an input, such as sentences to translate at once."""
    max_positions: int = 2**16
    """Maximum positions of a request: rows times length, plus max_tokens."""
    max_values: int = 2**21
    """Maximum number of values in an answer."""
    batch_rows: int = 32
    """Maximum rows of small requests that are computed in one batch."""
    threads: int = 8
    """Number of calls that run at once in the process of a version."""
    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 for all interfaces."""
    port: int = 8080
    """Port to listen at."""
    max_request_bytes: int = 4 * 2**20
    """Maximum size of a request in bytes."""
    timeout: float = 30.0
    """Seconds to receive a request, and to answer it."""
    load_timeout: float = 600.0
    """Seconds to load a version; a slower one is skipped."""
    waiting: int = 256
    """Running and waiting calls of a model; more get status 503."""
    max_connections: int = 512
    """Maximum number of connections; at most half of `ulimit -n`."""
    poll_seconds: float = 5.0
    """Seconds between checks for new versions."""
    cors: tuple[str, ...] = ()
    """Origin of web pages with access, such as https://example.org, or *."""
    keep_programs: bool = True
    """Whether to cache compiled XLA programs for the next start."""
    access_log: bool = False
    """Whether to log all requests, not only refused ones."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            right, expected = 0 < value < math.inf, "> 0"
            if name == "port":
                right, expected = 0 <= value < 2**16, "from 0 to 65535"
            if not right:
                raise ValueError(
                    f"`{name}` must be {expected}. Received: {name}={value}"
                )
        for origin in self.cors:
            if not re.fullmatch(r"\*|null|[\w.+-]+://[^/\s]+", origin):
                raise ValueError(
                    "`cors` must have origins, such as 'https://example.org' "
                    f"without a path, or '*'. Received: {origin!r}"
                )


@dataclasses.dataclass(frozen=True)
class Request:
    """A request to a model, as received.

    Args:
        protocol: `"v1"` or `"v2"`.
        body: The whole body.
        header_length: Length in bytes of the JSON before binary tensors (v2);
            `None` without binary tensors.
    """

    protocol: str
    body: bytes
    header_length: int | None = None


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to a request.

    Args:
        status: HTTP status.
        body: JSON, or JSON and binary tensors.
        header_length: As in `Request`.
    """

    status: int
    body: bytes
    header_length: int | None = None


def packed(message: Any) -> bytes:
    """Serializes a message.

    Args:
        message: An object of the classes above, or a built-in Python object.
    """
    body = pickle.dumps(message)
    return len(body).to_bytes(_SIZE_BYTES, "big") + body


async def receive(reader: asyncio.StreamReader) -> Any:
    """Waits for the next message.

    Args:
        reader: The stream that the other process writes to.

    Returns:
        The message.

    Raises:
        asyncio.IncompleteReadError: when the other process has ended.
    """
    size = int.from_bytes(await reader.readexactly(_SIZE_BYTES), "big")
    return pickle.loads(await reader.readexactly(size))


def read(file: BinaryIO) -> Any:
    """Waits for the next message, without asyncio.

    Args:
        file: The stream that the other process writes to.

    Returns:
        The message; `None` when the other process has ended.
    """
    size = int.from_bytes(file.read(_SIZE_BYTES), "big")
    body = file.read(size)
    return pickle.loads(body) if size and len(body) == size else None
