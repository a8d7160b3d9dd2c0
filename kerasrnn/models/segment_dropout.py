"""Segments of the past that a forecaster does not see in training."""

from typing import Any

import keras
from keras import ops

from kerasrnn.layers.arguments import rate
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


class SegmentDropout(keras.layers.Layer):
    """Takes segments of the past for missing in training.

    Each segment of each column is dropped by itself, but never the last, from
    which forecasts start. What is left is not scaled: a segment less is no
    smaller value.

    Args:
        dropout: Dropout rate of the segments.
        segment: Positive integer, steps in a segment.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        values: Tensor of shape `(batch, time, columns)`, of whole segments.
        missing: Boolean tensor of that shape, where a value is missing.
        training: Whether to drop segments.

    Returns:
        Both, with 0 for the values that were dropped.
    """

    def __init__(self, dropout: float, segment: int, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "dtype": "float32"})
        self.dropout = rate("segment_dropout", dropout)
        self.segment = segment
        self.seed_generator = keras.random.SeedGenerator()

    def call(
        self, values: Tensor, missing: Tensor, training: bool = False
    ) -> tuple[Tensor, Tensor]:
        if not (training and self.dropout):
            return values, missing
        batch, time, columns = ops.shape(values)
        shape = batch, time // self.segment - 1, columns
        drawn = keras.random.uniform(shape, seed=self.seed_generator)
        dropped = ops.repeat(drawn < self.dropout, self.segment, axis=1)
        dropped = ops.pad(dropped, [[0, 0], [0, self.segment], [0, 0]])
        return ops.where(dropped, 0.0, values), ops.logical_or(missing, dropped)

    def compute_output_shape(
        self, values_shape: Shape, missing_shape: Shape
    ) -> tuple[Shape, Shape]:
        return values_shape, missing_shape
