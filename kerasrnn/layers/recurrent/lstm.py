"""Keras's LSTM, fast."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Nest
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTMCell(RecurrentCell):
    """The cell of `keras.layers.LSTM`, fast over a whole sequence.

        i, f, o = sigmoid(x W + h R + b)    g = tanh(x W_g + h R_g + b_g)
        c' = f * c + i * g                  h' = o * tanh(c')

    `h` and `c` are the states of the step before. The columns are those of i,
    f, g and o, in this order. Weights, states and results are those of Keras's
    cell. With `layer_norm` the products of each gate are normalized over its
    units (Ba et al. 2016), each gate with its own gains:

        i, f, o = sigmoid(LN(x W + h R) + b)
        g = tanh(LN(x W_g + h R_g) + b_g)

    `LayerNormLSTMCell` of TensorFlow Addons normalizes `x W` and `h R`
    separately, each over all four gates together and with a bias, and also
    normalizes `c`.

    As in Keras, with `recurrent_dropout` each gate has dropout masks of its
    own, of input and `h`; without it, all gates share one mask of the input.

    Args:
        units: Positive integer, width of the states.
        activation: Activation of `g` and of `c`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        unit_forget_bias: Whether `b_f` starts at 1 (Jozefowicz et al. 2015).
        **kwargs: Further arguments of `RecurrentCell`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h, c]`, each of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = FastLSTMCell(8)
    >>> x, zeros = np.ones((2, 4)), np.zeros((2, 8))
    >>> cell(x, [zeros, zeros])[0].shape
    (2, 8)

    References:
        [Hochreiter & Schmidhuber, 1997](https://doi.org/10.1162/neco.1997.9.8.1735),
        [Ba et al., 2016](https://arxiv.org/abs/1607.06450).
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
        unit_forget_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            activation=activation,
            recurrent_activation=recurrent_activation,
            **kwargs,
        )
        self.units = self.output_size = positive_integer("units", units)
        self.state_size = [self.units, self.units]
        self.use_bias = use_bias
        self.unit_forget_bias = unit_forget_bias
        if self.recurrent_dropout:
            self.dropout_mask_count = 4

    def build(self, input_shape: Shape) -> None:
        width = 4 * self.units
        self.kernel = self.add_kernel((input_shape[-1], width))
        self.recurrent_kernel = self.add_recurrent_kernel((self.units, width))
        self.bias = None
        if self.use_bias:
            self.bias = self.add_bias((width,), initializer=self.bias_of_lstm)
        if self.layer_norm:
            self.gains = self.add_gains((4, self.units))

    def given(self, inputs: Tensor) -> Nest:
        return self.with_bias(self.project(inputs, self.kernel), self.bias)

    def step(self, states: States, given: Nest, product: Product) -> States:
        h, c = states
        gates = product(h, self.recurrent_kernel, given, drop=True)
        i, f, g, o = ops.split(self.normalized_gates(gates), 4, axis=-1)
        i, f, o = map(self.recurrent_activation, (i, f, o))
        c = f * c + i * self.activation(g)
        return [o * self.activation(c), c]


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTM(CellLayer):
    """Computes what `keras.layers.LSTM` does, faster.

    Example:

    >>> FastLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Hochreiter & Schmidhuber, 1997](https://doi.org/10.1162/neco.1997.9.8.1735).
    """

    cell_class = FastLSTMCell
