"""What a recurrent cell has to provide, and functions for any such cell.

Any Keras cell will do: an object with `state_size`, `output_size` and

    call(inputs, states) -> (output, new_states)

as `keras.layers.RNN` requires. A cell whose class also defines

    run(sequence, states, mask=None, training=False) -> (outputs, states)

processes a whole sequence in one call. `run` gets a sequence of shape
`(time, batch, input_dim)` and a flat list of states in float32 or wider. It
returns outputs of shape `(time, batch, output_size)` and the list of the last
states, of any floating dtype. The mask is `None`, or floats of shape
`(time, batch, 1)`, 0 where a step is skipped: such a step leaves the states as
they are and repeats the output before it. If `run` does not support all options
of a cell, a property `can_run_at_once` says whether it supports those in use.
"""

import keras
from keras import ops

from kerasrnn.layers.through_time.loop import scan_and_save


def check_cell(cell, owner):
    """Raises `ValueError` unless `cell` is a recurrent cell.

    Args:
        cell: The object to check.
        owner: Name of the layer that got the cell, for the message.
    """
    faults = []
    if isinstance(cell, type):
        faults.append(f"Pass an instance: {cell.__name__}(...).")
    for name in ("call", "state_size", "output_size"):
        try:
            getattr(cell, name)
        except AttributeError as error:
            faults.append(f"{error}.")
    if faults:
        raise ValueError(
            f"{owner} expects `cell` to be a recurrent cell, such as "
            "`keras.layers.GRUCell(256)`: an object with `call`, "
            f"`state_size` and `output_size`. Received: cell={cell!r}. "
            + " ".join(faults)
        )


def clone_cell(cell, index=0):
    """Returns a new cell with the configuration of `cell` and no weights.

    Args:
        cell: The cell to copy.
        index: Integer, added to its seeds, such as those of initializers, so
            that the copies in one model draw different numbers.

    Raises:
        ValueError: when the new cell has other widths.
    """
    copy = type(cell).from_config(_fresh(cell.get_config(), index))
    widths, expected = ((x.output_size, state_sizes(x)) for x in (copy, cell))
    if widths != expected:
        raise ValueError(
            f"`{type(cell).__name__}.get_config` must hold every argument of "
            "the constructor: a cell made from it has other widths. Expected: "
            f"output_size and state_size {expected}. Received: {widths}"
        )
    return copy


def _fresh(config, index):
    """A configuration of other seeds, whose inner layers are not built."""
    if isinstance(config, dict):
        return {
            name: value + index
            if name == "seed" and isinstance(value, int)
            else _fresh(value, index)
            for name, value in config.items()
            if name != "build_config"
        }
    if isinstance(config, (list, tuple)):
        return [_fresh(value, index) for value in config]
    return config


def initial_state(cell, batch_size):
    """Returns the initial states of `cell` as a list; zeros by default."""
    if hasattr(cell, "get_initial_state"):
        states = cell.get_initial_state(batch_size=batch_size)
        return states if keras.tree.is_nested(states) else [states]
    return keras.tree.map_structure(
        lambda size: ops.zeros((batch_size, size), policy(cell).compute_dtype),
        state_sizes(cell),
    )


def state_sizes(cell):
    """Returns `cell.state_size` as a plain list, even for a single state.

    Keras wraps the list attributes of a layer, and JAX accepts no tensors in
    such a list.
    """

    def plain(sizes):
        if isinstance(sizes, (list, tuple)):
            return [plain(size) for size in sizes]
        return sizes

    sizes = plain(cell.state_size)
    return sizes if isinstance(sizes, list) else [sizes]


def flat_state_sizes(cell):
    """Returns the widths of all states of a cell, as a flat list."""
    return keras.tree.flatten(state_sizes(cell))


def policy(cell):
    """Returns the dtype policy of a cell, or the global one."""
    return getattr(cell, "dtype_policy", keras.config.dtype_policy())


def step(cell, inputs, states, training=False):
    """Computes one step of `cell`, with new states nested like the old."""
    kwargs = {}
    if isinstance(cell, keras.layers.Layer):
        kwargs["training"] = training
    output, new_states = cell(inputs, states, **kwargs)
    return output, keras.tree.pack_sequence_as(
        states, keras.tree.flatten(new_states)
    )


