"""Checks of constructor arguments, in every part of the package."""

import math
import numbers
import operator
from collections.abc import Iterable
from collections.abc import Mapping

# They would give letters, keys or no order.
NO_LISTS = str, bytes, Mapping, set, frozenset
_COMPARISONS = {">": operator.gt, ">=": operator.ge, "<=": operator.le}


def is_integer(value):
    """Whether a value is an integer; `True` is not: it is a flag."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def integer(name, value, minimum=None, maximum=None):
    """Returns `value` as an `int`, or raises `ValueError` naming it."""
    _check_bounds(
        name,
        value,
        is_integer(value),
        "an integer",
        {">=": minimum, "<=": maximum},
    )
    return int(value)


def number(name, value, minimum=None, above=None, maximum=None):
    """Returns `value` as a `float`, or raises `ValueError` naming it.

    Args:
        name: String, the name of the argument.
        value: What was received.
        minimum: Float, the smallest value; `None` for any.
        above: Float that the value must exceed; `None` for any.
        maximum: Float, the largest value; `None` for any.
    """
    is_real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    right = is_real and math.isfinite(value)
    _check_bounds(
        name,
        value,
        right,
        "a finite number",
        {">": above, ">=": minimum, "<=": maximum},
    )
    return float(value)


def _check_bounds(name, value, right, kind, bounds):
    """Raises unless a value is of the right kind and within its bounds."""
    bounds = {sign: x for sign, x in bounds.items() if x is not None}
    if not right or not all(
        _COMPARISONS[sign](value, x) for sign, x in bounds.items()
    ):
        within = " and ".join(f"{sign} {x}" for sign, x in bounds.items())
        raise ValueError(
            f"`{name}` must be {f'{kind} {within}'.rstrip()}. "
            f"Received: {name}={value!r}"
        )


def positive_integer(name, value):
    """Returns `value` as an `int`, or raises `ValueError` naming it."""
    return integer(name, value, 1)


def optional_positive_integer(name, value):
    """Returns `value` as an `int` or `None`, or raises `ValueError`."""
    return None if value is None else integer(name, value, 1)


def rate(name, value):
    """Returns `value` if it is in `[0, 1)`, or raises `ValueError`."""
    if not isinstance(value, numbers.Real) or not 0.0 <= value < 1.0:
        raise ValueError(
            f"`{name}` must be in [0, 1). Received: {name}={value!r}"
        )
    return value


def one_of(name, value, choices):
    """Returns `value` if it is among some choices, or raises `ValueError`.

    Each choice is a string, or `None`.
    """
    # Another value may not be one that can be compared or looked up.
    known = value is None or isinstance(value, str)
    if not known or value not in choices:
        *others, last = map(repr, choices)
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(
            f"`{name}` must be {listed}. Received: {name}={value!r}"
        )
    return value


def instance(name, value, kind, optional=False):
    """Returns `value`, or raises `ValueError` unless it is of a class.

    If it is `optional`, it may also be `None`.
    """
    if not (isinstance(value, kind) or (optional and value is None)):
        raise ValueError(
            f"`{name}` must be of class `{kind.__name__}`. "
            f"Received: {name}={value!r}"
        )
    return value


def same_shape(shape, expected):
    """Whether two shapes agree, where both are known: `None` is any length."""
    lengths = [{a, b} - {None} for a, b in zip(shape, expected, strict=False)]
    return len(shape) == len(expected) and max(map(len, lengths), default=0) < 2


def check_shape(name, x, shape):
    """Raises `ValueError` unless a tensor has a shape.

    Args:
        name: String, the name of the tensor.
        x: Tensor.
        shape: Tuple of integers. A string, such as `"batch"`, stands for any
            length, as `None` does. A length of `x` that is unknown is right.
    """
    lengths = [None if isinstance(n, str) else n for n in shape]
    if not same_shape(x.shape, lengths):
        raise ValueError(
            f"`{name}` must have shape ({', '.join(map(str, shape))}). "
            f"Received: {name}.shape={tuple(x.shape)}"
        )


def check_sequences(sequences):
    """Raises `ValueError` if sequences are ragged, or have no step.

    Args:
        sequences: Tensor of shape `(batch, time, ...)`.
    """
    check_not_ragged(sequences)
    if sequences.shape[1] == 0:
        raise ValueError(
            "A sequence must have one step or more, `(batch, time, ...)`. "
            "Received: a sequence of shape "
            f"{tuple(sequences.shape)}"
        )


def check_not_ragged(x):
    """Raises `ValueError` if a tensor has rows of different lengths."""
    if hasattr(x, "row_lengths"):
        raise ValueError(
            "Sequences of different lengths are padded, and the padding is "
            "masked. Expected: `x.to_tensor()` and, where the layer takes a "
            "mask, `tf.sequence_mask(x.row_lengths())`. Received: a ragged "
            f"tensor of shape {tuple(x.shape)}"
        )


def check_mask(name, mask, sequences):
    """Raises `ValueError` unless a mask is `(batch, time)`.

    Args:
        name: String, the name of the mask.
        mask: Tensor. That of one row may stand for all rows.
        sequences: Tensor of shape `(batch, time, ...)`.
    """
    batch, time = sequences.shape[:2]
    if not any(same_shape(mask.shape, (rows, time)) for rows in (batch, 1)):
        raise ValueError(
            f"`{name}` must say of each step whether it is read. "
            f"Expected: shape ({batch}, {time}). "
            f"Received: {name}.shape={tuple(mask.shape)}"
        )


def integers(name, values):
    """Returns `values` as a tuple of `int`s, or raises `ValueError`."""
    try:
        return tuple(integer(name, value) for value in values)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`{name}` must be a list of integers. Received: {name}={values!r}"
        ) from error


def is_text(value):
    """Whether a value is a string that UTF-8 can represent."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return False
        return True
    return False


def is_string(value):
    """Whether it is a text, or bytes, as TensorFlow gives strings."""
    return isinstance(value, bytes) or is_text(value)


def string_list(name, values, minimum=0, is_right=is_text):
    """Returns an iterable of strings as a list, or raises `ValueError`.

    Args:
        name: String, the name of the argument.
        values: What was received.
        minimum: Integer, the smallest number of strings.
        is_right: Function that tells whether an item is such a string.
    """
    return list(each_string(name, values, minimum, is_right))


def each_string(name, values, minimum=0, is_right=is_text):
    """Yields what `string_list` returns, one after another."""
    expected = f"`{name}` must be a list of strings"
    expected += f", at least {minimum}. " if minimum else ". "
    in_order = isinstance(values, Iterable) and not isinstance(values, NO_LISTS)
    if not in_order or getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{expected}Received: {values!r:.80}")
    count = 0
    for value in values:
        if not is_right(value):
            raise ValueError(f"{expected}Received: {value!r:.80} in it")
        count += 1
        yield value
    if count < minimum:
        raise ValueError(f"{expected}Received: {count}")
