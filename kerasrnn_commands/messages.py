"""Messages between the HTTP process and the processes of models."""

import asyncio
import dataclasses
import pickle
from typing import Any
from typing import BinaryIO

_SIZE_BYTES = 8
# Numbers of no requests. A process that is told to cancel `ALIVE` answers, and
# so proves that it reads its messages. `EXAMPLE` is a call of its own making,
# which proves that it computes.
ALIVE, EXAMPLE = -1, -2


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
