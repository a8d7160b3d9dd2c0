"""Keras's LSTM, fast."""

from typing import Unpack

import keras

from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.four_gates_cell import FourGatesCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
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
        units: Positive integer, width of the state.
        activation: Activation of `g` and of `c`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        unit_forget_bias: Whether the bias of the forget gate starts at 1
            (Jozefowicz et al. 2015).
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the kernels of the input, of those of the state, and
            of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input and of the state where it enters a product. One mask is drawn
            for all steps of a batch (Gal & Ghahramani 2016).
        layer_norm: Whether the products of each gate are normalized over its
            units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as of
            every Keras layer.

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

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g` and of `c`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        unit_forget_bias: Whether the bias of the forget gate starts at 1
            (Jozefowicz et al. 2015).
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the kernels of the input, of those of the state, and
            of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input and of the state where it enters a product. One mask is drawn
            for all steps of a batch (Gal & Ghahramani 2016).
        layer_norm: Whether the products of each gate are normalized over its
            units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the final states of the one
            before.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0 instead
            of the previous output.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as of
            every Keras layer.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of states to start from, each of shape
            `(batch, width)`, as of the cell.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last states.

    Masking: a masked step leaves the states as they are and repeats the
    output before it, or gives 0 with `zero_output_for_mask`.

    Example:

    >>> FastLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Hochreiter & Schmidhuber, 1997](https://doi.org/10.1162/neco.1997.9.8.1735).
    """

    cell_class = FastLSTMCell

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
        *,
        unit_forget_bias: bool = True,
        kernel_initializer: Initializer = "glorot_uniform",
        recurrent_initializer: Initializer = "orthogonal",
        bias_initializer: Initializer = "zeros",
        kernel_regularizer: Regularizer = None,
        recurrent_regularizer: Regularizer = None,
        bias_regularizer: Regularizer = None,
        kernel_constraint: Constraint = None,
        recurrent_constraint: Constraint = None,
        bias_constraint: Constraint = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        layer_norm: bool = False,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(locals())