def runs_at_once(cell):
    """Whether a cell can process a whole sequence in one call.

    An inherited `run` does not count: it would ignore the methods that the
    subclass overrides.
    """
    if type(cell) is keras.layers.StackedRNNCells:
        return all(runs_at_once(inner) for inner in cell.cells)
    return "run" in vars(type(cell)) and getattr(cell, "can_run_at_once", True)


def run(cell, sequence, states, mask=None, training=False):
    """Runs a cell over a sequence, in one call if the cell can do that.

    Args:
        cell: A recurrent cell whose dropout masks have been drawn.
        sequence: Tensor of shape `(time, batch, input_dim)`.
        states: The states to start from, in float32 or wider.
        mask: Optional tensor of shape `(time, batch, 1)`, 0 where a step is
            skipped.
        training: Whether to behave as in training.

    Returns:
        The outputs of shape `(time, batch, output_size)`, and the last
        states.
    """
    if not runs_at_once(cell):
        return _loop(cell, sequence, states, mask, training)
    if type(cell) is not keras.layers.StackedRNNCells:
        sequence = ops.cast(sequence, policy(cell).compute_dtype)
        flat = keras.tree.flatten(states)
        outputs, last = cell.run(sequence, flat, mask=mask, training=training)
        check_outputs(cell, outputs, sequence.shape[:2])
        return outputs, keras.tree.pack_sequence_as(states, last)
    # One cell after the other runs over the whole sequence.
    last = []
    for inner, own in zip(cell.cells, states, strict=True):
        sequence, own = run(inner, sequence, own, mask, training)
        last.append(own)
    return sequence, last


def check_outputs(cell, outputs, leading):
    """Raises `ValueError` unless outputs are `(*leading, output_size)`."""
    expected = (*leading, cell.output_size)
    if len(outputs.shape) != len(expected) or any(
        None not in sizes and sizes[0] != sizes[1]
        for sizes in zip(outputs.shape, expected, strict=True)
    ):
        raise ValueError(
            f"The outputs of {type(cell).__name__} do not agree with its "
            f"`output_size`. Expected: shape {expected}. "
            f"Received: shape {tuple(outputs.shape)}"
        )


def _loop(cell, sequence, states, mask, training):
    """Runs a cell step by step; the output of a skipped step is repeated."""
    dtype = policy(cell).compute_dtype
    states = keras.tree.map_structure(lambda x: ops.cast(x, dtype), states)
    batch_size = ops.shape(sequence)[1]
    output = ops.zeros((batch_size, cell.output_size), dtype)

    def advance(before, inputs):
        x, *here = inputs
        after = step(cell, x, before[1], training)
        if here:
            after = keras.tree.map_structure(
                lambda new, old: ops.where(here[0] > 0, new, old),
                after,
                before,
            )
        return after, after[0]

    inputs = (sequence,) if mask is None else (sequence, mask)
    (_, states), outputs = scan_and_save(advance, (output, states), inputs)
    return outputs, states


def draw_dropout_masks(cell, inputs):
    """Draws the variational masks of a cell, before its loop.

    Keras's cells draw a mask at their first step and keep it for the others.
    In a compiled loop that first draw would be part of the loop's body, and a
    cell inside another cell would keep its mask for all later batches. So
    masks are drawn here and discarded by `drop_dropout_masks`.

    Args:
        cell: A recurrent cell.
        inputs: Tensor of shape `(batch, input_dim)`, an input of one step.
    """
    batch_size = ops.shape(inputs)[0]
    for inner in getattr(cell, "cells", []):
        draw_dropout_masks(inner, inputs)
        inputs = ops.zeros((batch_size, inner.output_size), inputs.dtype)
    if hasattr(cell, "get_dropout_mask"):
        first, *_ = keras.tree.flatten(initial_state(cell, batch_size))
        cell.get_dropout_mask(inputs)
        cell.get_recurrent_dropout_mask(first)


def drop_dropout_masks(cell):
    """Discards the masks that `draw_dropout_masks` drew."""
    for inner in getattr(cell, "cells", []):
        drop_dropout_masks(inner)
    if hasattr(cell, "reset_dropout_mask"):
        cell.reset_dropout_mask()
        cell.reset_recurrent_dropout_mask()
