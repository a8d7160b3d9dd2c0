"""What is served: functions, their arguments, and checks of these."""

import functools

import tensorflow as tf

TEXTS = tf.TensorSpec([None], tf.string, name="text")


def graph_function(function, *specs):
    """Returns a `tf.function` with one graph, traced at its first call.

    Args:
        function: A function of tensors.
        *specs: The `tf.TensorSpec` of each argument.
    """
    return tf.function(function, specs, autograph=False)


def served_function(function, *specs):
    """Returns a `graph_function` that refuses arguments of other shapes.

    A SavedModel does not compare what it is given with its signature: of two
    columns where one is missing, the other would be read twice.

    Args:
        function, *specs: As for `graph_function`.

    Raises:
        tf.errors.InvalidArgumentError: when the shape of an argument is not
            that of its `tf.TensorSpec`.
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
    """Returns the tensors of a nest by names: `NAME_0`, `NAME_1` and so on."""
    return {f"{name}_{i}": x for i, x in enumerate(tf.nest.flatten(nest))}


def flat_specs(name, nest):
    """Describes the tensors of a nest as arguments of a signature.

    Args:
        name: String, the prefix of their names.
        nest: Nest of tensors of shape `(batch, ...)`.

    Returns:
        List of `tf.TensorSpec`, named as by `named`.
    """
    return [
        tf.TensorSpec([None, *x.shape[1:]], x.dtype, name=key)
        for key, x in named(name, nest).items()
    ]


def after(checks, *tensors):
    """Returns tensors that are there only after some checks.

    Args:
        checks: List of the operations that functions below return.
        *tensors: The tensors.

    Returns:
        List of the same tensors.
    """
    with tf.control_dependencies(checks):
        return [tf.identity(x) for x in tensors]


def check_same_rows(**tensors):
    """Raises unless all tensors have the same number of rows.

    Args:
        **tensors: Tensors of shape `(batch, ...)`, by their names.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    rows = tf.stack([tf.shape(x)[0] for x in tensors.values()])
    names = ", ".join(tensors)
    return tf.debugging.Assert(
        tf.reduce_all(tf.equal(rows, rows[0])),
        [f"{names} must have as many rows as each other. Received:", rows],
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
        ["At least one step is expected. Received the shape:", tf.shape(x)],
        summarize=-1,
    )


def check_length(lengths, max_length, unit="tokens"):
    """Raises when a text has too many tokens, or a roll too many steps.

    Args:
        lengths: Integer tensor, numbers of tokens.
        max_length: Integer, the maximum number.
        unit: String, what is counted.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    return tf.debugging.Assert(
        tf.reduce_all(lengths <= max_length),
        [f"At most {max_length} {unit} are allowed. Received:", lengths],
    )


def check_number(name, value, maximum=None):
    """Raises unless a number is finite, not negative, and not too large.

    Args:
        name: String, the name of the argument.
        value: Scalar tensor.
        maximum: Float, the largest value; `None` for any.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    largest, bound = value.dtype.max, ">= 0"
    if maximum is not None:
        largest, bound = maximum, f">= 0 and <= {maximum}"
    return tf.debugging.Assert(
        (value >= 0) & (value <= largest),  # Neither is true of NaN.
        [f"{name} must be {bound}. Received:", value],
    )


IDS = tf.TensorSpec([None, None], tf.int32, name="ids")
PAD = -1
"""Id of padding in every signature on ids, at the end of a row."""


def checked_ids(ids, vocabulary_size, pad_id):
    """Returns ids `(batch, ..., time)` with the padding of a model.

    Args:
        ids: Integer tensor of shape `(batch, ..., time)`, padded with -1 on
            the right.
        vocabulary_size: Integer, the number of ids that the model knows.
        pad_id: Integer id, put in the place of -1.

    Raises:
        tf.errors.InvalidArgumentError: when an id is unknown, or padding is
            followed by an id.
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
    """Returns ids with the padding of signatures; `checked_ids` undoes it.

    Args:
        ids: Integer tensor of shape `(batch, time)`.
        pad_id: Integer id of padding of the model.
    """
    return tf.where(ids == pad_id, PAD, ids)
