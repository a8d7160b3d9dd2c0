"""Gated DeltaNet: a matrix memory that replaces the value of a key."""

import math
from typing import Unpack

import keras
from keras import ops

from kerasrnn.layers.memory.memory_cell import MatrixMemoryCell
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class GatedDeltaCell(MatrixMemoryCell):
    """The cell of Gated DeltaNet, a matrix memory with the delta rule.

        q, k, v = silu(conv(W x))             q and k scaled to length 1
        g = exp(-exp(a) softplus(W_g x + b))  the part of the memory kept
        beta = sigmoid(W_beta x)              the part of a value replaced
        S = g S_{t-1} + k beta (v - g S_{t-1}' k)'
        y = W_o (norm(S' q / sqrt(key_dim)) * silu(W_z x))

    for each head, with `norm` over its values. `FastRNN` computes many steps at
    once; see `matrix_memory`. The cell is linear in its state, so the gradient
    does not vanish while the memory is kept.

    Args:
        units: Positive integer, width of the output.
        heads: Positive integer, number of memories.
        key_dim: Positive integer, width of queries and keys; `None` for three
            quarters of `units`, divided among the heads.
        value_dim: Positive integer, width of values; `None` for twice
            `key_dim`. Both defaults are those of the authors.
        conv_width: Integer, kernel size in steps of the convolution of queries,
            keys and values; 0 for no convolution.
        allow_negative_eigenvalues: Whether `beta` ranges from 0 to 2 instead of
            1. The memory can then change its sign, which allows counting modulo
            2 (Grazzi et al. 2024). Over long sequences, this needs a
            `conv_width` of 0: with a convolution, the key of a step depends on
            the steps before it.
        kernel_initializer: Initializer of the kernels.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The previous states, as `get_initial_state` returns the first
            ones, each of shape `(batch, width)`: the output, the
            memories, and the inputs of the convolution.
        training: Whether to behave as in training.

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Masking: `FastRNN` and `keras.layers.RNN` skip masked steps.

    Raises:
        ValueError: when a size is not a positive integer.

    Example:

    >>> cell = GatedDeltaCell(8, heads=2)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        [Yang et al., 2024](https://arxiv.org/abs/2412.06464);
        [Grazzi et al., 2024](https://arxiv.org/abs/2411.12537).
    """

    def __init__(
        self,
        units: int,
        heads: int = 4,
        key_dim: int | None = None,
        value_dim: int | None = None,
        conv_width: int = 4,
        allow_negative_eigenvalues: bool = False,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            units,
            heads,
            key_dim,
            value_dim,
            conv_width,
            kernel_initializer,
            **kwargs,
        )
        self.allow_negative_eigenvalues = allow_negative_eigenvalues

    @property
    def head_dims(self) -> tuple[int, int]:
        key_dim = self.key_dim or max(1, 3 * self.units // (4 * self.heads))
        return key_dim, self.value_dim or 2 * key_dim

    def build(self, input_shape: Shape) -> None:
        super().build(input_shape)
        # Decays from exp(-16) to nearly 1, as in the authors' code.
        self.log_rate = self._add("log_rate", (self.heads,), _log_rates)
        self.decay_bias = self._add("decay_bias", (self.heads,), decay_biases)

    def scaled(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return super().scaled(_unit_length(q), _unit_length(k))

    def writes(self, decisions: Tensor, values: Tensor) -> dict[str, Tensor]:
        decay, beta = decisions[..., 0, :], ops.sigmoid(decisions[..., 1, :])
        decay = ops.softplus(decay + self.decay_bias)
        return {
            "log_decay": -ops.exp(self.log_rate) * decay,
            "beta": 2 * beta if self.allow_negative_eigenvalues else beta,
        }


@keras.saving.register_keras_serializable("kerasrnn")
class GatedDelta(CellLayer):
    """A Gated DeltaNet layer, computed in chunks of steps.

    See `GatedDeltaCell` for its equations.

    Args:
        units: Positive integer, width of the output.
        heads: Positive integer, number of memories.
        key_dim: Positive integer, width of queries and keys; `None` for three
            quarters of `units`, divided among the heads.
        value_dim: Positive integer, width of values; `None` for twice
            `key_dim`. Both defaults are those of the authors.
        conv_width: Integer, kernel size in steps of the convolution of queries,
            keys and values; 0 for no convolution.
        allow_negative_eigenvalues: Whether `beta` ranges from 0 to 2 instead of
            1. The memory can then change its sign, which allows counting modulo
            2 (Grazzi et al. 2024). Over long sequences, this needs a
            `conv_width` of 0: with a convolution, the key of a step depends on
            the steps before it.
        kernel_initializer: Initializer of the kernels.
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
        training: Whether to behave as in training.

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last states.

    Masking: a masked step keeps the states and repeats the previous output, or
    returns 0 with `zero_output_for_mask`.

    Example:

    >>> GatedDelta(8, heads=2, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Yang et al., 2024](https://arxiv.org/abs/2412.06464).
    """

    cell_class = GatedDeltaCell

    def __init__(
        self,
        units: int,
        heads: int = 4,
        key_dim: int | None = None,
        value_dim: int | None = None,
        conv_width: int = 4,
        allow_negative_eigenvalues: bool = False,
        kernel_initializer: Initializer = "glorot_uniform",
        *,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(locals())


def _unit_length(x):
    return x * ops.rsqrt(ops.sum(ops.square(x), axis=-1, keepdims=True) + 1e-6)


def _log_rates(shape, dtype):
    return ops.log(keras.random.uniform(shape, 1e-3, 16.0, dtype=dtype))


def decay_biases(shape, dtype):
    """Returns biases whose softplus is log-uniform from 0.001 to 0.1."""
    steps = ops.exp(
        keras.random.uniform(shape, math.log(1e-3), math.log(0.1), dtype=dtype)
    )
    return steps + ops.log(-ops.expm1(-steps))
