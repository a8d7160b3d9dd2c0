"""A faster version of Keras's GRU."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Kernel
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import rows_of
from kerasrnn.layers.loop.products import split_at
from kerasrnn.layers.loop.products import value_of
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


@keras.saving.register_keras_serializable("kerasrnn")
class FastGRUCell(RecurrentCell):
    """The cell of `keras.layers.GRU`, fast over a whole sequence.

        z, r = sigmoid(x W + h R + b)
        g = tanh(x W_g + r * (h R_g + c_g) + b_g)
        h' = z * h + (1 - z) * g

    `h` is the previous state. The columns of the kernels are those of z, r and
    g, in this order. The bias has two rows, for the input and for `h`. For z
    and r, `b` is their sum; for g, they are `b_g` and `c_g`. `z` keeps the
    state, as in Cho et al. 2014; later papers write `1 - z` for it. Weights,
    states and results equal those of Keras's cell. Without `reset_after`, as in
    Cho et al. 2014,

        g = tanh(x W_g + (r * h) R_g + b_g)

    With `layer_norm`, each gate is normalized over its units with its own gains
    (Ba et al. 2016):

        z, r = sigmoid(LN(x W + h R) + b)
        g = tanh(LN(x W_g + r * (h R_g + c_g)) + b_g)

    All gates share one dropout mask for the input and one for `h`.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether to add biases.
        reset_after: Whether to apply the reset gate after the matrix product.
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
        states: `[h]`, of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = FastGRUCell(8)
    >>> cell(np.ones((2, 4)), [np.zeros((2, 8))])[0].shape
    (2, 8)

    References:
        [Cho et al., 2014](https://arxiv.org/abs/1406.1078),
        [Ba et al., 2016](https://arxiv.org/abs/1607.06450).
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
        *,
        reset_after: bool = True,
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
        self.units = positive_integer("units", units)
        self.state_size = self.output_size = self.units
        self.use_bias = use_bias
        self.reset_after = reset_after

    def build(self, input_shape: Shape) -> None:
        width = 3 * self.units
        self.kernel = self.add_kernel((input_shape[-1], width))
        self.recurrent_kernel = self.add_recurrent_kernel((self.units, width))
        self.bias = None
        if self.use_bias:
            # With `reset_after`, of the input and of the state.
            self.bias = self.add_bias(
                (2, width) if self.reset_after else (width,)
            )
        self.gains = self.optional_gains((3, self.units))

    def biases(self) -> tuple[Tensor | None, Tensor | None]:
        """Returns the biases added to the products of the input and of `h`.

        With `layer_norm`, biases are added after the normalization. All biases
        of z and r are then among the first, and the second are 0 except `c_g`.
        """
        if self.bias is None or not self.reset_after:
            return self.bias, None
        of_x, of_h = rows_of(self.bias)
        if not self.layer_norm:
            return of_x, of_h
        gates, c_g = split_at(of_h, 2 * self.units)
        gates = ops.concatenate([gates, ops.zeros_like(c_g)])
        return of_x + gates, of_h - gates

    def given(self, inputs: Tensor) -> Nest:
        bias, state_bias = self.biases()
        given = {"x": self.with_bias(self.project(inputs, self.kernel), bias)}
        if state_bias is not None:
            given["state_bias"] = Fixed(state_bias)
        if self.layer_norm and bias is not None:
            given["bias"] = Fixed(value_of(bias))
        if not self.reset_after:
            given["kernels"] = list(
                map(Kernel, split_at(self.recurrent_kernel, 2 * self.units))
            )
        return given

    def step(self, states: States, given: Nest, product: Product) -> States:
        (h,) = states
        gates, g = split_at(given["x"], 2 * self.units)
        if self.reset_after:
            of_h = product(
                h, self.recurrent_kernel, given.get("state_bias"), drop=True
            )
            of_h, recalled = split_at(of_h, 2 * self.units)
            gates = gates + of_h
        else:
            kernel, last = given["kernels"]
            gates = product(h, kernel, gates, drop=True)
        z, r = ops.split(
            self.recurrent_activation(self.normalized(gates, given, 0, 2)),
            2,
            axis=-1,
        )
        g = (
            g + r * recalled
            if self.reset_after
            else product(r * h, last, g, drop=True)
        )
        g = self.activation(self.normalized(g, given, 2, 3))
        return [g + z * (h - g)]  # z h + (1 - z) g

    def normalized(
        self, gates: Tensor, given: Nest, first: int, end: int
    ) -> Tensor:
        """Normalizes some of the gates `z, r, g` if `layer_norm` is set."""
        if not self.layer_norm:
            return gates
        bias = None
        if "bias" in given:
            bias = given["bias"][first * self.units : end * self.units]
        return self.normalize(gates, self.gains[first:end], bias)


@keras.saving.register_keras_serializable("kerasrnn")
class FastGRU(KerasCellLayer):
    """Drop-in replacement for `keras.layers.GRU` with a faster training step.

    Where Keras's own layer is faster, it is called with these weights: on
    PyTorch, in TensorFlow's eager mode, and in training with TensorFlow on a
    GPU, where it calls cuDNN.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether to add biases.
        reset_after: Whether to apply the reset gate after the matrix product.
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

    >>> FastGRU(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Cho et al., 2014](https://arxiv.org/abs/1406.1078).
    """

    cell_class = FastGRUCell
    keras_class = keras.layers.GRU
    keras_arguments = (
        "units",
        "activation",
        "recurrent_activation",
        "use_bias",
        "reset_after",
    )

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
        *,
        reset_after: bool = True,
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
