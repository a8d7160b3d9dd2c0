"""Keeps what SentencePiece logs, which has no level, off the terminal."""

import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Iterator

_LOCK = threading.Lock()  # around the standard error of the process
_INFO = re.compile(rb"^\S+\.cc\(\d+\) LOG\(INFO\) .*\n", re.MULTILINE)


@contextlib.contextmanager
def without_sentence_piece_log() -> Iterator[None]:
    """Drops what the library tells while it loads a model, but no error of it.

    It does so if TensorFlow is to log less: if `TF_CPP_MIN_LOG_LEVEL` is above
    0. What else is written to the standard error is held back to the end.
    """
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") == "0":
        yield
        return
    with _LOCK, tempfile.TemporaryFile() as held:
        terminal = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)
            held.seek(0)
            os.write(2, _INFO.sub(b"", held.read()))
