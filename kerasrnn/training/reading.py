"""Errors that say which file of a model or a run could not be read."""

import contextlib
import os
import re

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
