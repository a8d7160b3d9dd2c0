"""Standard error of the process, without what libraries write to it."""

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator

_INFO = re.compile(rb"^\S+\.cc\(\d+\) LOG\(INFO\) .*\n", re.MULTILINE)
_LOCK = threading.Lock()  # around the standard error of the process


@contextlib.contextmanager
def filtered_stderr(noise: re.Pattern[bytes]) -> Iterator[None]:
    """Holds back what is written to standard error; then writes the rest.

    Args:
        noise: Pattern of what is dropped.
    """
    with _LOCK, _memory() as held:
        _flush()
        terminal = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            _flush()
            os.dup2(terminal, 2)
            os.close(terminal)
            held.seek(0)
            os.write(2, noise.sub(b"", held.read()))


@contextlib.contextmanager
def without_sentence_piece_log() -> Iterator[None]:
    """Drops what SentencePiece logs while it loads a model, but no error.

    Its log has no level. This does so if TensorFlow is to log less: if
    `TF_CPP_MIN_LOG_LEVEL` is above 0. What else is written to the standard
    error is held back to the end.
    """
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") == "0":
        yield
        return
    with filtered_stderr(_INFO):
        yield


def _memory():
    """A file without a name, and on Linux without a folder to write to."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("stderr"), "w+b")
    return tempfile.TemporaryFile()


def _flush():
    if sys.stderr is not None:  # A process without a terminal may have none.
        sys.stderr.flush()
