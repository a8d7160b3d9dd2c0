"""The bytes of requests and answers that the server holds at once."""

import contextlib
from collections.abc import Iterator
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

# Nobody is refused for holding less.
_SMALL = 2**16


class Held:
    """Counts the bytes that are held, and refuses long parts beyond a limit.

    Args:
        most: The most bytes, about.
    """

    def __init__(self, most: int):
        self.most, self.size = most, 0

    @contextlib.contextmanager
    def part(self) -> Iterator["Part"]:
        """Yields a `Part`, which is held until the end of the block."""
        part = Part(self)
        try:
            yield part
        finally:
            self.size -= part.size


class Part:
    """The bytes of one request or answer.

    Args:
        held: The `Held` of all of them.
    """

    def __init__(self, held: Held):
        self.held, self.size = held, 0

    def grow(self, size: int) -> None:
        """Notes how long it is.

        Args:
            size: Its bytes.

        Raises:
            HTTPException: when it is long, and too much is held.
        """
        self.held.size += size - self.size
        self.size = size
        if size > _SMALL and self.held.size > self.held.most:
            raise again_later("Too many long requests and answers.")


class HeldResponse(Response):
    """A response that is held until the client has taken it.

    Args:
        held: The `Held` of all of them.
        *args: As of `Response`.
    """

    def __init__(self, held: Held, *args: Any):
        super().__init__(*args)
        self.held = held

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Sends the response, as ASGI demands."""
        with self.held.part() as part:
            part.grow(len(self.body))
            await super().__call__(scope, receive, send)


def again_later(text: str) -> HTTPException:
    """Returns the error for a client that should ask again.

    Args:
        text: Why it is refused.
    """
    headers = {"Retry-After": "1"}
    return HTTPException(503, f"{text} Try again later.", headers)
