"""Checksums of settings, data and files."""

import json
import os
import pathlib
import zlib
from typing import Any

import numpy as np

from kerasrnn.typing import PathLike


def fingerprint(facts: Any) -> str:
    """Returns a checksum of some facts, eight hexadecimal digits.

    Args:
        facts: A value that `json.dumps` accepts; it may also contain paths, and
            arrays of numbers.

    Raises:
        TypeError: when it contains anything else.

    Example:

    >>> fingerprint({"units": 8}) == fingerprint({"units": 9})
    False
    """
    text = json.dumps(facts, default=_plain, sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x}"


def _plain(fact):
    if isinstance(fact, np.ndarray) and fact.dtype != object:
        content = zlib.crc32(fact.tobytes())
        return [fact.dtype.str, fact.shape, content]
    return os.fspath(fact)


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
