"""Cells that are linear in their state: minGRU, minLSTM, RG-LRU."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.initializers import with_forget_bias
from kerasrnn.layers.loop.linear_recurrence import linear_scan
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.precision import wide
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
class LinearCell(RecurrentCell):
    """Base class of cells that are linear in their state.

        h = a * h_{t-1} + b

    A subclass creates its weights in `build` and returns `a` and `b` for all
    steps at once from `coefficients(inputs)`. They do not depend on the state,
    so parts of a sequence are computed in parallel, without a loop over the
    steps. Training keeps three tensors of the size of the output: `a`, `b` and
    `h`. `h` is in float32 or wider, even under mixed precision. With zoneout,
    or if a subclass overrides `step` or `read_out`, the steps run in a loop.

    Args:
        units: Positive integer, width of the state.
        use_bias: Whether to add biases.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels and the biases.
            `recurrent_initializer` has no effect, because there are no
            recurrent kernels.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. All steps of a
            batch share one mask.
        recurrent_dropout: Must be 0, because the state enters no matrix
            product.
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h]` of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer, `dropout` is not in
            `[0, 1)`, or `recurrent_dropout` is not 0.

    Example, a moving average of a projection of the input:

    >>> class Average(LinearCell):
    ...     def build(self, input_shape):
    ...         self.build_gates(input_shape[-1], 1)
    ...
    ...     def coefficients(self, inputs):
    ...         x = self.gates(inputs)
    ...         return ops.full_like(x, 0.9), 0.1 * x
    >>> FastRNN(Average(8), return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)
    """

    def __init__(
        self,
        units: int,
        use_bias: bool = True,
        *,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
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
        if self.recurrent_dropout:
            raise ValueError(
                f"{type(self).__name__} does not support `recurrent_dropout`, "
                "because its state enters no matrix product. Expected: "
                "`dropout`, or a `ZoneoutCell` around the cell. Received: "
                f"recurrent_dropout={self.recurrent_dropout}"
            )
        self.units = positive_integer("units", units)
        self.state_size = self.output_size = self.units
        self.use_bias = use_bias

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Returns `a` and `b`, both of shape `(..., units)`.

        Args:
            inputs: Tensor of shape `(..., input_dim)`, for one step or all
                steps, after dropout.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `coefficients(inputs)`."
        )

    def build_gates(
        self, input_dim: int, count: int, initial_bias: Any = None
    ) -> None:
        """Creates the weights that `gates` needs.

        Args:
            input_dim: Width of the input.
            count: Number of gates, each of width `units`.
            initial_bias: Optional initializer of the biases.
        """
        shape: Shape = (count * self.units,)
        self.kernel = self.add_kernel((input_dim, *shape))
        self.bias = (
            self.add_bias(shape, initializer=initial_bias)
            if self.use_bias
            else None
        )
        self.gains = self.optional_gains((count, self.units))

    def gates(self, inputs: Tensor) -> Tensor:
        """Returns `x W + b`, or `LN(x W) + b`, `(..., count * units)`."""
        products = self.with_bias(self.project(inputs, self.kernel), self.bias)
        return self.normalize(products, self.gains, self.bias)

    def given(self, inputs: Tensor) -> Nest:
        return list(self.coefficients(inputs))

    def step(self, states: States, given: Nest, product: Product) -> States:
        (h,), (a, b) = states, given
        return [a * h + b]

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        last_only: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a whole sequence; see `RecurrentCell`."""
        if type(self).step is not LinearCell.step or self.outputs_more:
            return super().run(sequence, states, mask, training, last_only)
        of_input, _ = self.masks(sequence, [], training)
        a, b = self.prepare(sequence, of_input, training)
        if mask is not None:
            skipped = ops.equal(mask, 0)
            a = ops.where(skipped, ops.ones_like(a), a)
            b = ops.where(skipped, ops.zeros_like(b), b)
        h = linear_scan(a, b, *states)
        return h[-1:] if last_only else h, [h[-1]]


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

    The paper has two versions. This is the first one. The second one computes
    in log space and needs a positive candidate: with `activation=positive`, the
    candidate is `positive(g)`, and the results are those of that version. Log
    space is not needed here, because only weights in `[0, 1]` are multiplied
    over many steps, never their inverses. By default `g` has no activation, so
    the state can be negative, as in a GRU.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`, by default none.
        recurrent_activation: Activation of `z`.
        use_bias: Whether to add biases.
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels and the biases.
            `recurrent_initializer` has no effect, because there are no
            recurrent kernels.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. All steps of a
            batch share one mask.
        recurrent_dropout: Must be 0, because the state enters no matrix
            product.
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h]` of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer, `dropout` is not in
            `[0, 1)`, or `recurrent_dropout` is not 0.

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
        use_bias: Whether to add biases.
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels and the biases.
            `recurrent_initializer` has no effect, because there are no
            recurrent kernels.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. All steps of a
            batch share one mask.
        recurrent_dropout: Must be 0, because the state enters no matrix
            product.
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


@keras.saving.register_keras_serializable("kerasrnn")
class MinLSTMCell(LinearCell):
    """An LSTM cell that is linear in its state (Feng et al. 2024).

        i, f = sigmoid(x W + b)         g = x W_g + b_g
        h = f / (f + i) * h_{t-1} + i / (f + i) * g

    The two weights are computed as `sigmoid(log f - log i)` and its complement,
    which is correct even where both gates vanish. As in `MinGRUCell`, `g` has
    no activation by default, and `activation=positive` gives the paper's
    log-space version.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`, by default none.
        recurrent_activation: Activation of the gates. With an activation other
            than sigmoid, a unit becomes NaN if both of its gates are 0.
        unit_forget_bias: Whether `b_f` starts at 1, as in Keras's LSTM. The
            authors found that training is faster with a larger value.
        use_bias: Whether to add biases.
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels and the biases.
            `recurrent_initializer` has no effect, because there are no
            recurrent kernels.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. All steps of a
            batch share one mask.
        recurrent_dropout: Must be 0, because the state enters no matrix
            product.
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h]` of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer, `dropout` is not in
            `[0, 1)`, or `recurrent_dropout` is not 0.

    Example:

    >>> FastRNN(MinLSTMCell(8), return_sequences=True)(np.ones((2, 5, 4))).shape
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
        unit_forget_bias: bool = True,
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
        self.unit_forget_bias = unit_forget_bias

    def build(self, input_shape: Shape) -> None:
        initializer = (
            with_forget_bias(self.bias_initializer, self.units)
            if self.unit_forget_bias
            else None
        )
        self.build_gates(input_shape[-1], 3, initializer)

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        i, f, g = ops.split(self.gates(inputs), 3, axis=-1)
        if self.recurrent_activation is keras.activations.sigmoid:
            odds = ops.log_sigmoid(f) - ops.log_sigmoid(i)
            return ops.sigmoid(odds), ops.sigmoid(-odds) * self.activation(g)
        i, f = map(self.recurrent_activation, (i, f))
        return f / (f + i), i / (f + i) * self.activation(g)


@keras.saving.register_keras_serializable("kerasrnn")
class MinLSTM(CellLayer):
    """A minLSTM layer, parallel over time.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`, by default none.
        recurrent_activation: Activation of the gates. With an activation other
            than sigmoid, a unit becomes NaN if both of its gates are 0.
        unit_forget_bias: Whether `b_f` starts at 1, as in Keras's LSTM. The
            authors found that training is faster with a larger value.
        use_bias: Whether to add biases.
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the input kernels and the biases.
            `recurrent_initializer` has no effect, because there are no
            recurrent kernels.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. All steps of a
            batch share one mask.
        recurrent_dropout: Must be 0, because the state enters no matrix
            product.
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

    >>> MinLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Feng et al., 2024](https://arxiv.org/abs/2410.01201).
    """

    cell_class = MinLSTMCell

    def __init__(
        self,
        units: int,
        activation: Activation = "linear",
        recurrent_activation: Activation = "sigmoid",
        *,
        unit_forget_bias: bool = True,
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


_POWER = 8.0
# The initial range of `sigmoid(decay) ** 8`.
_LEAST, _MOST = 0.9, 0.999
# A square root has no gradient at 0.
_TINY = 1e-12


@keras.saving.register_keras_serializable("kerasrnn")
class RGLRUCell(LinearCell):
    """A real-gated linear recurrent unit (De et al. 2024).

        r, i = sigmoid(x W + b)         a = exp(8 r log(sigmoid(decay)))
        h = a * h_{t-1} + sqrt(1 - a^2) * (i * x)

    The input enters the state unit by unit, so its width must be `units`. The
    block of the paper has a `keras.layers.Dense` before it. `a` is computed
    from its logarithm because it is close to 1: initially, `sigmoid(decay)^8`
    is uniform in `[0.9, 0.999]`. `W` is not split into blocks.

    Args:
        units: Positive integer, width of the state and of the input.
        recurrent_activation: Activation of the gates.
        use_bias: Whether to add biases.
        kernel_initializer: Initializer of `W`. LeCun's by default, as in the
            paper.
        recurrent_initializer: Has no effect, because there is no recurrent
            kernel.
        bias_initializer: Initializer of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. All steps of a
            batch share one mask.
        recurrent_dropout: Must be 0, because the state enters no matrix
            product.
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h]` of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer or differs from the
            width of the input, `dropout` is not in `[0, 1)`, or
            `recurrent_dropout` is not 0.

    Example:

    >>> FastRNN(RGLRUCell(4), return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 4)

    Reference:
        [De et al., 2024](https://arxiv.org/abs/2402.19427).
    """

    def __init__(
        self,
        units: int,
        recurrent_activation: Activation = "sigmoid",
        *,
        use_bias: bool = True,
        kernel_initializer: Initializer = "lecun_normal",
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
        if input_shape[-1] != self.units:
            raise ValueError(
                "The input of an RG-LRU enters its state unit by unit, so both "
                "must have the same width. Put a `keras.layers.Dense` before "
                f"it. Expected: {self.units}. Received: {input_shape[-1]}"
            )
        self.build_gates(self.units, 2)
        self.decay = self.add_weight(
            (self.units,), self.initial_decay, name="decay"
        )

    def initial_decay(self, shape: Shape, dtype: Any = None) -> Tensor:
        """Returns decays whose `sigmoid(decay)^8` is uniform in a range."""
        start = keras.initializers.RandomUniform(_LEAST, _MOST)
        log = ops.log(start(shape, dtype=dtype)) / _POWER
        return log - ops.log(-ops.expm1(log))

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        r, i = ops.split(
            self.recurrent_activation(self.gates(inputs)), 2, axis=-1
        )
        log = _POWER * r * ops.log_sigmoid(ops.convert_to_tensor(self.decay))
        share = ops.sqrt(ops.maximum(-ops.expm1(2 * log), _TINY))
        return ops.exp(log), share * i * wide(inputs)


@keras.saving.register_keras_serializable("kerasrnn")
class RGLRU(CellLayer):
    """An RG-LRU layer, parallel over time.

    Args:
        units: Positive integer, width of the state and of the input.
        recurrent_activation: Activation of the gates.
        use_bias: Whether to add biases.
        kernel_initializer: Initializer of `W`. LeCun's by default, as in the
            paper.
        recurrent_initializer: Has no effect, because there is no recurrent
            kernel.
        bias_initializer: Initializer of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. All steps of a
            batch share one mask.
        recurrent_dropout: Must be 0, because the state enters no matrix
            product.
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

    >>> RGLRU(4, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 4)

    Reference:
        [De et al., 2024](https://arxiv.org/abs/2402.19427).
    """

    cell_class = RGLRUCell

    def __init__(
        self,
        units: int,
        recurrent_activation: Activation = "sigmoid",
        *,
        use_bias: bool = True,
        kernel_initializer: Initializer = "lecun_normal",
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
