"""Files that are there whole, or not at all."""

import contextlib
import ctypes
import os
import pathlib
import tempfile


@contextlib.contextmanager
def whole(path):
    """Gives a place to write a file, and moves it where it belongs.

    What is written in place of an earlier file replaces it at the end, so
    that a process may be killed, or a disk fill up, at any moment.

    Args:
        path: A `pathlib.Path`.

    Yields:
        The path to write, in the same folder.

    Raises:
        OSError: when the file cannot be written.

    Example:

    >>> with whole(pathlib.Path("card.json")) as partial:
    ...     partial.write_text("{}")
    """
    partial = path.with_name(f"partial-{path.name}")
    with writing(partial):
        yield partial
        put(partial, path)


def put(partial, path):
    """Moves a file that is written in place of another.

    Args:
        partial: A `pathlib.Path`, of the file that was written.
        path: A `pathlib.Path`, in the same folder.
    """
    # Else a power failure could leave the name, and nothing behind it.
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.replace(path)


def exchange(one, other):
    """Swaps two folders or files, so that neither name is ever missing.

    Where the system cannot (`renameat2` of Linux, `renamex_np` of macOS), or
    the file system, there is a moment without `other`.

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
        one.rename(other)
        between.rename(one)


@contextlib.contextmanager
def writing(path):
    """Says in a sentence why a file cannot be written, and removes its part.

    Args:
        path: A `pathlib.Path`, of what is written inside.

    Raises:
        OSError: in place of what the writer raised.
    """
    try:
        yield
    # h5py raises either.
    except (OSError, RuntimeError) as error:
        number = getattr(error, "errno", None)
        with contextlib.suppress(OSError):
            path.unlink()
        raise OSError(
            number,
            f"{os.strerror(number) if number else error}. Expected: room to "
            "write in that folder, on a disk that is not full. What was there "
            "before is whole, and the run goes on from it when it is called "
            "again. Received",
            str(path),
        ) from error


def make_sure_of_room(folder, size):
    """Fails where there is no room for a file, before it is written.

    h5py cannot let go of a file that a full disk keeps it from writing, and
    ends the process with a crash.

    Args:
        folder: Path of the folder.
        size: Integer, how many bytes the file may have.

    Raises:
        OSError: when there is no room.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        if hasattr(os, "posix_fallocate"):  # not on macOS and Windows
            os.posix_fallocate(file.fileno(), 0, size)


@contextlib.contextmanager
def reading(path, remedy):
    """Says which file is damaged, and what to do.

    Args:
        path: The file that is read inside.
        remedy: String, what to do, in sentences.

    Raises:
        ValueError: in place of what the reader raised.
    """
    try:
        yield
    # What h5py, Keras and json raise of a file that is not what it was.
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            "A file is damaged, missing or of another run. "
            f"{remedy} Received: '{path}'."
        ) from error
