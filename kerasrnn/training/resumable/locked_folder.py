"""The folder that a run writes, which is locked while the run lasts."""

import contextlib
import pathlib
from collections.abc import Iterator

import filelock

from kerasrnn.files import output_folder
from kerasrnn.typing import PathLike


@contextlib.contextmanager
def locked(path: PathLike) -> Iterator[pathlib.Path]:
    """Locks a folder, so that no other process locks it at the same time.

    The lock is a file `.lock` in the folder. The system releases it when the
    process ends, even if it is killed. The process that holds the lock may
    lock the folder again, as a recipe does around `TrainingFolder.fit`.

    Args:
        path: String or path of the folder, created if it is missing.

    Yields:
        The folder, a `pathlib.Path`.

    Raises:
        RuntimeError: when another process has locked it.

    Example:

    >>> with locked("saved_models/mine") as output:
    ...     (output / "notes.txt").write_text("No other process writes here.")
    """
    path = output_folder(path)
    lock = filelock.FileLock(path / ".lock", timeout=0, is_singleton=True)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise RuntimeError(
            "Another process is at work in the output folder. Expected: one "
            "process at a time; wait until it ends, or choose another folder. "
            f"Received: '{path}'."
        ) from error
    try:
        yield path
    finally:
        lock.release()
