"""Bodies that clients have compressed."""

import zlib

from starlette.exceptions import HTTPException

# How zlib is told of the header that a stream has.
_STREAMS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class Inflation:
    """Inflates a body piece by piece, so that a bomb does not go off.

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
        """Returns what a piece holds, or only its first bytes.

        Args:
            piece: The next bytes of the body.
            most: The most bytes to return. If there are fewer, they are all.

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
        """Says that the body has ended.

        Raises:
            HTTPException: when the stream has not.
        """
        if self._stream is not None and not self._stream.eof:
            raise _damaged("a part of it")


def _damaged(received):
    return HTTPException(
        400,
        "The body must be one whole stream of its content encoding. "
        f"Received: {received}.",
    )
