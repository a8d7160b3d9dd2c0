"""A cell run over a whole sequence, in one call if it can be.

Which cells can be, `FastRNN` says.
"""

import inspect

import keras
from keras import ops

from kerasrnn.arguments import same_shape
from kerasrnn.layers import _backend
from kerasrnn.layers.loop.cells import flat_state_sizes
from kerasrnn.layers.loop.cells import initial_state
from kerasrnn.layers.loop.cells import output_size
from kerasrnn.layers.loop.cells import policy
from kerasrnn.layers.loop.cells import shape_of
from kerasrnn.layers.loop.cells import state_sizes
from kerasrnn.layers.loop.cells import step
from kerasrnn.tensors import gather
from kerasrnn.tensors import where_unmasked


def slow_because(cell):
    """Returns why a cell cannot run over a sequence in one call; else `None`.

    A `run` does not count if a subclass overrides `call`, which it stands for.
    """
    if type(cell) is keras.layers.StackedRNNCells:
        return next(filter(None, map(slow_because, cell.cells)), None)
    for base in type(cell).__mro__:
        if "run" in vars(base):
            return getattr(cell, "slow_because", None)
        if "call" in vars(base):
            return f"{base.__name__} defines `call`, but no `run` to match"
    return f"{type(cell).__name__} defines no `run`"


def run(cell, sequence, states, mask=None, training=False, last_only=False):
    """Runs a cell over a sequence, in one call if the cell can do that.

    Args:
        cell: A recurrent cell whose dropout masks have been drawn.
        sequence: Tensor of shape `(time, batch, input_dim)`.
        states: The states to start from, in float32 or wider.
        mask: Optional tensor of shape `(time, batch, 1)`, 0 where a step is
            skipped.
        training: Whether to behave as in training.
        last_only: Whether only the last output is wanted. The cell may then
            return a sequence of one output.

    Returns:
        The outputs of shape `(time, batch, output_size)`, and the last
        states.
    """
    if slow_because(cell):
        return _loop(cell, sequence, states, mask, training)
    if type(cell) is not keras.layers.StackedRNNCells:
        sequence = ops.cast(sequence, policy(cell).compute_dtype)
        flat = keras.tree.flatten(states)
        options = {"mask": mask, "training": training}
        if last_only and "last_only" in inspect.signature(cell.run).parameters:
            options["last_only"] = True
        outputs, last = cell.run(sequence, flat, **options)
        batch = sequence.shape[1]
        outputs = _backend.ranked(
            outputs, (None, *shape_of(output_size(cell), batch))
        )
        last = [
            _backend.ranked(x, shape_of(size, batch))
            for x, size in zip(last, flat_state_sizes(cell), strict=True)
        ]
        check_outputs(cell, outputs, sequence.shape[1:2])
        return outputs, keras.tree.pack_sequence_as(states, last)
    # One cell after the other runs over the whole sequence.
    last = []
    for inner, own in zip(cell.cells, states, strict=True):
        only = last_only and inner is cell.cells[-1]
        sequence, own = run(inner, sequence, own, mask, training, only)
        last.append(own)
    return sequence, last


def nested_initial(cell, states, batch):
    """Returns initial states, nested as the states of a cell are.

    Args:
        cell: The cell.
        states: List of tensors, nested or, those of a stack, flat.
        batch: Integer, the number of sequences; `None` where it is unknown.

    Raises:
        ValueError: when the shapes are not those of the states of the cell.
    """
    flat = keras.tree.flatten(states)
    found = [tuple(x.shape) for x in flat]
    expected = [shape_of(size, batch) for size in flat_state_sizes(cell)]
    if len(found) != len(expected) or not all(map(same_shape, found, expected)):
        raise ValueError(
            "`initial_state` must have the shapes of the states of "
            f"{type(cell).__name__}. Expected: {expected}. Received: {found}"
        )
    if len(states) == len(state_sizes(cell)):
        return states
    return keras.tree.pack_sequence_as(initial_state(cell, 1), flat)


def check_outputs(cell, outputs, batch):
    """Raises `ValueError` unless outputs are `(..., batch, output_size)`."""
    expected = (*batch, *shape_of(output_size(cell), None)[1:])
    found = tuple(outputs.shape)[-len(expected) :]
    extra = len(outputs.shape) - len(expected)
    if extra not in (0, 1) or not same_shape(found, expected):
        raise ValueError(
            f"The outputs of {type(cell).__name__} do not agree with its "
            "`output_size`, by default the first `state_size`. "
            f"Expected: shape (..., {str(expected)[1:]}. "
            f"Received: shape {tuple(outputs.shape)}"
        )


def _loop(cell, sequence, states, mask, training):
    """Runs a cell step by step; the output of a skipped step is repeated."""
    dtype = policy(cell).compute_dtype
    states = keras.tree.map_structure(lambda x: ops.cast(x, dtype), states)
    output = ops.zeros(
        shape_of(output_size(cell), ops.shape(sequence)[1]), dtype
    )

    def advance(before, index):
        after = step(cell, sequence[index], before[1], training)
        if mask is not None:
            here = mask[index][:, 0] > 0
            after = keras.tree.map_structure(
                lambda new, old: where_unmasked(here, new, old), after, before
            )
        return after, after[0]

    (_, states), outputs = _backend.scan(
        advance, (output, states), ops.shape(sequence)[0]
    )
    return outputs, states


def as_carried(states, before, dtype):
    """Casts new states to the dtype in which the loop around a cell has them.

    Args:
        states: List of tensors, the new states of a cell.
        before: List of the states that the loop gave to the cell.
        dtype: String, the compute dtype of the cell. States that are carried in
            another, such as float32 in a decoder, are not rounded.
    """

    def carried(new, old):
        # A stateful `keras.layers.RNN` carries the values of its variables,
        # which it casts, and gives the variables.
        own = isinstance(old, keras.Variable)
        same = own or keras.backend.standardize_dtype(old.dtype) == dtype
        return ops.cast(new, dtype) if same else new

    return [carried(*pair) for pair in zip(states, before, strict=True)]


def repeated(outputs, skipped):
    """Repeats the output before it at every skipped step, 0 at first.

    Args:
        outputs: Tensor of shape `(time, batch, ...)`.
        skipped: Boolean tensor of shape `(time, batch)`.
    """

    # The loop finds out which output it is, and has no gradient: XLA cannot
    # differentiate a loop of unknown length.
    def step(found, index):
        found = ops.where(skipped[index], found, index + 1)
        return found, found

    found = ops.zeros_like(skipped[0], dtype="int32")
    found = _backend.scan(step, found, ops.shape(outputs)[0])[1]
    outputs = ops.concatenate([ops.zeros_like(outputs[:1]), outputs])
    outputs = gather(ops.swapaxes(outputs, 0, 1), ops.transpose(found))
    return ops.swapaxes(outputs, 0, 1)
