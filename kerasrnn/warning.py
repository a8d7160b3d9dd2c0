"""Warnings that refer to the line of the user's call."""

import sys
import warnings


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Gives a warning that refers to the last line outside of the package.

    Args:
        message: String.
        category: The class of the warning.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(
        "kerasrnn."
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
