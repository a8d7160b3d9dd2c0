"""Checksums of settings, data and files."""

import json
import os
import pathlib
import zlib
from typing import Any

import numpy as np

from kerasrnn.typing import PathLike


def fingerprint(facts: Any) -> str:
    """Returns a checksum of facts, eight hexadecimal digits.

    Args:
        facts: A value that `json.dumps` accepts. It may also contain paths,
            arrays of numbers, and objects with a method `fingerprint`, such as
            a `kerasrnn.data.SeriesTable`.

    Raises:
        TypeError: when it contains anything else.

    Example:

    >>> fingerprint({"units": 8}) == fingerprint({"units": 9})
    False
    """
    text = json.dumps(facts, default=plain, sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x}"


def plain(value: Any) -> Any:
    """Replaces a value that is not JSON by its path or a checksum."""
    if hasattr(value, "fingerprint"):
        return value.fingerprint()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return [value.dtype.str, value.shape, zlib.crc32(value.tobytes())]
    path = os.fspath(value)
    if isinstance(path, bytes):  # not JSON, either
        raise TypeError(f"Expected text or a path. Received: {value!r:.40}")
    return path


def file_fingerprint(path: PathLike) -> str:
    """Returns a checksum of the content of a file, eight hexadecimal digits.

    Args:
        path: String or path of the file.

    Example:

    >>> pathlib.Path("words.txt").write_text("red book")
    >>> file_fingerprint("words.txt")
    'eadc34a3'
    """
    return f"{zlib.crc32(pathlib.Path(path).read_bytes()):08x}"
