"""minGRU, and what it shares with minLSTM."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.linear_cell import LinearCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Regularizer
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
        use_bias: Whether there are biases.
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the kernels of the input, of those of the state, of
            which there are none, and of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. One mask is drawn
            for all steps of a batch.
        recurrent_dropout: Must be 0: the state enters no product.
        layer_norm: Whether the products of each gate are normalized over its
            units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as of
            every Keras layer.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h]` of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

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
        *,
        use_bias: bool = True,
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
            use_bias,
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

    def build(self, input_shape: Shape) -> None:
        self.build_gates(input_shape[-1], 2)

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        z, g = ops.split(self.gates(inputs), 2, axis=-1)
        z = self.recurrent_activation(z)
        return 1 - z, z * self.activation(g)


@keras.saving.register_keras_serializable("kerasrnn")
class MinGRU(CellLayer):
    """A minGRU layer, parallel over time.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`, by default none.
        recurrent_activation: Activation of `z`.
        use_bias: Whether there are biases.
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the kernels of the input, of those of the state, of
            which there are none, and of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. One mask is drawn
            for all steps of a batch.
        recurrent_dropout: Must be 0: the state enters no product.
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

    >>> MinGRU(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Feng et al., 2024](https://arxiv.org/abs/2410.01201).
    """

    cell_class = MinGRUCell

    def __init__(
        self,
        units: int,
        activation: Activation = "linear",
        recurrent_activation: Activation = "sigmoid",
        *,
        use_bias: bool = True,
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
