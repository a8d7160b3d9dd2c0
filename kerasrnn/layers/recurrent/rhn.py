"""Recurrent highway networks."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import rows_of
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
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


@keras.saving.register_keras_serializable("kerasrnn")
class RHNCell(RecurrentCell):
    """A recurrent highway network cell (Zilly et al. 2017).

    A time step is a highway network of `depth` micro-steps. `s_0` is the
    previous state, and for l = 1..depth:

        h_l = tanh([l=1] x W_h + s_{l-1} R_h^l + b_h^l)
        t_l = sigmoid([l=1] x W_t + s_{l-1} R_t^l + b_t^l)
        c_l = 1 - t_l
        s_l = h_l * t_l + s_{l-1} * c_l

    Output and state are the last `s_l`. The input enters only at l = 1. With
    `couple_carry=False`, the carry gate has its own weights:

        c_l = sigmoid([l=1] x W_c + s_{l-1} R_c^l + b_c^l)

    The columns of kernels and biases are those of h, t and c, in this order;
    `R^l` and `b^l` are `recurrent_kernel[l - 1]` and `bias[l - 1]`. With
    `layer_norm`, each of h, t and c is normalized over its units before the
    bias is added. Recurrent dropout applies to the state where it enters a
    matrix product, with the same mask for every `l` and all gates, but not to
    the highway connection.

    Args:
        units: Positive integer, width of the state.
        depth: Positive integer, number of micro-steps in a time step.
        couple_carry: Whether the carry gate is `1 - t_l`; otherwise it is a
            third gate with its own weights.
        activation: Activation of `h_l`.
        recurrent_activation: Activation of the gates.
        transform_bias: Float, initial value of `b_t`. With a negative value,
            the cell initially carries most of the state. The authors' code has
            -2 for the Penn Treebank and -4 for characters. The bias of a
            separate carry gate starts at the opposite value.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `R`, with a different seed for
            each `l`.
        bias_initializer: Initializer of `b_h`. The default of this and of the
            two above is uniform in ±0.04, as in the authors' code.
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
        states: `[s]` of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` or `depth` is not a positive integer, or a
            rate is not in `[0, 1)`.

    Example:

    >>> cell = RHNCell(8, depth=3)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        [Zilly et al., 2017](https://arxiv.org/abs/1607.03474). The variational
        dropout is from [Gal & Ghahramani,
        2016](https://arxiv.org/abs/1512.05287), layer normalization from [Ba et
        al., 2016](https://arxiv.org/abs/1607.06450).
    """

    def __init__(
        self,
        units: int,
        depth: int = 1,
        couple_carry: bool = True,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        *,
        transform_bias: float = -2.0,
        kernel_initializer: Initializer = None,
        recurrent_initializer: Initializer = None,
        bias_initializer: Initializer = None,
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
            kernel_initializer=kernel_initializer or _uniform(),
            recurrent_initializer=recurrent_initializer or _uniform(),
            bias_initializer=bias_initializer or _uniform(),
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
        self.units = positive_integer("units", units)
        self.depth = positive_integer("depth", depth)
        self.couple_carry = couple_carry
        self.transform_bias = number("transform_bias", transform_bias)
        self.state_size = self.output_size = self.units

    def build(self, input_shape: Shape) -> None:
        gates = 2 if self.couple_carry else 3
        width = gates * self.units
        self.kernel = self.add_kernel((input_shape[-1], width))
        self.recurrent_kernel = [
            self.add_recurrent_kernel(
                (self.units, width), f"recurrent_kernel_{layer}"
            )
            for layer in range(self.depth)
        ]
        self.bias = self.add_bias(
            (self.depth, width), initializer=self.initial_bias
        )
        self.gains = self.optional_gains((self.depth, gates, self.units))

    def initial_bias(self, shape: Shape, dtype: Any = None) -> Tensor:
        """Returns the biases of `h`, `t` and, if there is one, a carry gate."""
        shape = (self.depth, self.units)
        biases = [
            self.bias_initializer(shape, dtype=dtype),
            ops.full(shape, self.transform_bias, dtype),
        ]
        if not self.couple_carry:
            biases.append(ops.full(shape, -self.transform_bias, dtype))
        return ops.concatenate(biases, axis=-1)

    def given(self, inputs: Tensor) -> Nest:
        # What each micro-step adds to its product with s_{l-1}.
        first, *others = rows_of(self.bias)
        first = self.with_bias(self.project(inputs, self.kernel), first)
        if self.layer_norm:  # `normalize` adds the biases.
            return [first, *[None for _ in others]]
        return [first, *map(Fixed, others)]

    def step(self, states: States, given: Nest, product: Product) -> States:
        (s,) = states
        for layer, kernel in enumerate(self.recurrent_kernel):
            gates = product(s, kernel, given[layer], drop=True)
            if self.layer_norm:
                gates = self.normalize(
                    gates, self.gains[layer], self.bias[layer]
                )
            if self.couple_carry:
                h, t = ops.split(gates, 2, axis=-1)
                h, t = self.activation(h), self.recurrent_activation(t)
                s = s + t * (h - s)  # h t + s (1 - t)
            else:
                h, t, c = ops.split(gates, 3, axis=-1)
                h = self.activation(h)
                t, c = map(self.recurrent_activation, (t, c))
                s = h * t + s * c
        return [s]


@keras.saving.register_keras_serializable("kerasrnn")
class RHN(CellLayer):
    """A recurrent highway network layer.

    Args:
        units: Positive integer, width of the state.
        depth: Positive integer, number of micro-steps in a time step.
        couple_carry: Whether the carry gate is `1 - t_l`; otherwise it is a
            third gate with its own weights.
        activation: Activation of `h_l`.
        recurrent_activation: Activation of the gates.
        transform_bias: Float, initial value of `b_t`. With a negative value,
            the cell initially carries most of the state. The authors' code has
            -2 for the Penn Treebank and -4 for characters. The bias of a
            separate carry gate starts at the opposite value.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `R`, with a different seed for
            each `l`.
        bias_initializer: Initializer of `b_h`. The default of this and of the
            two above is uniform in ±0.04, as in the authors' code.
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

    >>> RHN(8, depth=3, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Zilly et al., 2017](https://arxiv.org/abs/1607.03474).
    """

    cell_class = RHNCell

    def __init__(
        self,
        units: int,
        depth: int = 1,
        couple_carry: bool = True,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        *,
        transform_bias: float = -2.0,
        kernel_initializer: Initializer = None,
        recurrent_initializer: Initializer = None,
        bias_initializer: Initializer = None,
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


def _uniform():
    return keras.initializers.RandomUniform(-0.04, 0.04)
