"""Checks of constructor arguments."""

import math
import numbers


def integer(name, value, minimum=None):
    """Returns `value` as an `int`, or raises `ValueError` naming it."""
    right = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not right or (minimum is not None and value < minimum):
        bound = "" if minimum is None else f" >= {minimum}"
        raise ValueError(
            f"`{name}` must be an integer{bound}. Received: {name}={value!r}"
        )
    return int(value)


def number(name, value, above=None):
    """Returns `value` as a `float`, or raises `ValueError` naming it.

    Args:
        name: String, the name of the argument.
        value: What was received.
        above: Float that the value must exceed; `None` to allow 0 and more.
    """
    right = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if right and math.isfinite(value):
        if value >= 0 if above is None else value > above:
            return float(value)
    bound = ">= 0" if above is None else f"> {above}"
    raise ValueError(
        f"`{name}` must be a finite number {bound}. Received: {name}={value!r}"
    )


def integers(name, values):
    """Returns `values` as a tuple of `int`s, or raises `ValueError`."""
    try:
        return tuple(integer(name, value) for value in values)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`{name}` must be a list of integers. Received: {name}={values!r}"
        ) from error
