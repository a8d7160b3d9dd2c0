"""The base class of the fast versions of Keras's own cells."""

import keras
from keras import ops

from kerasrnn.layers.through_time.products import GateProducts
from kerasrnn.typing import Config
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

Regularizer = str | Config | keras.regularizers.Regularizer | None
Constraint = str | Config | keras.constraints.Constraint | None
# One for all gates, or one for each.
Masks = Tensor | list[Tensor] | None


class FastKerasCell(keras.layers.Layer):
    """Base class of `FastLSTMCell` and `FastGRUCell`, beside Keras's cell.

    It adds layer normalization, and computes the products of one step or of a
    whole sequence. As in Keras's cells, with `recurrent_dropout` each gate has
    its own masks of input and state.
    """

    num_gates: int

    def build(self, input_shape: Shape) -> None:
        super().build(input_shape)
        self.gains = None
        if self.layer_norm:
            self.gains = self.add_weight(
                shape=(self.num_gates, self.units),
                initializer="ones",
                name="gains",
                autocast=False,
            )

    def products(self, inputs: Tensor, kernel: Tensor, masks: Masks) -> Tensor:
        """Returns the products of all gates, `(..., gates * units)`.

        Args:
            inputs: Tensor of shape `(..., input_dim)`.
            kernel: Tensor of shape `(input_dim, gates * units)`.
            masks: One of the two results of `masks`.
        """
        kernel = ops.cast(kernel, self.compute_dtype)
        return GateProducts(kernel, masks).forward(inputs)

    def masks(
        self, inputs: Tensor, state: Tensor, training: bool
    ) -> tuple[Masks, Masks]:
        """Returns the dropout masks of input and state, for `GateProducts`.

        As in Keras, a rate of 1 means no dropout.
        """
        of_input = of_state = None
        if training and self.dropout < 1:
            of_input = self.get_dropout_mask(inputs)
        if training and self.recurrent_dropout < 1:
            of_state = self.get_recurrent_dropout_mask(state)
        return _cast(of_input, inputs.dtype), _cast(of_state, state.dtype)

    @property
    def has_default_activations(self) -> bool:
        """Whether the activations are those that the loops implement."""
        return (
            self.activation is keras.activations.tanh
            and self.recurrent_activation is keras.activations.sigmoid
        )

    def get_config(self) -> Config:
        return {**super().get_config(), "layer_norm": self.layer_norm}


def _cast(masks, dtype):
    """Casts a mask, a list of masks, or `None`."""
    if isinstance(masks, list):
        return [ops.cast(mask, dtype) for mask in masks]
    return None if masks is None else ops.cast(masks, dtype)
