"""minLSTM."""

from typing import Any

import keras
from keras import ops

from kerasrnn.layers.initializers import with_forget_bias
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.linear_cell import LinearCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class MinLSTMCell(LinearCell):
    """An LSTM cell that is linear in its state (Feng et al. 2024).

        i, f = sigmoid(x W + b)         g = x W_g + b_g
        h = f / (f + i) * h_{t-1} + i / (f + i) * g

    The shares are computed as `sigmoid(log f - log i)` and its complement,
    right also where both gates vanish. As in `MinGRUCell`, the candidate is `g`
    itself, and `activation=positive` makes it that of the paper's version in
    log space.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`, by default none.
        recurrent_activation: Activation of the gates. With another activation
            than the sigmoid, a unit whose two gates are both 0 becomes NaN.
        unit_forget_bias: Whether `b_f` starts at 1, as in an LSTM of Keras;
            the authors found that training is faster with a larger one.
        **kwargs: Further arguments of `LinearCell`.

    Raises:
        ValueError: when `units` is not a positive integer, `dropout` is not in
            `[0, 1)`, or there is `recurrent_dropout`.

    Example:

    >>> FastRNN(MinLSTMCell(8), return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Feng et al., 2024](https://arxiv.org/abs/2410.01201).
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "linear",
        recurrent_activation: Activation = "sigmoid",
        unit_forget_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            **kwargs,
        )
        self.unit_forget_bias = unit_forget_bias

    def build(self, input_shape: Shape) -> None:
        initializer = None
        if self.unit_forget_bias:
            initializer = with_forget_bias(self.bias_initializer, self.units)
        self.build_gates(input_shape[-1], 3, initializer)

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        i, f, g = ops.split(self.gates(inputs), 3, axis=-1)
        if self.recurrent_activation is keras.activations.sigmoid:
            odds = ops.log_sigmoid(f) - ops.log_sigmoid(i)
            return ops.sigmoid(odds), ops.sigmoid(-odds) * self.activation(g)
        i, f = map(self.recurrent_activation, (i, f))
        return f / (f + i), i / (f + i) * self.activation(g)


@keras.saving.register_keras_serializable("kerasrnn")
class MinLSTM(CellLayer):
    """A minLSTM layer, parallel over time.

    Example:

    >>> MinLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Feng et al., 2024](https://arxiv.org/abs/2410.01201).
    """

    cell_class = MinLSTMCell
