"""Mamba-2: a matrix memory that decays, and whose heads share their keys."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.memory.gated_delta import decay_biases
from kerasrnn.layers.memory.memory_cell import EPSILON
from kerasrnn.layers.memory.memory_cell import MatrixMemoryCell
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class Mamba2Cell(MatrixMemoryCell):
    """The cell of Mamba-2, a selective state space model.

        q, k, v = silu(conv(W x) + c)            q and k are those of all heads
        d = softplus(W_d x + b)                  the size of a step
        S = exp(-exp(a) d) S_{t-1} + k (d v)'
        y = W_o norm((S' q + D v) * silu(W_z x))

    for each head, with `norm` over the values of all heads. In the paper, `q`,
    `k` and `v` are C, B and x. `FastRNN` computes many steps at once; see
    `matrix_memory`.

    Args:
        units: Positive integer, width of the output.
        heads: Positive integer, number of memories; `None` for one for each 64
            values.
        key_dim: Positive integer, width of queries and keys.
        value_dim: Positive integer, width of values; `None` for twice `units`,
            divided among the heads. All defaults are those of the authors.
        conv_width: Integer, kernel size in steps of the convolution of queries,
            keys and values; 0 for no convolution.
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

    >>> cell = Mamba2Cell(8, heads=2, key_dim=4)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Dao & Gu, 2024](https://arxiv.org/abs/2405.21060).
    """

    decisions = 1
    shares_keys = True
    conv_has_bias = True

    def __init__(
        self,
        units: int,
        heads: int | None = None,
        key_dim: int = 128,
        value_dim: int | None = None,
        conv_width: int = 4,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            units,
            max(1, units // 32) if heads is None else heads,
            positive_integer("key_dim", key_dim),
            value_dim,
            conv_width,
            kernel_initializer,
            **kwargs,
        )

    @property
    def head_dims(self) -> tuple[int, int]:
        return self.key_dim, self.value_dim or -(-2 * self.units // self.heads)

    @property
    def norm_dim(self) -> int:
        return self.heads * self.head_dims[1]

    def build(self, input_shape: Shape) -> None:
        super().build(input_shape)
        self.log_rate = self._add("log_rate", (self.heads,), _log_rates)
        self.step_bias = self._add("step_bias", (self.heads,), decay_biases)
        self.skip = self._add("skip", (self.heads, 1), "ones")

    def scaled(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return q, k

    def writes(self, decisions: Tensor, values: Tensor) -> dict[str, Tensor]:
        step = ops.softplus(decisions[..., 0, :] + self.step_bias)
        return {
            "log_decay": -ops.exp(self.log_rate) * step,
            "v": step[..., None] * values,
        }

    def gated(self, found: Tensor, values: Tensor, gate: Tensor) -> Tensor:
        found = ops.reshape(found + self.skip * values, ops.shape(gate))
        return ops.rms_normalization(
            found * self._gate(gate), self.gains, epsilon=EPSILON
        )


@keras.saving.register_keras_serializable("kerasrnn")
class Mamba2(CellLayer):
    """A Mamba-2 layer, computed in chunks of steps.

    See `Mamba2Cell` for its equations.

    Args:
        units: Positive integer, width of the output.
        heads: Positive integer, number of memories; `None` for one for each 64
            values.
        key_dim: Positive integer, width of queries and keys.
        value_dim: Positive integer, width of values; `None` for twice `units`,
            divided among the heads. All defaults are those of the authors.
        conv_width: Integer, kernel size in steps of the convolution of queries,
            keys and values; 0 for no convolution.
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

    >>> layer = Mamba2(8, heads=2, key_dim=4, return_sequences=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Dao & Gu, 2024](https://arxiv.org/abs/2405.21060).
    """

    cell_class = Mamba2Cell

    def __init__(
        self,
        units: int,
        heads: int | None = None,
        key_dim: int = 128,
        value_dim: int | None = None,
        conv_width: int = 4,
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


def _log_rates(shape, dtype):
    return ops.log(keras.random.uniform(shape, 1.0, 16.0, dtype=dtype))
