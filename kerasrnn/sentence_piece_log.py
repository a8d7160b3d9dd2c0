"""Keeps what SentencePiece logs, which has no level, off the terminal."""

import contextlib
import os
import re
from collections.abc import Iterator

from kerasrnn_commands.stderr import filtered_stderr

_INFO = re.compile(rb"^\S+\.cc\(\d+\) LOG\(INFO\) .*\n", re.MULTILINE)


@contextlib.contextmanager
def without_sentence_piece_log() -> Iterator[None]:
    """Drops what the library logs while it loads a model, but no error of it.

    It does so if TensorFlow is to log less: if `TF_CPP_MIN_LOG_LEVEL` is above
    0. What else is written to the standard error is held back to the end.
    """
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") == "0":
        yield
        return
    with filtered_stderr(_INFO):
        yield
