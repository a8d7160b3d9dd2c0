"""Grouped auxiliary memory."""

from typing import Unpack

import keras

from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.grouped_memory_cell import GroupedMemoryCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class GAMCell(GroupedMemoryCell):
    """A grouped auxiliary memory as a cell (Luo & Yu 2019).

    The memory `m` has N groups of S slots. Each step writes to it and then
    reads it. With `s` the vector that the previous step read, and softmax_S
    over the slots of each group:

        k = W_k [x; s]                                         the head
        a = softmax_S(W_a k)
        r = sigmoid(W_r [x; s] + b_r)
        c = tanh(W_m [x; r * s] + b_m)                         N candidates
        m = (1 - a) * m + a * (c, repeated for the S slots)
        s = sum_S softmax_S(W_a' k + b_a') * m                 the output

    `W_k`, `W_a`, `W_r`, `W_m` and `W_a'` are `head_kernel`, `write_kernel`,
    `reset_kernel`, `candidate_kernel` and `read_kernel[0]`; the rows of `W_k`,
    `W_r` and `W_m` are those of x, then of s. The state `m` is flat, group by
    group. With `layer_norm` the products of `r` and of `c` are normalized.

    Args:
        num_groups: Positive integer N, also the width of the output.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the head `k`.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        recurrent_initializer: Has no effect: each kernel reads the input, too.
            Nor have `recurrent_regularizer` and `recurrent_constraint`.
        bias_initializer: Initializer of the biases.
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
        states: `[s, m]` of shapes `(batch, num_groups)` and
            `(batch, num_groups * group_size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, num_groups)`, and the new states.

    Raises:
        ValueError: when a size is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = GAMCell(num_groups=8, group_size=3, head_units=4)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    def __init__(
        self,
        num_groups: int,
        group_size: int,
        head_units: int,
        *,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "glorot_normal",
        recurrent_initializer: Initializer = "glorot_normal",
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
            units=num_groups,
            num_groups=num_groups,
            group_size=group_size,
            head_units=head_units,
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
        self.build_memory(input_shape[-1], num_reads=1)

    def given(self, inputs: Tensor) -> Nest:
        return self.given_memory(inputs)

    def step(self, states: States, given: Nest, product: Product) -> States:
        s, memory = states
        products = product(s, given["of_s"], drop=True)
        k, memory = self.write(products, s, memory, given, product)
        return [self.read(k, memory, 0, given, product), memory]


@keras.saving.register_keras_serializable("kerasrnn")
class GAM(CellLayer):
    """A grouped auxiliary memory layer.

    Args:
        num_groups: Positive integer N, also the width of the output.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the head `k`.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        recurrent_initializer: Has no effect: each kernel reads the input, too.
            Nor have `recurrent_regularizer` and `recurrent_constraint`.
        bias_initializer: Initializer of the biases.
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
        The outputs of shape `(batch, time, num_groups)` with
        `return_sequences`, otherwise the last one, `(batch, num_groups)`; with
        `return_state` followed by the last states.

    Masking: a masked step leaves the states as they are and repeats the
    output before it, or gives 0 with `zero_output_for_mask`.

    Example:

    >>> layer = GAM(8, group_size=3, head_units=4, return_sequences=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    cell_class = GAMCell

    def __init__(
        self,
        num_groups: int,
        group_size: int,
        head_units: int,
        *,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "glorot_normal",
        recurrent_initializer: Initializer = "glorot_normal",
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
