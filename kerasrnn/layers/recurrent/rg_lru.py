"""The real-gated linear recurrent unit."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.layers.precision import wide
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.linear_cell import LinearCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Regularizer
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

_POWER = 8.0
# The range of `sigmoid(decay) ** 8` at first.
_LEAST, _MOST = 0.9, 0.999
# A square root has no gradient at 0.
_TINY = 1e-12


@keras.saving.register_keras_serializable("kerasrnn")
class RGLRUCell(LinearCell):
    """A real-gated linear recurrent unit (De et al. 2024).

        r, i = sigmoid(x W + b)         a = exp(8 r log(sigmoid(decay)))
        h = a * h_{t-1} + sqrt(1 - a^2) * (i * x)

    The input itself enters the state, unit by unit, so it must be `units`
    wide; the block of the paper has a `keras.layers.Dense` before it. `a` is
    computed by its logarithm, since it is near 1: `sigmoid(decay)^8` starts
    uniform in `[0.9, 0.999]`. `W` is not split into blocks.

    Args:
        units: Positive integer, width of the state and of the input.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        kernel_initializer: Initializer of `W`, LeCun's as in the paper.
        recurrent_initializer: Has no effect: there is no kernel of the state.
        bias_initializer: Initializer of the biases.
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
        ValueError: when `units` is not a positive integer, or not the width of
            the input, `dropout` is not in `[0, 1)`, or there is
            `recurrent_dropout`.

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
                "The input of an RG-LRU enters its state unit by unit, so it "
                "must be as wide: put a `keras.layers.Dense` before it. "
                f"Expected: {self.units}. Received: {input_shape[-1]}"
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
        gates = self.recurrent_activation(self.gates(inputs))
        r, i = ops.split(gates, 2, axis=-1)
        log = _POWER * r * ops.log_sigmoid(ops.convert_to_tensor(self.decay))
        share = ops.sqrt(ops.maximum(-ops.expm1(2 * log), _TINY))
        return ops.exp(log), share * i * wide(inputs)


@keras.saving.register_keras_serializable("kerasrnn")
class RGLRU(CellLayer):
    """An RG-LRU layer, parallel over time.

    Args:
        units: Positive integer, width of the state and of the input.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        kernel_initializer: Initializer of `W`, LeCun's as in the paper.
        recurrent_initializer: Has no effect: there is no kernel of the state.
        bias_initializer: Initializer of the biases.
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
