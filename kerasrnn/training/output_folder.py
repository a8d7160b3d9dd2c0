"""The folder that a run writes: it can be written, and by one run alone."""

import contextlib
import pathlib
import tempfile

import filelock


def output_folder(path):
    """Makes a folder, or says at once that it cannot be written.

    Args:
        path: String or path of the folder.

    Returns:
        The folder, a `pathlib.Path`.

    Raises:
        OSError: when the folder cannot be made or written.
    """
    path = pathlib.Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise OSError(
            "The output folder must be one that can be made and written. "
            f"Received: '{path}' ({error.strerror})."
        ) from error


@contextlib.contextmanager
def locked(path):
    """Keeps other processes out of a folder.

    The lock is a file `.lock` in the folder. The system releases it when the
    process ends, even if it is killed. The same process may lock a folder again
    inside, as a recipe does around `TrainingFolder.fit`.

    Args:
        path: String or path of the folder, made where it is missing.

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
            "Another process is training in the output folder. Expected: one "
            "at a time; wait for its end, or name another folder. "
            f"Received: '{path}'."
        ) from error
    try:
        yield path
    finally:
        lock.release()
