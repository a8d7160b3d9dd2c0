"""The layer that runs an `AttentionCell` over a sequence."""

import functools
from collections.abc import Callable
from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import check_mask
from kerasrnn.arguments import check_sequences
from kerasrnn.arguments import instance
from kerasrnn.layers.attention.attention_cell import AttentionCell
from kerasrnn.layers.attention.mechanism import check_memory
from kerasrnn.layers.attention.mechanism import swap_time
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.run_loop import repeated
from kerasrnn.layers.loop.run_loop import run_loop
from kerasrnn.layers.precision import is_float
from kerasrnn.layers.precision import wide
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.tensors import where_unmasked
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class AttentionRNN(Configured, keras.layers.Layer):
    """Runs an `AttentionCell` over a sequence.

    Keys and values are projected once per memory. If the cell does not depend
    on the attention (placement after the cell without input feeding, or no
    attention), it runs over the whole sequence first. Then all steps attend at
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
        initial_state: Optional initial states: those of the cell inside the
            `AttentionCell`, such as the final states of an encoder, or all
            states that an earlier call returned.
        training: Whether to behave as in training (dropout of the cell and
            of the attention).
        sequence_mask: Optional boolean tensor of shape `(batch, time)`.

    Returns:
        The outputs, of shape `(batch, time, output_size)`. With `return_state`
        or `return_attention_scores` a tuple: the outputs, the final states with
        the former, and the weights of shape `(batch, time, positions)` with the
        latter. The states of a `RecurrentCell` are in float32 or wider, for
        further steps.

    Masking: a masked position of the memory has weight exactly 0, and no
    influence. A masked step of the sequence keeps the states and repeats output
    and weights of the previous step. Before the first unmasked step, both are
    zeros. It is faster not to mask padding on the right, except in the loss.

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
        instance("cell", cell, AttentionCell)
        kwargs.setdefault("dtype", cell.dtype_policy)
        # Without autocast the states of the attention keep their dtypes.
        super().__init__(autocast=False, **kwargs)
        self.cell = cell
        self.return_state = return_state
        self.return_attention_scores = return_attention_scores
        self.supports_masking = True
        # Runs the cell if the attention is not inside the loop.
        self.rnn = FastRNN(cell.cell, return_sequences=True, name="rnn")
        if cell.loops_over_attention or cell.mechanism.sequential:
            # XLA cannot differentiate a TensorFlow loop of unbounded length.
            self.supports_jit = keras.backend.backend() != "tensorflow"

    def build(self, sequence_shape: Shape, memory_shape: Shape) -> None:
        build_once(self.cell, sequence_shape, memory_shape)
        build_once(self.rnn, (None, None, self.cell.cell_input_size))

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
        mechanism = self.cell.mechanism
        noise = mechanism.draw_noise(sequence, projected) if training else {}
        # Masked steps do not change the state of an attention.
        in_order = mechanism.stateful and sequence_mask is not None
        run: Callable[..., Any] = self._attend_after_the_loop
        if self.cell.loops_over_attention or in_order:
            run = functools.partial(attend_in_a_loop, self.cell)
        outputs, states, weights = run(
            sequence,
            states,
            projected,
            memory_mask,
            training,
            noise,
            sequence_mask,
        )
        results = [outputs]
        if self.return_state:
            results.append(states)
        if self.return_attention_scores:
            results.append(weights)
        return tuple(results) if len(results) > 1 else outputs

    def _attend_after_the_loop(
        self,
        sequence,
        states,
        projected,
        memory_mask,
        training,
        noise,
        sequence_mask,
    ):
        fed, state, own = self.cell.unpack(states)
        outputs, own = self.rnn.carry_on(sequence, own, sequence_mask, training)
        context, weights, state = self.cell.mechanism.attend_in_turn(
            outputs, projected, memory_mask, state, training, noise
        )
        outputs = self.cell.combine(context, outputs)
        if sequence_mask is not None:
            skipped = ops.logical_not(ops.swapaxes(sequence_mask, 0, 1))
            outputs, weights = (
                swap_time(repeated(swap_time(x), skipped))
                for x in (outputs, weights)
            )
        return outputs, self.cell.pack(fed, state, own), weights


def attend_in_a_loop(
    cell,
    sequence,
    states,
    projected,
    memory_mask=None,
    training=False,
    noise=None,
    sequence_mask=None,
):
    """Runs an `AttentionCell` over a sequence, step by step.

    Args:
        cell: The `AttentionCell`.
        sequence: Tensor of shape `(batch, time, input_dim)`.
        states: The initial states.
        projected: The result of `cell.project`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        training: Whether to behave as in training.
        noise: The result of `draw_noise`, tensors `(batch, time, ...)`.
        sequence_mask: Optional boolean tensor of shape `(batch, time)`.

    Returns:
        The outputs `(batch, time, output_size)`, the final states, and the
        weights `(batch, time, positions)`.
    """
    inputs, noise = swap_time((sequence, noise or {}))
    skipped = (
        None
        if sequence_mask is None
        else ops.logical_not(ops.swapaxes(sequence_mask, 0, 1))
    )
    rows = ops.shape(inputs)[1]
    if training:
        first = ops.zeros((rows, cell.cell_input_size), cell.compute_dtype)
        cells.draw_dropout_masks(cell.cell, first)
    # The results of a step are carried with its states and start as zeros. A
    # readout is computed of all steps at once, after the loop.
    before = cell.placement == "before"
    widths = [
        cells.output_size(cell.cell) if before else cell.output_size,
        ops.shape(projected[1])[-2],
    ]
    widths += [cell.context_dim] * cell.readout
    found = [ops.zeros((rows, x), cell.compute_dtype) for x in widths]
    found[1] = wide(found[1])
    carried = keras.tree.flatten([found, states])

    # These tensors have gradients.
    floats = filter(is_float, keras.tree.flatten(projected))

    def step(before, given, product):
        inputs, noise, floats = given
        floats = iter(floats)
        # States that are counters are integers.
        before = [
            x if is_float(old) else ops.cast(x, old.dtype)
            for x, old in zip(before, carried, strict=True)
        ]
        _, own = keras.tree.pack_sequence_as([found, states], before)
        output, context, own, weights = cell.step(
            inputs,
            own,
            keras.tree.map_structure(
                lambda x: next(floats) if is_float(x) else x, projected
            ),
            memory_mask,
            training,
            noise,
        )
        here = [output, weights, context][: len(found)]
        return keras.tree.flatten([here, own])

    try:
        kept, last = run_loop(
            cells.with_masks_of(cell.cell, step),
            [inputs, noise, list(map(Fixed, floats))],
            list(map(wide, carried)),
            cell.compute_dtype,
            skipped=skipped,
            training=training,
            num_returned=len(found),
        )
    finally:
        cells.reset_dropout_masks(cell.cell)
    kept, last = _like(kept, found), _like(last, carried)
    _, states = keras.tree.pack_sequence_as([found, states], last)
    outputs, weights, *contexts = kept
    if cell.readout:
        outputs = cell.read_out(outputs, inputs, *contexts)
        if skipped is not None:
            outputs = repeated(outputs, skipped)
    return swap_time(outputs), states, swap_time(weights)


def _like(tensors, others):
    """Casts tensors to the dtypes of others."""
    return [
        ops.cast(x, other.dtype)
        for x, other in zip(tensors, others, strict=True)
    ]
