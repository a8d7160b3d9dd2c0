"""Checks of what is drawn."""

import numpy as np

from kerasrnn.arguments import string_list
from kerasrnn.plots.labels import shortened
from kerasrnn.plots.style import STYLES


def checked_states(states, words) -> tuple[np.ndarray, list[str]]:
    """Returns hidden states as an array and short words, if they fit."""
    words = string_list("words", words, minimum=1)
    states = np.asarray(states, dtype="float64")
    if states.ndim != 2 or len(states) != len(words) or not states.size:
        raise ValueError(
            "`states` must have shape (time, units), one row for each of "
            f"`words`, here ({len(words)}, units). "
            f"Received: states.shape={states.shape}"
        )
    if not np.isfinite(states).all():
        raise ValueError(
            "`states` must be finite. Received: "
            f"{np.sum(~np.isfinite(states))} of {states.size} that are not."
        )
    return states, list(map(shortened, words))


def check_count(name, curves):
    """Raises `ValueError` unless there is a style for each of some curves."""
    if not 1 <= len(curves) <= len(STYLES):
        raise ValueError(
            f"`{name}` must hold 1 to {len(STYLES)} curves. "
            f"Received: {len(curves)}"
        )


def is_curve(values):
    """Whether an array is a vector of numbers, at least one."""
    return values.ndim == 1 and values.size > 0 and values.dtype.kind in "fiu"
