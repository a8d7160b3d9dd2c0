"""A residual block around any recurrent cell."""

from typing import Unpack

import keras

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.run_loop import repeated
from kerasrnn.layers.recurrent.recurrent_cell import ForwardsDropoutMasks
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.tensors import where_unmasked
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class ResidualBlockCell(ForwardsDropoutMasks, Configured, keras.layers.Layer):
    """A residual block around a recurrent cell, for deep stacks.

        n = norm(x)
        a = x + W_a (cell(n) * gelu(W_g n))
        m = norm(a)
        y = a + W_y (silu(W_1 m) * W_2 m)

    where `norm` divides by the root mean square and has a gain for each unit.
    The block is a recurrent cell itself, so `FastRNN` or `LanguageModel` can
    run a list of blocks. For a cell with its own gate and output projection,
    such as `MLSTMCell` or `GatedDeltaCell`, set `gate=False`: then
    `a = x + cell(n)`.

    Around `RGLRUCell`, with a gate, it is the block of Griffin without the
    convolution. Around `MLSTMCell` or `SLSTMCell` it is the block of xLSTM 7B.

    Args:
        cell: A recurrent cell whose output is as wide as its input.
        gate: Whether to gate and project the output of the cell.
        hidden_dim: Positive integer, width of the hidden layer of the
            feed-forward part. `None` means 8/3 of the width of the output,
            rounded up to a multiple of 8.
        **kwargs: Base layer arguments, such as `name` and `dtype` (by
            default that of `cell`).

    Call arguments:
        inputs: Tensor of shape `(batch, width)`.
        states: The previous output and the states of `cell`.
        training: Whether to behave as in training.

    Returns:
        The output of shape `(batch, width)`, and the new states.

    Masking: `FastRNN` and `keras.layers.RNN` skip masked steps.

    Raises:
        ValueError: when `cell` is not a recurrent cell, or its output is not as
            wide as the input.

    Example, a small xLSTM:

    >>> blocks = [
    ...     ResidualBlockCell(MLSTMCell(8, heads=2), gate=False),
    ...     ResidualBlockCell(SLSTMCell(8, heads=2)),
    ... ]
    >>> FastRNN(blocks, return_sequences=True)(np.ones((2, 5, 8))).shape
    (2, 5, 8)

    References:
        [De et al., 2024](https://arxiv.org/abs/2402.19427), Griffin;
        [Beck et al., 2025](https://arxiv.org/abs/2503.13427), xLSTM 7B.
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        gate: bool = True,
        hidden_dim: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**cells.options_of(cell, "ResidualBlockCell", kwargs))
        self.cell, self.gate = cell, gate
        self.hidden_dim = optional_positive_integer("hidden_dim", hidden_dim)
        self.output_size = width = cells.output_size(cell)
        # On JAX, `keras.layers.RNN` uses the first state as the output of a
        # masked step.
        self.state_size = [width, *cells.state_sizes(cell)]

        def dense(units, activation=None):
            return keras.layers.Dense(
                units, activation, use_bias=False, dtype=self.dtype_policy
            )

        hidden_dim = self.hidden_dim or -(-width // 3) * 8
        self._norms = [
            keras.layers.RMSNormalization(dtype=self.dtype_policy)
            for _ in range(2)
        ]
        self._gating = [dense(width, "gelu"), dense(width)] if gate else []
        self._hidden = [dense(hidden_dim, "silu"), dense(hidden_dim)]
        self._output = dense(width)

    def build(self, input_shape: Shape) -> None:
        width = input_shape[-1]
        if width != self.output_size:
            raise ValueError(
                "A residual block adds the output of its cell to its input, so "
                f"both must have the same width. Expected: {self.output_size}. "
                f"Received: {width}"
            )
        build_once(self.cell, input_shape)
        for layer in (*self._norms, *self._gating, *self._hidden):
            layer.build((None, width))
        self._output.build((None, self._hidden[0].units))

    def get_initial_state(
        self, batch_size: int | Tensor | None = None
    ) -> States:
        """Returns zeros, and the initial states of the cell."""
        output = keras.ops.zeros(
            (batch_size, self.output_size), self.compute_dtype
        )
        return [output, *cells.initial_state(self.cell, batch_size)]

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        normed = self._norms[0](inputs)
        found, inner = cells.step(self.cell, normed, states[1:], training)
        outputs = self._joined(inputs, normed, found)
        return outputs, [keras.ops.cast(outputs, states[0].dtype), *inner]

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a sequence `(time, batch, width)`; see `FastRNN`."""
        normed = self._norms[0](sequence)
        before, *inner = states
        inner = cells.nested_initial(self.cell, inner, sequence.shape[1])
        found, inner = cells.run(self.cell, normed, inner, mask, training)
        outputs = self._joined(sequence, normed, found)
        if mask is not None:
            outputs = repeated(outputs, keras.ops.equal(mask[..., 0], 0))
        last = keras.ops.cast(outputs[-1], before.dtype)
        if mask is not None:
            last = where_unmasked(keras.ops.any(mask > 0, axis=0), last, before)
        return outputs, [last, *keras.tree.flatten(inner)]

    def _joined(self, inputs, normed, outputs):
        """Adds the cell's outputs and the feed-forward part to the inputs."""
        outputs = keras.ops.cast(outputs, self.compute_dtype)
        if self._gating:
            gate, projection = self._gating
            outputs = projection(outputs * gate(normed))
        outputs = inputs + outputs
        normed = self._norms[1](outputs)
        gate, hidden = self._hidden
        return outputs + self._output(gate(normed) * hidden(normed))
