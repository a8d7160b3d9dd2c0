"""Summaries of a text without attention: last outputs, maximum and mean."""

import math
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.precision import wide
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.saving import Configured
from kerasrnn.tensors import gather
from kerasrnn.typing import Tensor


class Summary(Configured, KeepsQuantization):
    """Base of the summaries. They have no time axis, so they return no mask."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_mask(
        self, inputs: Tensor, previous_mask: Tensor | None = None
    ) -> None:
        return None


@keras.saving.register_keras_serializable("kerasrnn")
class LastSummary(Summary):
    """The last output of an encoder in each direction.

        [h_T of the units that read forwards; h_1 of those that read backwards]

    Args:
        backward: A pair of integers, start and stop of the units that read
            backwards; `(0, 0)` for none. Defaults to `None`, those of the
            encoder of the `TextClassifier`; without one, none.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.
        final: Not used, and neither is `training`.

    Returns:
        The summary, of shape `(batch, dim)`.

    Masking: padding is ignored, wherever it is. A text without words gives 0.

    Example:

    >>> LastSummary()(np.ones((2, 5, 8)), np.ones((2, 5), bool)).shape
    (2, 8)
    """

    def __init__(
        self, backward: Sequence[int] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.backward = backward if backward is None else tuple(backward)

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        return self.last(memory, mask)

    def last(self, memory: Tensor, mask: Tensor) -> Tensor:
        """Returns the outputs at the end of each direction."""
        # The first one from the end; a maximum of no rows would be a scalar
        # on PyTorch.
        from_end = ops.argmax(ops.flip(ops.cast(mask, "int32"), 1), axis=1)
        final = ops.shape(mask)[1] - 1 - from_end
        last = _output_at(memory, final)
        start, stop = self.backward or (0, 0)
        if start < stop:
            first = ops.argmax(ops.cast(mask, "int32"), axis=1)
            units = ops.arange(memory.shape[-1])
            is_backward = ops.logical_and(units >= start, units < stop)
            last = ops.where(is_backward, _output_at(memory, first), last)
        return ops.where(ops.any(mask, axis=1, keepdims=True), last, 0)


def _output_at(memory, positions):
    """Returns the output at one position of each text, `(batch, dim)`."""
    return gather(memory, ops.expand_dims(positions, 1))[:, 0]


@keras.saving.register_keras_serializable("kerasrnn")
class PooledSummary(LastSummary):
    """The last outputs, concatenated with maximum and mean over time.

        [last; max_t h_t; mean_t h_t]                    (Howard & Ruder 2018)

    Args:
        backward: As for `LastSummary`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.
        final: Not used, and neither is `training`.

    Returns:
        The summary, of shape `(batch, 3 * dim)`.

    Masking: padding is ignored, wherever it is. A text without words gives 0.

    Example:

    >>> PooledSummary()(np.ones((2, 5, 8)), np.ones((2, 5), bool)).shape
    (2, 24)

    Reference:
        [Howard & Ruder, 2018](https://arxiv.org/abs/1801.06146).
    """

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        real = ops.expand_dims(mask, -1)
        count = ops.maximum(ops.sum(ops.cast(real, "int32"), axis=1), 1)
        # In float16, a sum would stop growing at 2048.
        total = ops.sum(ops.where(real, wide(memory), 0), axis=1)
        mean = ops.cast(total / ops.cast(count, total.dtype), memory.dtype)
        maximum = ops.max(
            ops.where(real, memory, -math.inf), axis=1, initial=-math.inf
        )
        maximum = ops.where(ops.any(real, axis=1), maximum, 0)
        last = self.last(memory, mask)
        return ops.concatenate([last, maximum, mean], axis=-1)
