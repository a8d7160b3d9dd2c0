"""The layer that runs an `AttentionCell` over a sequence."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.attention.attention_cell import AttentionCell
from kerasrnn.layers.attention.mechanism import check_memory
from kerasrnn.layers.attention.mechanism import swap_time
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop import running
from kerasrnn.layers.loop.dropout_masks import draw_dropout_masks
from kerasrnn.layers.loop.dropout_masks import dropout_masks
from kerasrnn.layers.loop.dropout_masks import reset_dropout_masks
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.run_loop import run_loop
from kerasrnn.layers.precision import is_float
from kerasrnn.layers.precision import wide
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.layers.sequence_checks import check_mask
from kerasrnn.layers.sequence_checks import check_sequences
from kerasrnn.saving import Configured
from kerasrnn.tensors import where_unmasked
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
        if cell.loops_over_attention or cell.mechanism.sequential:
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
        mechanism = self.cell.mechanism
        noise = mechanism.draw_noise(sequence, projected) if training else {}
        # A masked step does not change the state of an attention.
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
                swap_time(running.repeated(swap_time(x), skipped))
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
        states: The states to start from.
        projected: What `cell.project` returned.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        training: Whether to behave as in training.
        noise: What `draw_noise` returned, tensors `(batch, time, ...)`.
        sequence_mask: Optional boolean tensor of shape `(batch, time)`.

    Returns:
        The outputs `(batch, time, output_size)`, the last states, and the
        weights `(batch, time, positions)`.
    """
    inputs, noise = swap_time((sequence, noise or {}))
    skipped = None
    if sequence_mask is not None:
        skipped = ops.logical_not(ops.swapaxes(sequence_mask, 0, 1))
    loop = _AttentionLoop(cell, states, projected, memory_mask, training)
    with loop.drawn_masks():
        kept, states = loop.run(inputs, noise, skipped)
    outputs, weights, *contexts = kept
    if cell.readout:
        outputs = cell.read_out(outputs, inputs, *contexts)
        if skipped is not None:
            outputs = running.repeated(outputs, skipped)
    return swap_time(outputs), states, swap_time(weights)


class _AttentionLoop:
    """A loop over an `AttentionCell`; see `attend_in_a_loop`."""

    def __init__(self, cell, states, projected, memory_mask, training):
        self.cell = cell
        self.projected = projected
        self.memory_mask = memory_mask
        self.training = training
        rows = ops.shape(keras.tree.flatten(states)[0])[0]
        self.first_input = ops.zeros(
            (rows, cell.cell_input_size), cell.compute_dtype
        )
        # What a step finds is kept beside its states, from zeros on.
        widths = [cell.found_size, ops.shape(projected[1])[-2]]
        widths += [cell.context_dim] * cell.readout
        found = [ops.zeros((rows, x), cell.compute_dtype) for x in widths]
        found[1] = wide(found[1])
        self.carry = [found, states]

    @contextlib.contextmanager
    def drawn_masks(self):
        """A scope in which the cell has its dropout masks."""
        if self.training:
            draw_dropout_masks(self.cell.cell, self.first_input)
        try:
            yield
        finally:
            reset_dropout_masks(self.cell.cell)

    @property
    def is_fast(self):
        """Whether steps can be differentiated one after another."""
        _, states = self.carry
        return (
            cells.defines_step(self.cell.cell)
            and cells.policy(self.cell.cell).compute_dtype
            == self.cell.compute_dtype
            and len(_floats(states)) == len(keras.tree.flatten(states))
        )

    def run(self, inputs, noise, skipped):
        """Returns what the steps found, and the last states."""
        run = self._run_fast if self.is_fast else self._run_plainly
        kept, last = run(inputs, noise, skipped)
        return kept, keras.tree.pack_sequence_as(self.carry, last)[1]

    def _run_fast(self, inputs, noise, skipped):
        found, states = self.carry
        *_, own = self.cell.unpack(states)
        masks = dropout_masks(
            self.cell.cell, self.first_input, own, self.training
        )
        flat = keras.tree.flatten(self.carry)

        def step(states, given, product):
            advance = functools.partial(
                cells.advance, self.cell.cell, product=product, masks=masks
            )
            with product.in_a_loop():
                return self._step(states, given, advance)

        kept, last = run_loop(
            step,
            [inputs, noise, list(map(Fixed, _floats(self.projected)))],
            list(map(wide, flat)),
            self.cell.compute_dtype,
            skipped=skipped,
            training=self.training,
            num_returned=len(found),
        )
        return _like(kept, found), _like(last, flat)

    def _run_plainly(self, inputs, noise, skipped):
        """Differentiates the loop as any other loop of the backend."""
        found, _ = self.carry
        memory = _floats(self.projected)

        def step(states, index):
            here = keras.tree.map_structure(lambda x: x[index], [inputs, noise])
            new = _like(self._step(states, [*here, memory]), states)
            if skipped is not None:
                new = [
                    where_unmasked(skipped[index], old, x)
                    for x, old in zip(new, states, strict=True)
                ]
            return new, new[: len(found)]

        last, kept = _backend.scan(
            step, keras.tree.flatten(self.carry), ops.shape(inputs)[0]
        )
        return kept, last

    def _step(self, states, given, advance=None):
        """Returns what a step finds and its states, as one list."""
        inputs, noise, memory = given
        found, states = keras.tree.pack_sequence_as(self.carry, list(states))
        output, context, states, weights = self.cell.step(
            inputs,
            states,
            _with_floats(self.projected, memory),
            self.memory_mask,
            self.training,
            noise,
            advance,
        )
        new = [output, weights, context][: len(found)]
        return keras.tree.flatten([new, states])


def _floats(nest):
    """Returns the floating tensors of a nest, which have gradients."""
    return [x for x in keras.tree.flatten(nest) if is_float(x)]


def _with_floats(nest, floats):
    """Returns a nest with other tensors in place of its floating ones."""
    floats = iter(floats)
    return keras.tree.map_structure(
        lambda x: next(floats) if is_float(x) else x, nest
    )


def _like(tensors, others):
    """Casts tensors to the dtypes of others."""
    return [
        ops.cast(x, other.dtype)
        for x, other in zip(tensors, others, strict=True)
    ]
