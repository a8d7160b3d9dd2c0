"""The LSTM with peephole connections."""

from typing import Any

import keras

from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import rows_of
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.four_gates_cell import FourGatesCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Initializer
from kerasrnn.typing import Nest
from kerasrnn.typing import States


@keras.saving.register_keras_serializable("kerasrnn")
class PeepholeLSTMCell(FourGatesCell):
    """An LSTM cell whose gates see the cell state (Graves 2013).

        i = sigmoid(x W_i + h R_i + p_i * c + b_i)
        f = sigmoid(x W_f + h R_f + p_f * c + b_f)
        g = tanh(x W_g + h R_g + b_g)
        c' = f * c + i * g
        o = sigmoid(x W_o + h R_o + p_o * c' + b_o)
        h' = o * tanh(c')

    The input and forget gates see the previous cell state, the output gate
    sees the new one, each through one weight per unit: the rows of `peepholes`
    are `p_i`, `p_f` and `p_o`. The columns of kernels are those of i, f, g and
    o, as in `keras.layers.LSTMCell`. With `layer_norm` the products of each
    gate are normalized before peephole and bias are added. All gates share one
    dropout mask of the state.

    Args:
        peephole_initializer: Initializer of `p`. By default zeros, so that
            the cell starts out as an LSTM; the paper names none. The other
            initializers default to those of `keras.layers.LSTMCell`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h, c]`, each of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = PeepholeLSTMCell(8)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        [Graves, 2013](https://arxiv.org/abs/1308.0850), equations 7 to 11;
        [Jozefowicz et al., 2015](https://proceedings.mlr.press/v37/jozefowicz15.html).
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        peephole_initializer: Initializer = "zeros",
        **kwargs: Any,
    ) -> None:
        super().__init__(units, activation, recurrent_activation, **kwargs)
        self.peephole_initializer = keras.initializers.get(peephole_initializer)

    def build_products(self, input_dim: int) -> None:
        super().build_products(input_dim)
        self.peepholes = self.add_weight(
            (3, self.units),
            reseeded(self.peephole_initializer, "peepholes"),
            name="peepholes",
        )

    def step(self, states: States, given: Nest, product: Product) -> States:
        h, c = states
        p_i, p_f, p_o = rows_of(self.peepholes)
        i, f, g, o = self.gates(h, given, product)
        i = self.recurrent_activation(i + p_i * c)
        f = self.recurrent_activation(f + p_f * c)
        c = f * c + i * self.activation(g)
        o = self.recurrent_activation(o + p_o * c)
        return [o * self.activation(c), c]


@keras.saving.register_keras_serializable("kerasrnn")
class PeepholeLSTM(CellLayer):
    """An LSTM layer with peephole connections.

    Example:

    >>> PeepholeLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Graves, 2013](https://arxiv.org/abs/1308.0850).
    """

    cell_class = PeepholeLSTMCell
