"""Vectors of segments of time series."""

from typing import Any

import keras
from keras import ops

from kerasrnn.saving import Configured
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class SegmentEmbedding(Configured, keras.layers.Layer):
    """Embeds past segments and the positions of future segments.

        past      e_i = ReLU(W x_i + K k_i + S s + b)
        ahead     e_j = [p_j; c] + K k_j + S s

    where x are the values of a segment, k the values known in advance, s static
    features, p an embedding of the position of a segment and c one of a column.
    Without embeddings of positions, when segments are forecast one after
    another, c is added to the past, and k belongs to the next segment.

    A row is one column of a series if columns are `shared`, otherwise all
    columns of a series.

    Args:
        width: Positive integer, width of the vectors.
        segment: Positive integer, steps in a segment.
        columns: Positive integer.
        positions: Integer, number of future segments; 0 for no embeddings of
            positions.
        shared: Whether each column is a separate row.
        known: Integer, number of values of each step that are known in advance.
        static: Integer, number of static features of a series.
        missing: Whether to read which values are missing.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        values: Tensor of shape `(batch, time, columns)`, a whole number of
            segments.
        missing: Tensor of that shape, 1 where a value is missing.
        given: The result of `given` for these segments.

    Returns:
        Vectors of shape `(rows, segments, width)`.

    Example:

    >>> embedding = SegmentEmbedding(8, segment=12, columns=3, positions=4)
    >>> x = np.zeros((2, 24, 3))
    >>> embedding(x, x).shape, embedding.ahead(6, 0.0).shape
    ((6, 2, 8), (6, 4, 8))
    """

    of_values: keras.layers.Dense
    of_known: keras.layers.Dense
    of_static: keras.layers.Dense

    def __init__(
        self,
        width: int,
        segment: int,
        columns: int,
        positions: int,
        shared: bool = True,
        known: int = 0,
        static: int = 0,
        missing: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.width, self.segment, self.columns = width, segment, columns
        self.positions, self.shared, self.missing = positions, shared, missing
        self.known, self.static = known, static
        # Keras cannot quantize a model with a layer that is never built.
        self.of_values, self.of_known, self.of_static = (
            keras.layers.Dense(
                width, use_bias=bias, dtype=self.dtype_policy, name=name
            )
            if used
            else None
            for name, bias, used in (
                ("values", True, True),
                ("known", False, known),
                ("static", False, static),
            )
        )

    def build(self, *shapes: Any) -> None:
        of_row = 1 if self.shared else self.columns
        size = self.segment * of_row * (1 + self.missing)
        self.of_values.build((None, None, size))
        if self.known:
            self.of_known.build((None, None, self.segment * self.known))
        if self.static:
            self.of_static.build((None, None, self.static))
        of_column = self.width // 2 if self.positions else self.width
        of_column = of_column if self.shared else 0
        if of_column:
            self.column = self.add_weight(
                (self.columns, of_column), "random_normal", name="column"
            )
        if self.positions:
            self.position = self.add_weight(
                (self.positions, self.width - of_column),
                "random_normal",
                name="position",
            )

    def given(self, known: Tensor | None, static: Tensor | None) -> Any:
        """Returns the part of the vectors that is known in advance.

        Args:
            known: Tensor of shape `(batch, time, known)`, a whole number of
                segments, or `None`.
            static: Tensor of shape `(batch, static)`, or `None`.

        Returns:
            Tensor that broadcasts to the shape `(rows, segments, width)`.
        """
        x = ops.zeros((1, 1, self.width), self.compute_dtype)
        if known is not None:
            x = x + self.of_known(_flat(_segments(known, self.segment)))
        if static is not None:
            x = x + self.of_static(static[:, None])
        if self.shared and (known is not None or static is not None):
            x = ops.repeat(x, self.columns, axis=0)
        return x

    def call(self, values: Tensor, missing: Tensor, given: Any = 0.0) -> Tensor:
        parts = [values, missing] if self.missing else [values]
        x = ops.concatenate([self._rows(part) for part in parts], axis=-1)
        x = self.of_values(x) + given
        if self.shared and not self.positions:
            x = x + ops.tile(self.column[:, None], (ops.shape(values)[0], 1, 1))
        return ops.relu(x)

    def ahead(self, rows: Any, given: Any) -> Tensor:
        """Returns the vectors of future segments, `(rows, positions, width)`.

        Args:
            rows: Integer or scalar tensor, the number of rows.
            given: The result of `given` for these segments.
        """
        x = self.position[None]
        if self.shared:
            shape = self.columns, self.positions
            x = ops.concatenate(
                [
                    ops.broadcast_to(x, (*shape, self.position.shape[-1])),
                    ops.broadcast_to(
                        self.column[:, None], (*shape, self.column.shape[-1])
                    ),
                ],
                axis=-1,
            )
        x = ops.cast(x, self.compute_dtype)
        return ops.tile(x, (rows // x.shape[0], 1, 1)) + given

    def _rows(self, x):
        """Splits `(batch, time, columns)` into segments of rows."""
        x = _segments(x, self.segment)
        if not self.shared:
            return _flat(x)
        x = ops.transpose(x, (0, 3, 1, 2))
        return ops.reshape(x, (-1, *x.shape[2:]))

    def columns_of(self, x: Tensor, size: int) -> Tensor:
        """Converts outputs of rows to `(batch, time, columns, size)`.

        Args:
            x: Tensor of shape `(rows, segments, outputs)`.
            size: Integer, number of outputs for each value.
        """
        _, count, _ = x.shape
        of_row = 1 if self.shared else self.columns
        shape = count * self.segment, of_row, size
        x = ops.reshape(x, (-1, self.columns // of_row, *shape))
        x = ops.transpose(x, (0, 2, 1, 3, 4))
        return ops.reshape(x, (-1, shape[0], self.columns, size))


def _segments(x, size):
    """Splits the time axis into `(batch, segments, size, columns)`."""
    shape = ops.shape(x)
    return ops.reshape(x, (shape[0], shape[1] // size, size, x.shape[2]))


def _flat(x):
    """Joins the steps of each segment and their columns in one axis."""
    return ops.reshape(x, (*ops.shape(x)[:2], x.shape[2] * x.shape[3]))
