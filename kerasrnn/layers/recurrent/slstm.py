"""The sLSTM, one of the two cells of xLSTM."""

from typing import Literal
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import one_of
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.lstm import FourGatesCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
from kerasrnn.typing import States

# Stands for the logarithm of a weight of 0.
_NEVER = -1e30


@keras.saving.register_keras_serializable("kerasrnn")
class SLSTMCell(FourGatesCell):
    """An LSTM cell with exponential gates (Beck et al. 2024).

        a_i, a_f, a_z, a_o = x W + h R + b
        log_f = log(sigmoid(a_f))     log_f = a_f with forget_gate="exp"
        m' = max(log_f + m, a_i)
        i = exp(a_i - m')             f = exp(log_f + m - m')
        c' = f * c + i * tanh(a_z)    n' = f * n + i
        h' = sigmoid(a_o) * c' / n'

    The stabilizer `m` is the log of the largest weight of any step in `c'`. It
    keeps the exponentials in `[0, 1]` and cancels out in `h'`. Before the first
    step, `n` is 0 and `m` counts as minus infinity, as in the authors' code. So
    all states may start at 0, and `n` is at least 1 from the first step on.

    With several `heads`, as in the paper, `R` is block-diagonal: the units of a
    head see only those of the same head. `recurrent_kernel` then has the shape
    `(heads, units / heads, 4, units / heads)`.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `a_z`.
        recurrent_activation: Activation of `a_o`.
        forget_gate: `"sigmoid"` or `"exp"`.
        heads: Positive integer that divides `units`. The paper has 4.
        use_bias: Whether to add biases.
        unit_forget_bias: Whether the bias of `a_f` starts at 1, as in Keras's
            LSTM. Ignored with `forget_gate="exp"`: the gate would start at `e`,
            and older steps would soon count more than newer ones.
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
        states: `[h, c, n, m]`, each of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer or not a multiple of
            `heads`, `forget_gate` is not one of the above, or a rate is not in
            `[0, 1)`.

    Example:

    >>> FastRNN(SLSTMCell(8), return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Beck et al., 2024](https://arxiv.org/abs/2405.04517).
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        *,
        forget_gate: Literal["sigmoid", "exp"] = "sigmoid",
        heads: int = 1,
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
        self.forget_gate = one_of(
            "forget_gate", forget_gate, ("sigmoid", "exp")
        )
        self.heads = positive_integer("heads", heads)
        if self.units % self.heads:
            raise ValueError(
                "`heads` must divide `units`, so that all heads have the same "
                f"number of units. Received: heads={heads} and units={units}"
            )
        self.state_size = 4 * [self.units]

    def step(self, states: States, given: Nest, product: Product) -> States:
        h, c, n, m = states
        a_i, a_f, a_z, a_o = self.gates(h, given, product)
        log_f = ops.log_sigmoid(a_f) if self.forget_gate == "sigmoid" else a_f
        kept = ops.where(n > 0, log_f + m, _NEVER)
        m = ops.maximum(kept, a_i)
        i, f = ops.exp(a_i - m), ops.exp(kept - m)
        c, n = f * c + i * self.activation(a_z), f * n + i
        return [self.recurrent_activation(a_o) * c / n, c, n, m]


@keras.saving.register_keras_serializable("kerasrnn")
class SLSTM(CellLayer):
    """An sLSTM layer.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `a_z`.
        recurrent_activation: Activation of `a_o`.
        forget_gate: `"sigmoid"` or `"exp"`.
        heads: Positive integer that divides `units`. The paper has 4.
        use_bias: Whether to add biases.
        unit_forget_bias: Whether the bias of `a_f` starts at 1, as in Keras's
            LSTM. Ignored with `forget_gate="exp"`: the gate would start at `e`,
            and older steps would soon count more than newer ones.
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

    >>> SLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Beck et al., 2024](https://arxiv.org/abs/2405.04517).
    """

    cell_class = SLSTMCell

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        *,
        forget_gate: Literal["sigmoid", "exp"] = "sigmoid",
        heads: int = 1,
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
