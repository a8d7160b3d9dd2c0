"""Files and folders, written completely or not at all, and read with care."""

import contextlib
import ctypes
import glob
import os
import pathlib
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator

import filelock

from kerasrnn.typing import PathLike

_LEFT_BEHIND = 24 * 60 * 60  # seconds
_DIGITS = 12
_UNIQUE = _DIGITS * "[0-9a-f]"


@contextlib.contextmanager
def atomic_write(path):
    """Provides a partial file to write, and renames it to `path` at the end.

    An existing file is replaced only then, so that it survives if the process
    is killed or the disk fills up. If the block raises, nothing is left.

    Args:
        path: A `pathlib.Path`.

    Yields:
        The path to write to, in the same folder.

    Raises:
        OSError: when the file cannot be written.

    Example:

    >>> with atomic_write(pathlib.Path("card.json")) as partial:
    ...     partial.write_text("{}")
    """
    partial = partial_of(path)
    try:
        with writing(partial, path):
            yield partial
            put(partial, path)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


@contextlib.contextmanager
def atomic_folder(path):
    """Provides a partial folder to fill, and renames it to `path` at the end.

    An existing folder, or the one that a link names, is replaced only then. If
    the block raises, nothing is left.

    Args:
        path: A `pathlib.Path`. Missing folders above it are created.

    Yields:
        The folder to fill, beside the one to replace.

    Raises:
        OSError: when the folder cannot be created or written.

    Example:

    >>> with atomic_folder(pathlib.Path("model/1")) as partial:
    ...     (partial / "card.json").write_text("{}")
    """
    path = path.resolve()
    output_folder(path.parent)
    partial = partial_of(path, ".partial")
    try:
        partial.mkdir()
        yield partial
        if path.exists():
            exchange(partial, path)
        else:
            partial.rename(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def output_folder(path: PathLike) -> pathlib.Path:
    """Creates a folder, and checks that it can be written.

    Args:
        path: String or path of the folder.

    Returns:
        The folder, a `pathlib.Path`.

    Raises:
        OSError: when the folder cannot be created or written.
    """
    path = pathlib.Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise OSError(
            "The output folder must be one that can be created and written. "
            f"Received: '{path}' ({error.strerror})."
        ) from error


def partial_of(path, mark="partial"):
    """Returns a name for a partial file or folder that no other writer has.

    Those in the folder that are older than a day are removed, since a killed
    process may have left them behind.

    Args:
        path: A `pathlib.Path`, of what is to be written.
        mark: String, the beginning of the name.

    Returns:
        A `pathlib.Path` in the same folder, whose name ends like that of
        `path`.
    """
    for left in path.parent.glob(f"{glob.escape(mark)}-{_UNIQUE}-*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _LEFT_BEHIND:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    return path.with_name(f"{mark}-{uuid.uuid4().hex[:_DIGITS]}-{path.name}")


def put(partial, path):
    """Replaces a file by one that is completely written.

    Args:
        partial: A `pathlib.Path`, of the written file.
        path: A `pathlib.Path`, of the file to replace, in the same folder.
    """
    # Without this, a power failure could leave an empty file.
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.replace(path)


def exchange(one, other):
    """Swaps two folders or files without a moment where one is missing.

    Linux does it with `renameat2`, macOS with `renamex_np`. Where the system
    or the file system has neither, `other` is missing for a moment.

    Args:
        one, other: Paths on one file system.
    """
    paths = [os.fsencode(path) for path in (one, other)]
    system = ctypes.CDLL(None)
    if hasattr(system, "renameat2"):
        here, swap = -100, 2
        if system.renameat2(here, paths[0], here, paths[1], swap) == 0:
            return
    elif hasattr(system, "renamex_np"):
        if system.renamex_np(paths[0], paths[1], 2) == 0:
            return
    with tempfile.TemporaryDirectory(dir=one.parent) as folder:
        between = pathlib.Path(folder, "between")
        other.rename(between)
        try:
            one.rename(other)
        except BaseException:
            between.rename(other)  # else it would go with the folder
            raise
        between.rename(one)


@contextlib.contextmanager
def writing(partial, path, more=""):
    """Explains why a file could not be written, and deletes the partial file.

    Args:
        partial: A `pathlib.Path`, of the file that is written in the block.
        path: A `pathlib.Path`, of the file that it becomes.
        more: String, what else there is to say of earlier files.

    Raises:
        OSError: instead of the error of the writer.
    """
    try:
        yield
    # h5py raises one or the other.
    except (OSError, RuntimeError) as error:
        if isinstance(error, NotImplementedError | RecursionError):
            raise  # A fault of the data, not of the disk.
        number = getattr(error, "errno", None)
        with contextlib.suppress(OSError):
            partial.unlink()
        raise OSError(
            number,
            f"{os.strerror(number) if number else error}. Expected: a folder "
            "that can be written, on a disk that is not full. Earlier files "
            f"are intact{more}. Received",
            str(path),
        ) from error


def check_free_space(folder, size):
    """Raises an error, before a file is written, if the disk is too full.

    On a full disk, h5py cannot close its file and crashes the process.

    Args:
        folder: Path of the folder.
        size: Integer, the maximum size of the file in bytes.

    Raises:
        OSError: when there is not enough room.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        if hasattr(os, "posix_fallocate"):  # not on macOS and Windows
            os.posix_fallocate(file.fileno(), 0, size)


# How Keras begins the error.
_NOT_FOUND = re.compile(r"Could not locate (class|function) '([^']+)'")


@contextlib.contextmanager
def reading(path, remedy, fault=""):
    """Says which file could not be read, and what to do about it.

    Args:
        path: Path of the file that is read in the block.
        remedy: String, full sentences that say what to do.
        fault: String, a sentence that says what is wrong, if that is known.

    Raises:
        ValueError: instead of the error of the reader; also where the file is
            right, but has a class that is not registered.
    """
    try:
        yield
    # A damaged file makes zip, h5py, Keras and json raise errors of all kinds.
    except Exception as error:
        if (name := _unknown(error)) and not fault:
            raise ValueError(
                f"A file needs {name}, which this process does not know. "
                "Expected: that its module is imported first, and that it is "
                "registered, by `keras.saving.register_keras_serializable`. "
                f"Received: '{path}'."
            ) from error
        received = f"'{path}'"
        if number := getattr(error, "errno", None):
            fault = f"A file cannot be read: {os.strerror(number).lower()}."
        else:
            reason, *_ = str(error.__cause__ or error).split("\n")
            received += f" ({reason:.150})"
        fault = fault or "A file is damaged or of another kind."
        raise ValueError(f"{fault} {remedy} Received: {received}.") from error


def _unknown(error):
    """The class or function that Keras could not find, in words, if any."""
    while error is not None:
        if found := _NOT_FOUND.search(str(error)):
            return f"the {found[1]} '{found[2]}'"
        error = error.__cause__ or error.__context__
    return None


@contextlib.contextmanager
def locked(path: PathLike) -> Iterator[pathlib.Path]:
    """Locks a folder, so that no other process locks it at the same time.

    The lock is a file `.lock` in the folder. The system releases it when the
    process ends, even if it is killed. A new folder that stays empty is removed
    again. The process that holds the lock may lock the folder again, as a
    recipe does around `TrainingFolder.fit`.

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
    is_new = not pathlib.Path(path).exists()
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
        # What fails before it writes anything leaves no folder.
        if is_new and {x.name for x in path.glob("*")} == {".lock"}:
            shutil.rmtree(path, ignore_errors=True)
        lock.release()
