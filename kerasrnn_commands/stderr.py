"""Standard error of the process, without what libraries write to it."""

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator

_LOCK = threading.Lock()  # around the standard error of the process


@contextlib.contextmanager
def filtered_stderr(noise: re.Pattern[bytes]) -> Iterator[None]:
    """Holds back what is written to standard error; then writes the rest.

    Args:
        noise: Pattern of what is dropped.
    """
    with _LOCK, tempfile.TemporaryFile() as held:
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


def _flush():
    if sys.stderr is not None:  # A process without a terminal may have none.
        sys.stderr.flush()
