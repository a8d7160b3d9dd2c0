"""Graphs of signatures, and their arguments."""

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
