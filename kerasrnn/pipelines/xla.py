"""Graphs compiled by XLA for a few static shapes.

XLA compiles a separate program for every shape, which takes seconds. So ids are
padded to one of a few shapes. Larger inputs run without XLA.
"""

import dataclasses
import functools
from collections.abc import Sequence

import tensorflow as tf

from kerasrnn.pipelines.signatures import graph_function

AXES = "rows", "lengths"
"""The names of the axes of ids `(batch, time)`."""


@dataclasses.dataclass(frozen=True)
class XlaShapes:
    """The static shapes of a pipeline's XLA programs.

    Ids of up to `rows[-1]` texts and `lengths[-1]` tokens are padded to the
    next numbers of rows and tokens. Larger inputs run without XLA.

    Args:
        rows: Increasing positive integers, numbers of texts. A search drops
            padding by halving a batch up to two times, so numbers that grow by
            factors of 4 waste little.
        lengths: Increasing positive integers, numbers of tokens of a text
            including its end token.

    Raises:
        ValueError: when one of them is empty, or does not contain increasing
            positive integers.

    Example:

    >>> XlaShapes(rows=[1, 4], lengths=[16])
    XlaShapes(rows=(1, 4), lengths=(16,))
    """

    rows: Sequence[int] = (1, 4, 16, 64)
    lengths: Sequence[int] = (16, 32, 64)

    def __post_init__(self) -> None:
        for name, sizes in dataclasses.asdict(self).items():
            ascending = sorted({x for x in sizes if isinstance(x, int)})
            if not sizes or list(sizes) != ascending or sizes[0] < 1:
                raise ValueError(
                    f"`{name}` must be increasing positive integers. Received: "
                    f"{name}={sizes!r}"
                )
            object.__setattr__(self, name, tuple(sizes))


def in_programs(function, otherwise, arguments, *grids):
    """Returns a function of ids that runs in XLA programs.

    Args:
        function: Function of integer tensors that returns a nest of tensors of
            shape `(rows, ...)`. XLA must be able to compile it, and padding at
            the end of an axis must not change the results for the rest.
        otherwise: Function with the same results, for ids of other sizes.
        arguments: A tuple `(axes, pad_id)` for each argument, ids: the names of
            its axes, starting with `"rows"`, and the id of padding. Axes with
            the same name have the same length in all arguments.
        *grids: Dictionaries from the name of each axis to the increasing sizes
            of programs. Ids run in a program of the first grid that they fit.
            The size of an axis with only one size is static.
    """
    specs = [tf.TensorSpec([None] * len(x), tf.int32) for x, _ in arguments]
    programs = [_program(function, arguments, sizes) for sizes in grids]

    def call(*given):
        needed = dict.fromkeys(grids[0], 0)
        for ids, (axes, _) in zip(given, arguments, strict=True):
            for axis, size in zip(axes, tf.unstack(tf.shape(ids)), strict=True):
                needed[axis] = tf.maximum(needed[axis], size)
        least = [
            {
                axis: tf.searchsorted(sizes[axis], [size])[0]
                for axis, size in needed.items()
            }
            for sizes in grids
        ]
        fits = [
            tf.reduce_all([i < len(sizes[axis]) for axis, i in index.items()])
            for sizes, index in zip(grids, least, strict=True)
        ]
        # A single switch, because TensorFlow copies nested functions for each
        # outer function.
        return tf.switch_case(
            tf.argmax(tf.cast([*fits, True], tf.int32), output_type=tf.int32),
            [
                *(
                    functools.partial(in_program, given, *each)
                    for each in zip(programs, grids, least, strict=True)
                ),
                lambda: otherwise(*given),
            ],
        )

    def in_program(given, program, sizes, least):
        padded = [
            _padded(ids, [tf.gather(sizes[x], least[x]) for x in axes], pad_id)
            for ids, (axes, pad_id) in zip(given, arguments, strict=True)
        ]
        rows = tf.shape(given[0])[0]
        return tf.nest.map_structure(
            lambda x: None if x is None else x[:rows], program(*padded)
        )

    return graph_function(call, *specs)


def _program(function, arguments, sizes):
    """Returns the graph that XLA compiles for each shape of a grid."""
    known = {axis: x[0] if len(x) == 1 else None for axis, x in sizes.items()}
    specs = [
        tf.TensorSpec([known[axis] for axis in axes], tf.int32)
        for axes, _ in arguments
    ]
    return tf.function(function, specs, autograph=False, jit_compile=True)


def _padded(ids, shape, pad_id):
    """Pads ids to a shape."""
    padding = tf.stack(shape) - tf.shape(ids)
    padding = tf.stack([tf.zeros_like(padding), padding], axis=1)
    return tf.pad(ids, padding, constant_values=pad_id)
