"""Errors that say which file of a model or a run could not be read."""

import contextlib
import re

# How Keras begins the error.
_NOT_FOUND = re.compile(r"Could not locate (class|function) '([^']+)'")


@contextlib.contextmanager
def reading(path, remedy):
    """Says which file could not be read, and what to do about it.

    Args:
        path: Path of the file that is read in the block.
        remedy: String, full sentences that say what to do.

    Raises:
        ValueError: instead of the error of the reader; also where the file is
            right, but has a class that is not registered.
    """
    try:
        yield
    # The errors of h5py, Keras and json when a file is damaged.
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        if name := _unknown(error):
            raise ValueError(
                f"A file needs {name}, which this process does not know. "
                "Expected: that its module is imported first, and that it is "
                "registered, by `keras.saving.register_keras_serializable`. "
                f"Received: '{path}'."
            ) from error
        raise ValueError(
            "A file is damaged, missing or from another run. "
            f"{remedy} Received: '{path}'."
        ) from error


def _unknown(error):
    """The class or function that Keras could not find, in words, if any."""
    while error is not None:
        if found := _NOT_FOUND.search(str(error)):
            return f"the {found[1]} '{found[2]}'"
        error = error.__cause__ or error.__context__
    return None
