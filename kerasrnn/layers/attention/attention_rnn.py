"""The layer that runs an `AttentionCell` over a sequence."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.configured import Configured
from kerasrnn.gathering import where_unmasked
from kerasrnn.layers.attention.attention_cell import AttentionCell
from kerasrnn.layers.attention.attention_loop import attend_in_a_loop
from kerasrnn.layers.attention.memory_shape import check_memory
from kerasrnn.layers.loop import cells
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.layers.sequence_checks import check_mask
from kerasrnn.layers.sequence_checks import check_sequences
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class AttentionRNN(Configured, keras.layers.Layer):
    """Runs an `AttentionCell` over a sequence.

    Keys and values are projected once for a memory. If the cell does not depend
    on the attention (placement after the cell without input feeding, or no
    attention), it runs first, over the whole sequence. Then all steps attend at
    once, or one after another if the attention requires it.

    Args:
        cell: An `AttentionCell`.
        return_state: Whether to return the final states as well.
        return_attention_scores: Whether to return the attention weights as
            well.
        **kwargs: Base layer arguments, such as `name` and `dtype` (by
            default that of `cell`).

    Call arguments:
        sequence: Tensor of shape `(batch, time, input_dim)`.
        memory: Tensor of shape `(batch, positions, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        initial_state: Optional states to start from: those of the cell inside
            the `AttentionCell`, such as the final ones of an encoder, or all
            that an earlier call has returned.
        training: Whether to behave as in training (dropout of the cell and
            of the attention).
        sequence_mask: Optional boolean tensor of shape `(batch, time)`.

    Returns:
        The outputs, of shape `(batch, time, output_size)`. With
        `return_state` or `return_attention_scores` a tuple: the outputs, the
        final states with the former, and the weights of shape
        `(batch, time, positions)` with the latter. The states of a
        `RecurrentCell` are in float32 or wider, to be carried on.

    Masking: a masked position of the memory has weight exactly 0, and no
    influence. A masked step of the sequence leaves the states as they are and
    repeats output and weights of the step before it, or has zeros before the
    first unmasked step. Padding on the right is better left unmasked, but for
    the loss: the layer is then faster.

    Raises:
        ValueError: when `cell` is not an `AttentionCell`, the memory has
            another shape, or `initial_state` has the wrong number of tensors.

    Example:

    >>> cell = AttentionCell(keras.layers.LSTMCell(8), "additive")
    >>> layer = AttentionRNN(cell, return_attention_scores=True)
    >>> outputs, weights = layer(np.ones((2, 4, 3)), np.ones((2, 5, 6)))
    >>> outputs.shape, weights.shape
    ((2, 4, 8), (2, 4, 5))

    References:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473),
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025).
    """

    def __init__(
        self,
        cell: AttentionCell,
        return_state: bool = False,
        return_attention_scores: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        kwargs.setdefault("dtype", cells.policy(cell))
        # Without autocast the states of the attention keep their dtypes.
        super().__init__(autocast=False, **kwargs)
        if not isinstance(cell, AttentionCell):
            raise ValueError(
                "AttentionRNN expects `cell` to be an AttentionCell, such as "
                "`AttentionCell(keras.layers.GRUCell(256), 'additive')`. "
                f"Received: cell={cell!r}"
            )
        self.cell = cell
        self.return_state = return_state
        self.return_attention_scores = return_attention_scores
        self.supports_masking = True
        # Runs the cell where the loop does not contain the attention.
        self.rnn = FastRNN(cell.cell, return_sequences=True, name="rnn")
        in_order = cell.attention is not None and cell.attention.sequential
        if cell.loops_over_attention or in_order:
            # XLA cannot differentiate a TensorFlow loop of unbounded length.
            self.supports_jit = keras.backend.backend() != "tensorflow"

    def build(self, sequence_shape: Shape, memory_shape: Shape) -> None:
        if not self.cell.built:
            self.cell.build(sequence_shape, memory_shape)
        if not self.rnn.built:
            self.rnn.build((None, None, self.cell.cell_input_size))

    def call(
        self,
        sequence: Tensor,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        initial_state: States | None = None,
        training: bool = False,
        sequence_mask: Tensor | None = None,
    ) -> Any:
        check_sequences(sequence)
        check_memory(memory, sequence.shape[0])
        sequence, memory = (
            ops.cast(x, self.compute_dtype) for x in (sequence, memory)
        )
        if sequence_mask is not None:
            check_mask("sequence_mask", sequence_mask, sequence)
            sequence = where_unmasked(sequence_mask, sequence)
        projected = self.cell.project(memory, memory_mask)
        states = self.cell.get_initial_state(
            ops.shape(sequence)[0], projected, initial_state
        )
        noise = self.cell.draw_noise(sequence, projected) if training else {}
        given = sequence, states, projected, memory_mask, training, noise
        if self.cell.loops_over_attention or sequence_mask is not None:
            found = attend_in_a_loop(self.cell, *given, sequence_mask)
        else:
            found = self._attend_after_the_loop(*given)
        outputs, states, weights = found
        results = [outputs]
        if self.return_state:
            results.append(states)
        if self.return_attention_scores:
            results.append(weights)
        return tuple(results) if len(results) > 1 else outputs

    def _attend_after_the_loop(
        self, sequence, states, projected, memory_mask, training, noise
    ):
        fed, state, own = self.cell.unpack(states)
        outputs, own = self.rnn.carry_on(sequence, own, training=training)
        context, weights, state = self.cell.attend_in_turn(
            outputs, projected, memory_mask, state, training, noise
        )
        outputs = self.cell.combine(context, outputs)
        return outputs, self.cell.pack(fed, state, own), weights
