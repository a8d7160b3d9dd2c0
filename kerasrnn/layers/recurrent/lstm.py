"""Keras's LSTM, fast."""

import keras

from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.four_gates_cell import FourGatesCell
from kerasrnn.typing import Nest
from kerasrnn.typing import States


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTMCell(FourGatesCell):
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
        activation: Activation of `g` and of `c`.

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

    @property
    def dropout_mask_count(self) -> int | None:
        """How many masks Keras draws at a time; `None` for a single one."""
        return 4 if self.recurrent_dropout else None

    def step(self, states: States, given: Nest, product: Product) -> States:
        h, c = states
        i, f, g, o = self.gates(h, given, product)
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
