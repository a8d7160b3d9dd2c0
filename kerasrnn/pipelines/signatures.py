"""Served functions, and checks of their arguments."""

import functools

import tensorflow as tf

TEXTS = tf.TensorSpec([None], tf.string, name="text")


def graph_function(function, *specs):
    """Returns a `tf.function` with one graph, traced at the first call.

    Args:
        function: A function of tensors.
        *specs: The `tf.TensorSpec` of each argument.
    """
    return tf.function(function, specs, autograph=False)


def served_function(function, *specs):
    """Returns a `graph_function` that checks the shapes of its arguments.

    A SavedModel does not compare its inputs with its signature. If one of two
    columns were missing, the other one would be read twice.

    Args:
        function, *specs: As in `graph_function`.

    Raises:
        tf.errors.InvalidArgumentError: when the shape of an argument does not
            match its `tf.TensorSpec`.
    """

    @functools.wraps(function)
    def checked(*given, **others):
        given = (
            tf.ensure_shape(x, spec.shape)
            for x, spec in zip(given, specs, strict=False)
        )
        return function(*given, **others)

    return graph_function(checked, *specs)


def named(name, nest):
    """Returns the tensors of a nest as `NAME_0`, `NAME_1` and so on."""
    return {f"{name}_{i}": x for i, x in enumerate(tf.nest.flatten(nest))}


def flat_specs(name, nest):
    """Describes the tensors of a nest as arguments of a signature.

    Args:
        name: String, prefix of the names.
        nest: Nest of tensors of shape `(batch, ...)`.

    Returns:
        List of `tf.TensorSpec`, with the names of `named`.
    """
    return [
        tf.TensorSpec([None, *x.shape[1:]], x.dtype, name=key)
        for key, x in named(name, nest).items()
    ]


def after(checks, *tensors):
    """Returns tensors that depend on checks.

    Args:
        checks: List of operations from the functions below.
        *tensors: The tensors.

    Returns:
        List of the same tensors.
    """
    with tf.control_dependencies(checks):
        return [tf.identity(x) for x in tensors]


def check_same_rows(**tensors):
    """Raises unless all tensors have the same number of rows.

    Args:
        **tensors: Tensors of shape `(batch, ...)`, by name.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    rows = tf.stack([tf.shape(x)[0] for x in tensors.values()])
    names = ", ".join(tensors)
    return tf.debugging.Assert(
        tf.reduce_all(tf.equal(rows, rows[0])),
        [f"{names} must have the same number of rows. Received:", rows],
        summarize=-1,
    )


def check_steps(x):
    """Raises unless a tensor of shape `(batch, time, ...)` has steps.

    Args:
        x: Tensor of shape `(batch, time, ...)`.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    return tf.debugging.Assert(
        tf.shape(x)[1] > 0,
        ["Expected: at least one step. Received the shape:", tf.shape(x)],
        summarize=-1,
    )


def check_length(lengths, max_length, unit="tokens"):
    """Raises if a text has too many tokens, or a roll too many steps.

    Args:
        lengths: Integer tensor, numbers of tokens or steps.
        max_length: Integer, the maximum number.
        unit: String, the unit of the numbers.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    return tf.debugging.Assert(
        tf.reduce_all(lengths <= max_length),
        [f"At most {max_length} {unit} are allowed. Received:", lengths],
    )


def check_number(name, value, maximum=None):
    """Raises unless a number is finite, not negative and not too large.

    Args:
        name: String, the name of the argument.
        value: Scalar tensor.
        maximum: Float, the maximum; `None` for no limit.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    largest, bound = value.dtype.max, ">= 0"
    if maximum is not None:
        largest, bound = maximum, f">= 0 and <= {maximum}"
    return tf.debugging.Assert(
        (value >= 0) & (value <= largest),  # Both are false for NaN.
        [f"{name} must be {bound}. Received:", value],
    )


IDS = tf.TensorSpec([None, None], tf.int32, name="ids")
PAD = -1
"""Id of padding (at the end of rows) in all signatures on ids."""


def checked_ids(ids, vocabulary_size, pad_id):
    """Checks ids `(batch, ..., time)`, and sets the model's padding.

    Args:
        ids: Integer tensor of shape `(batch, ..., time)`, padded with -1 on
            the right.
        vocabulary_size: Integer, size of the vocabulary.
        pad_id: Integer id that replaces -1.

    Raises:
        tf.errors.InvalidArgumentError: when an id is unknown, or an id follows
            padding.
    """
    is_pad = tf.equal(ids, PAD)
    known = tf.logical_or(is_pad, (ids >= 0) & (ids < vocabulary_size))
    resumed = tf.logical_and(is_pad[..., :-1], ~is_pad[..., 1:])
    checks = [
        tf.debugging.Assert(
            tf.reduce_all(known),
            [
                f"Ids must be from 0 to {vocabulary_size - 1}, or {PAD} for "
                "padding. Received:",
                tf.boolean_mask(ids, ~known),
            ],
        ),
        tf.debugging.Assert(
            ~tf.reduce_any(resumed),
            [f"Padding, {PAD}, must be on the right. Received:", ids],
        ),
    ]
    with tf.control_dependencies(checks):
        return tf.where(is_pad, pad_id, ids)


def served_ids(ids, pad_id):
    """Converts padding of a model to that of signatures.

    Args:
        ids: Integer tensor of shape `(batch, time)`.
        pad_id: Integer id of padding of the model.
    """
    return tf.where(ids == pad_id, PAD, ids)
