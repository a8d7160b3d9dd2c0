"""minGRU, and what it shares with minLSTM."""

from typing import Any

import keras
from keras import ops

from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.linear_cell import LinearCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
def positive(x: Tensor) -> Tensor:
    """Maps all numbers to positive ones (Feng et al. 2024).

        g(x) = x + 0.5      if x >= 0
        g(x) = sigmoid(x)   if x < 0

    Args:
        x: Tensor of any shape.

    Example:

    >>> layer = MinGRU(8, activation=positive)

    Reference:
        [Feng et al., 2024](https://arxiv.org/abs/2410.01201).
    """
    x = ops.convert_to_tensor(x)
    return ops.where(x >= 0, x + 0.5, ops.sigmoid(x))


@keras.saving.register_keras_serializable("kerasrnn")
class MinGRUCell(LinearCell):
    """A GRU cell that is linear in its state (Feng et al. 2024).

        z, g = x W + b
        h = (1 - sigmoid(z)) * h_{t-1} + sigmoid(z) * g

    The paper has two versions. This is the first. The second computes in log
    space, where it needs a positive candidate: with `activation=positive`, the
    candidate is `positive(g)`, and the cell computes the same as that version.
    Here the log space is not needed, whatever the candidate: what is
    multiplied up over many steps are weights in `[0, 1]`, never their
    inverses. And an identity lets the state be negative as well, as that of a
    GRU may be, so it is the default.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`, by default none.
        recurrent_activation: Activation of `z`.
        **kwargs: Further arguments of `LinearCell`.

    Raises:
        ValueError: when `units` is not a positive integer, `dropout` is not in
            `[0, 1)`, or there is `recurrent_dropout`.

    Example:

    >>> FastRNN(MinGRUCell(8), return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Feng et al., 2024](https://arxiv.org/abs/2410.01201).
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "linear",
        recurrent_activation: Activation = "sigmoid",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            **kwargs,
        )

    def build(self, input_shape: Shape) -> None:
        self.build_gates(input_shape[-1], 2)

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        z, g = ops.split(self.gates(inputs), 2, axis=-1)
        z = self.recurrent_activation(z)
        return 1 - z, z * self.activation(g)


@keras.saving.register_keras_serializable("kerasrnn")
class MinGRU(CellLayer):
    """A minGRU layer, parallel over time.

    Example:

    >>> MinGRU(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Feng et al., 2024](https://arxiv.org/abs/2410.01201).
    """

    cell_class = MinGRUCell
