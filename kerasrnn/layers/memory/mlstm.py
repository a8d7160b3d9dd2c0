"""mLSTM: a matrix memory with the exponential gates of xLSTM."""

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
class MLSTMCell(MatrixMemoryCell):
    """The cell of mLSTM, the matrix memory of xLSTM.

        q, k, v = W x
        i, f = 15 tanh((W_g x + b) / 15)
        C = sigmoid(f) C_{t-1} + exp(i) k v'
        n = sigmoid(f) n_{t-1} + exp(i) k
        h = C' q / max(abs(n' q), 1)             k divided by sqrt(key_dim)
        y = W_y (norm(h) * sigmoid(W_o x))

    for each head, with `norm` over its values. `FastRNN` runs many steps at
    once; see `matrix_memory`.

    Args:
        units: Positive integer, width of the output.
        heads: Positive integer, number of memories.
        key_dim: Positive integer, width of queries and keys; `None` for half of
            `units`, divided among the heads.
        value_dim: Positive integer, width of values; `None` for `units`,
            divided among the heads. Both defaults are those of xLSTM 7B.
        conv_width: Integer, kernel size in steps of the convolution of queries,
            keys and values; 0 for no convolution.
        kernel_initializer: Initializer of the kernels.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The previous states, as `get_initial_state` returns the first
            ones, each of shape `(batch, width)`: the output, the memories with
            `n` as their last column, the logarithms of their scales, and, if
            there is a convolution, its inputs.
        training: Whether to behave as in training.

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Masking: `FastRNN` and `keras.layers.RNN` skip masked steps.

    Raises:
        ValueError: when a size is not a positive integer.

    Example:

    >>> cell = MLSTMCell(8, heads=2)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        [Beck et al., 2024](https://arxiv.org/abs/2405.04517); the block of
        [Beck et al., 2025](https://arxiv.org/abs/2503.13427), with the initial
        gate biases of the former.
    """

    normalizes = True
    _gate = staticmethod(ops.sigmoid)

    def __init__(
        self,
        units: int,
        heads: int = 4,
        key_dim: int | None = None,
        value_dim: int | None = None,
        conv_width: int = 0,
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

    @property
    def head_dims(self) -> tuple[int, int]:
        return (
            self.key_dim or max(1, self.units // (2 * self.heads)),
            self.value_dim or max(1, self.units // self.heads),
        )

    def build(self, input_shape: Shape) -> None:
        super().build(input_shape)
        self.write_bias = self._add("write_bias", (2, self.heads), _gate_biases)

    def writes(self, decisions: Tensor, values: Tensor) -> dict[str, Tensor]:
        gates = 15.0 * ops.tanh((decisions + self.write_bias) / 15.0)
        return {
            "log_input": gates[..., 0, :],
            "log_decay": ops.log_sigmoid(gates[..., 1, :]),
        }


@keras.saving.register_keras_serializable("kerasrnn")
class MLSTM(CellLayer):
    """An mLSTM layer, computed in chunks of steps.

    See `MLSTMCell` for its equations.

    Args:
        units: Positive integer, width of the output.
        heads: Positive integer, number of memories.
        key_dim: Positive integer, width of queries and keys; `None` for half of
            `units`, divided among the heads.
        value_dim: Positive integer, width of values; `None` for `units`,
            divided among the heads. Both defaults are those of xLSTM 7B.
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

    >>> MLSTM(8, heads=2, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Beck et al., 2024](https://arxiv.org/abs/2405.04517).
    """

    cell_class = MLSTMCell

    def __init__(
        self,
        units: int,
        heads: int = 4,
        key_dim: int | None = None,
        value_dim: int | None = None,
        conv_width: int = 0,
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


def _gate_biases(shape, dtype):
    """Returns biases near 0 for input gates, from 3 to 6 for forget gates."""
    return ops.stack(
        [
            keras.random.normal(shape[1:], stddev=0.1, dtype=dtype),
            ops.linspace(3.0, 6.0, shape[1], dtype=dtype),
        ]
    )
