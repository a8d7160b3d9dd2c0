"""Checks of constructor arguments."""

import numbers


def positive_integer(name, value):
    """Returns `value` as an `int`, or raises `ValueError` naming it."""
    integer = isinstance(value, numbers.Integral)
    if isinstance(value, bool) or not integer or value < 1:
        raise ValueError(
            f"`{name}` must be a positive integer. Received: {name}={value!r}"
        )
    return int(value)


def rate(name, value):
    """Returns `value` if it is in `[0, 1)`, or raises `ValueError`."""
    if not isinstance(value, numbers.Real) or not 0.0 <= value < 1.0:
        raise ValueError(
            f"`{name}` must be in [0, 1). Received: {name}={value!r}"
        )
    return value
