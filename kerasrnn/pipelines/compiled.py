"""Graphs that XLA compiles, in programs of a few static shapes.

XLA compiles a program for every shape anew, which takes seconds. So ids are
padded up to one of a few shapes, and what fits into none goes another way.
"""

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from kerasrnn.pipelines.served_ids import IDS
from kerasrnn.pipelines.served_ids import graph_function


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


def compiled(function, otherwise, shapes, pad_id):
    """Returns a function of ids that runs in programs of static shapes.

    Args:
        function: Function of ids of shape `(batch, time)` that returns a nest
            of tensors of shape `(batch, ...)`. XLA must be able to compile it,
            and neither rows nor columns of padding may change the answers of
            the others.
        otherwise: Function with the same results, for ids of more rows or
            columns.
        shapes: An `XlaShapes`.
        pad_id: Integer id of padding.
    """
    program = tf.function(function, [IDS], autograph=False, jit_compile=True)

    def call(ids):
        sizes = tf.shape(ids)
        least = [
            tf.searchsorted(given, sizes[i : i + 1])[0]
            for i, given in enumerate((shapes.rows, shapes.lengths))
        ]
        return tf.cond(
            (least[0] < len(shapes.rows)) & (least[1] < len(shapes.lengths)),
            lambda: in_program(ids, sizes, least),
            lambda: otherwise(ids),
        )

    def in_program(ids, sizes, least):
        padded = tf.stack(
            [
                tf.gather(shapes.rows, least[0]),
                tf.gather(shapes.lengths, least[1]),
            ]
        )
        padding = tf.stack([tf.zeros_like(sizes), padded - sizes], axis=1)
        found = program(tf.pad(ids, padding, constant_values=pad_id))
        return tf.nest.map_structure(
            lambda x: None if x is None else x[: sizes[0]], found
        )

    return graph_function(call, IDS)
