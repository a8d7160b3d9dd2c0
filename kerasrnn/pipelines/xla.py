"""Graphs that XLA compiles, in programs of a few static shapes.

XLA compiles a program for every shape anew, which takes seconds. So ids are
padded up to one of a few shapes, and what fits into none goes another way.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from kerasrnn.pipelines.signatures import graph_function

AXES = "rows", "length"
"""The names of the axes of ids `(batch, time)`."""


@dataclasses.dataclass(frozen=True)
class XlaShapes:
    """The shapes of the programs that XLA compiles for a pipeline.

    Ids of up to `rows[-1]` texts and `lengths[-1]` tokens are padded up to the
    next numbers of rows and of tokens. Others run without XLA.

    Args:
        rows: Ascending positive integers, numbers of texts. A search leaves
            rows of padding behind by halving a batch twice, so numbers that
            grow by factors of 4 waste little.
        lengths: Ascending positive integers, numbers of tokens of a text, with
            its end token.

    Raises:
        ValueError: when one of them is empty, or not of ascending positive
            integers.

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
                    f"`{name}` must be ascending positive integers. "
                    f"Received: {name}={sizes!r}"
                )
            object.__setattr__(self, name, tuple(sizes))

    def sizes(self) -> dict[str, Sequence[int]]:
        """Returns the sizes by the names of the axes, `AXES`."""
        return dict(zip(AXES, (self.rows, self.lengths), strict=True))


class Padded(NamedTuple):
    """Ids that a compiled function takes.

    Args:
        axes: Names of their axes, the first `"rows"`. An axis that several
            have is as long in each.
        pad_id: Integer id of padding.
    """

    axes: tuple[str, ...]
    pad_id: int


def in_programs(function, otherwise, arguments, *grids):
    """Returns a function of ids that runs in programs of static shapes.

    Args:
        function: Function of integer tensors that returns a nest of tensors of
            shape `(rows, ...)`. XLA must be able to compile it, and padding at
            the end of any axis may not change the answers for the rest.
        otherwise: Function with the same results, for ids of other sizes.
        arguments: A `Padded` for each argument.
        *grids: Dictionaries from the name of each axis to the ascending sizes
            that programs have. Ids run in a program of the first grid that they
            fit. The size of an axis that has only one is static.
    """
    specs = [tf.TensorSpec([None] * len(x.axes), tf.int32) for x in arguments]
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
        # One switch: of functions within functions, TensorFlow keeps a copy for
        # each of those around them.
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
    """The graph that XLA compiles anew for each shape of a grid."""
    known = {axis: x[0] if len(x) == 1 else None for axis, x in sizes.items()}
    specs = [
        tf.TensorSpec([known[axis] for axis in x.axes], tf.int32)
        for x in arguments
    ]
    return tf.function(function, specs, autograph=False, jit_compile=True)


def _padded(ids, shape, pad_id):
    """Ids with padding up to a shape."""
    padding = tf.stack(shape) - tf.shape(ids)
    padding = tf.stack([tf.zeros_like(padding), padding], axis=1)
    return tf.pad(ids, padding, constant_values=pad_id)
