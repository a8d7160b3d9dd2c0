"""LSTMs: cells with four gates."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.initializers import with_forget_bias
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import rows_of
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.fast_rnn import KerasCellLayer
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class FourGatesCell(RecurrentCell):
    """Base class of cells with four gates, the second being the forget gate.

    The pre-activations are `x W + h R + b`, or `LN(x W + h R) + b` with
    `layer_norm`. A subclass applies the activations in `step`.

    Args:
        units: Positive integer, width of the states.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        use_bias: Whether to add biases.
        unit_forget_bias: Whether `b_f` starts at 1 (Jozefowicz et al. 2015).
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels, the recurrent kernels and the
            biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.
    """

    # Number of heads: groups of units whose gates see only their own group.
    heads = 1
    # The function of the forget gate; its bias may start at 1 for a sigmoid.
    forget_gate = "sigmoid"

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
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            activation=activation,
            recurrent_activation=recurrent_activation,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            layer_norm=layer_norm,
            seed=seed,
            **kwargs,
        )
        self.units = self.output_size = positive_integer("units", units)
        self.state_size = [self.units, self.units]
        self.use_bias = use_bias
        self.unit_forget_bias = unit_forget_bias

    def build(self, input_shape: Shape) -> None:
        self.build_products(input_shape[-1])
        self.gains = self.optional_gains((4, self.units))

    def build_products(self, input_dim: int) -> None:
        """Creates kernels and biases."""
        width = 4 * self.units
        self.kernel = self.add_kernel((input_dim, width))
        self.recurrent_kernel = self.add_recurrent_kernel(
            (self.units, width), heads=self.heads
        )
        self.bias = None
        if self.use_bias:
            initializer = self.bias_initializer
            if self.unit_forget_bias and self.forget_gate == "sigmoid":
                initializer = with_forget_bias(initializer, self.units)
            self.bias = self.add_bias((width,), initializer=initializer)

    def given(self, inputs: Tensor) -> Nest:
        return self.with_bias(self.project(inputs, self.kernel), self.bias)

    def gates(self, h: Tensor, given: Nest, product: Product) -> list[Tensor]:
        """Returns the four gates of a step, before their activations."""
        gates = product(h, self.recurrent_kernel, given, drop=True)
        gates = self.normalize(gates, self.gains, self.bias)
        return ops.split(gates, 4, axis=-1)


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTMCell(FourGatesCell):
    """The cell of `keras.layers.LSTM`, fast over a whole sequence.

        i, f, o = sigmoid(x W + h R + b)    g = tanh(x W_g + h R_g + b_g)
        c' = f * c + i * g                  h' = o * tanh(c')

    `h` and `c` are the previous states. The columns of the kernels are those of
    i, f, g and o, in this order. Weights, states and results equal those of
    Keras's cell. With `layer_norm`, each gate is normalized over its units with
    its own gains (Ba et al. 2016):

        i, f, o = sigmoid(LN(x W + h R) + b)
        g = tanh(LN(x W_g + h R_g) + b_g)

    `LayerNormLSTMCell` of TensorFlow Addons normalizes `x W` and `h R`
    separately, each over all four gates together and with a bias, and also
    normalizes `c`.

    All gates share one dropout mask for the input and one for `h`.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g` and of `c`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether to add biases.
        unit_forget_bias: Whether the bias of the forget gate starts at 1
            (Jozefowicz et al. 2015).
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels, the recurrent kernels and the
            biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
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

    def step(self, states: States, given: Nest, product: Product) -> States:
        h, c = states
        i, f, g, o = self.gates(h, given, product)
        i, f, o = map(self.recurrent_activation, (i, f, o))
        c = f * c + i * self.activation(g)
        return [o * self.activation(c), c]


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTM(KerasCellLayer):
    """Drop-in replacement for `keras.layers.LSTM` with a faster training step.

    Where Keras's own layer is faster, it is called with these weights: on
    PyTorch, in TensorFlow's eager mode, and in training with TensorFlow on a
    GPU, where it calls cuDNN.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g` and of `c`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether to add biases.
        unit_forget_bias: Whether the bias of the forget gate starts at 1
            (Jozefowicz et al. 2015).
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels, the recurrent kernels and the
            biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the final states of the
            previous one.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0 instead
            of the previous output.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of initial states of the cell, each of
            shape `(batch, width)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last states.

    Masking: a masked step keeps the states and repeats the previous output, or
    returns 0 with `zero_output_for_mask`.

    Example:

    >>> FastLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Hochreiter & Schmidhuber, 1997](https://doi.org/10.1162/neco.1997.9.8.1735).
    """

    cell_class = FastLSTMCell
    keras_class = keras.layers.LSTM
    keras_arguments = (
        "units",
        "activation",
        "recurrent_activation",
        "use_bias",
    )

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


@keras.saving.register_keras_serializable("kerasrnn")
class PeepholeLSTMCell(FourGatesCell):
    """An LSTM cell whose gates see the cell state (Graves 2013).

        i = sigmoid(x W_i + h R_i + p_i * c + b_i)
        f = sigmoid(x W_f + h R_f + p_f * c + b_f)
        g = tanh(x W_g + h R_g + b_g)
        c' = f * c + i * g
        o = sigmoid(x W_o + h R_o + p_o * c' + b_o)
        h' = o * tanh(c')

    The input and forget gates see the previous cell state, and the output gate
    sees the new one, each through one weight per unit. The rows of `peepholes`
    are `p_i`, `p_f` and `p_o`. The columns of the kernels are those of i, f, g
    and o, as in `keras.layers.LSTMCell`. With `layer_norm`, each gate is
    normalized before peephole and bias are added. All gates share one dropout
    mask for the state.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        peephole_initializer: Initializer of `p`. Zeros by default, so that the
            cell starts as an LSTM; the paper does not name one. The other
            initializers default to those of `keras.layers.LSTMCell`.
        use_bias: Whether to add biases.
        unit_forget_bias: Whether the bias of the forget gate starts at 1
            (Jozefowicz et al. 2015).
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels, the recurrent kernels and the
            biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

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
        *,
        peephole_initializer: Initializer = "zeros",
        use_bias: bool = True,
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
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            units,
            activation,
            recurrent_activation,
            use_bias,
            unit_forget_bias=unit_forget_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            layer_norm=layer_norm,
            seed=seed,
            **kwargs,
        )
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

    Args:
        units: Positive integer, width of the state.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        peephole_initializer: Initializer of `p`. Zeros by default, so that the
            cell starts as an LSTM; the paper does not name one. The other
            initializers default to those of `keras.layers.LSTMCell`.
        use_bias: Whether to add biases.
        unit_forget_bias: Whether the bias of the forget gate starts at 1
            (Jozefowicz et al. 2015).
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels, the recurrent kernels and the
            biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the final states of the
            previous one.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0 instead
            of the previous output.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of initial states of the cell, each of
            shape `(batch, width)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last states.

    Masking: a masked step keeps the states and repeats the previous output, or
    returns 0 with `zero_output_for_mask`.

    Example:

    >>> PeepholeLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Graves, 2013](https://arxiv.org/abs/1308.0850).
    """

    cell_class = PeepholeLSTMCell

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        *,
        peephole_initializer: Initializer = "zeros",
        use_bias: bool = True,
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
