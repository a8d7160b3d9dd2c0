"""Filters what libraries write to standard error."""

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator

_INFO = re.compile(rb"^\S+\.cc\(\d+\) LOG\(INFO\) .*\n", re.MULTILINE)
_LOCK = threading.Lock()  # protects the standard error of the process


@contextlib.contextmanager
def filtered_stderr(noise: re.Pattern[bytes]) -> Iterator[None]:
    """Holds back standard error during a block, then writes it filtered.

    Args:
        noise: Pattern of text to drop.
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
            # On a full disk, the log is lost, but not the model that is loaded.
            with contextlib.suppress(OSError):
                os.write(2, noise.sub(b"", held.read()))


@contextlib.contextmanager
def without_sentence_piece_log() -> Iterator[None]:
    """Drops log lines of SentencePiece while it loads a model, not errors.

    SentencePiece has no log level, so lines are dropped if TensorFlow's log is
    reduced (`TF_CPP_MIN_LOG_LEVEL` above 0). Other output to standard error is
    held back until the end.
    """
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") == "0":
        yield
        return
    with filtered_stderr(_INFO):
        yield


def _memory():
    """Returns an anonymous file, on Linux in memory."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("stderr"), "w+b")
    return tempfile.TemporaryFile()


def _flush():
    if sys.stderr is not None:  # A process without a terminal may have none.
        sys.stderr.flush()
