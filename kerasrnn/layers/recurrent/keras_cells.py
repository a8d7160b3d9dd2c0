"""What the cells that Keras has too share, to be run at once."""

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
    """Base of `FastLSTMCell` and `FastGRUCell`, before that of Keras.

    It adds layer normalization, and the products of a step or of a whole
    sequence. With dropout of the state Keras's cells have a mask for each
    gate, and so have these.
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
        """The products of all gates, `(..., gates * units)`.

        Args:
            inputs: Tensor of shape `(..., input_dim)`.
            kernel: Tensor of shape `(input_dim, gates * units)`.
            masks: One of what `masks` returns.
        """
        kernel = ops.cast(kernel, self.compute_dtype)
        return GateProducts(kernel, masks).forward(inputs)

    def masks(
        self, inputs: Tensor, state: Tensor, training: bool
    ) -> tuple[Masks, Masks]:
        """The dropout masks of input and state, as `GateProducts` has them.

        Keras takes a rate of 1 for none.
        """
        of_input = of_state = None
        if training and self.dropout < 1:
            of_input = self.get_dropout_mask(inputs)
        if training and self.recurrent_dropout < 1:
            of_state = self.get_recurrent_dropout_mask(state)
        return _cast(of_input, inputs.dtype), _cast(of_state, state.dtype)

    @property
    def has_default_activations(self) -> bool:
        """Whether the activations are those whose slopes the loops know."""
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
