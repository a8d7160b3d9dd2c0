"""What passes between the HTTP process and the process of a version."""

import asyncio
import dataclasses
import json
import pickle
from typing import Any
from typing import BinaryIO

_SIZE_BYTES = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """What a request may ask for. It is refused before any work begins."""

    max_rows: int = 1024
    """The most rows of an input, such as sentences to translate at once."""
    max_positions: int = 2**16
    """The most positions of a request: rows times length, with max_tokens."""
    max_values: int = 2**21
    """The most numbers and strings of an answer."""
    batch_rows: int = 32
    """The most rows of small requests that are computed together."""
    threads: int = 8
    """Calls that run at once in the process of a version."""


@dataclasses.dataclass(frozen=True)
class Request:
    """A request to a model, as it has come in.

    Args:
        protocol: `"v1"` or `"v2"`.
        body: The whole body.
        header_length: The bytes of the JSON before binary tensors, which v2
            allows; `None` if there are none.
    """

    protocol: str
    body: bytes
    header_length: int | None = None


@dataclasses.dataclass(frozen=True)
class Answer:
    """What to answer.

    Args:
        status: Status of HTTP.
        body: JSON, or JSON and binary tensors.
        header_length: As that of `Request`.
    """

    status: int
    body: bytes
    header_length: int | None = None


def error_answer(status: int, text: str) -> Answer:
    """Returns the answer to a request that is refused.

    Args:
        status: Status of HTTP.
        text: What was wrong. Nobody reads on after 1,000 characters, and some
            texts quote the request.
    """
    return Answer(status, json.dumps({"error": text[:1000]}).encode())


def packed(message: Any) -> bytes:
    """Returns the bytes to send for a message.

    Args:
        message: An object of the classes above, or one of Python's own.
    """
    body = pickle.dumps(message)
    return len(body).to_bytes(_SIZE_BYTES, "big") + body


async def receive(reader: asyncio.StreamReader) -> Any:
    """Waits for the next message.

    Args:
        reader: What the other process writes to.

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
        file: What the other process writes to.

    Returns:
        The message; `None` when the other process has ended.
    """
    size = int.from_bytes(file.read(_SIZE_BYTES), "big")
    body = file.read(size)
    return pickle.loads(body) if size and len(body) == size else None
