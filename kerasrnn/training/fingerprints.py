"""Short texts that stand for settings, data and files."""

import json
import os
import pathlib
import zlib


def fingerprint(facts):
    """Returns eight hexadecimal digits that stand for some facts.

    Args:
        facts: What `json.dumps` takes, and paths.

    Raises:
        TypeError: when there is anything else in it. Of an array, for one,
            give the list.

    Example:

    >>> fingerprint({"units": 8}) == fingerprint({"units": 9})
    False
    """
    text = json.dumps(facts, default=os.fspath, sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x}"


def file_fingerprint(path):
    """Returns eight hexadecimal digits that stand for what is in a file.

    Args:
        path: String or path of the file.

    Example:

    >>> pathlib.Path("words.txt").write_text("red book")
    >>> file_fingerprint("words.txt")
    'eadc34a3'
    """
    return f"{zlib.crc32(pathlib.Path(path).read_bytes()):08x}"
