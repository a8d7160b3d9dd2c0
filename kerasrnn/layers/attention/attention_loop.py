"""A loop over time whose steps attend to a memory.

Where the cell defines its step, the loop is that of `loop/run_loop.py`: each
product of cell and mechanism with a weight has its gradient in one product over
all steps, and attention weights and hidden layers of scores are not kept but
computed once more. Any other cell runs in a plain loop.
"""

import contextlib
import functools

import keras
from keras import ops

from kerasrnn.gathering import where_unmasked
from kerasrnn.layers import _backend
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
        noise: What `cell.draw_noise` returned, `(batch, time, ...)`.
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
