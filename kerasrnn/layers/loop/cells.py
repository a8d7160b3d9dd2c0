"""The interface of recurrent cells, and functions for any such cell.

Any Keras cell is accepted: a layer with `state_size` and

    call(inputs, states) -> (output, new_states)

as `keras.layers.RNN` requires. Its output has the width of its first state,
unless it has an `output_size`. A cell with a method `run` runs over a whole
sequence by itself. For any other cell, the function `run` loops over its steps.
"""

import inspect
from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import same_shape
from kerasrnn.layers.initializers import derived_seed
from kerasrnn.layers.loop.run_loop import run_loop
from kerasrnn.layers.precision import wide
from kerasrnn.saving import all_layers
from kerasrnn.saving import rewritten
from kerasrnn.saving import template


def check_cell(cell, owner):
    """Raises `ValueError` unless `cell` is a recurrent cell.

    Args:
        cell: The object to check.
        owner: Name of the layer that got the cell, for the message.
    """
    is_layer = isinstance(cell, keras.layers.Layer)
    is_cell = is_layer and not isinstance(cell, keras.layers.RNN)
    if not is_cell or not hasattr(cell, "state_size"):
        raise ValueError(
            f"{owner} expects `cell` to be a recurrent cell, such as "
            "`keras.layers.GRUCell(256)`: an object (not a class) with `call` "
            "and `state_size`, and not a layer that runs a cell. Received: "
            f"cell={cell!r}"
        )


def check_vectors(cell, owner):
    """Raises `ValueError` unless it is a cell whose states are vectors.

    Args:
        cell: The object to check.
        owner: Name of the layer that joins or reshapes its states.
    """
    check_cell(cell, owner)
    sizes = flat_state_sizes(cell)
    if any(isinstance(size, tuple) for size in sizes):
        raise ValueError(
            f"{owner} needs a cell whose states have the shape "
            "`(batch, width)`. Use `FastRNN` for other cells. Expected: "
            f"integers as `state_size`. Received: state_size={sizes} of "
            f"cell={cell!r}"
        )


def options_of(cell: Any, owner: str, options: Mapping[str, object]) -> Any:
    """Returns the options of a layer around a cell, with the cell's dtype.

    Args:
        cell: The recurrent cell; it is checked.
        owner: String, the class of the layer, for the error message.
        options: Dictionary of options. They override the default.
    """
    check_cell(cell, owner)
    return {"dtype": cell.dtype_policy, **options}


def initial_state(cell, batch_size):
    """Returns the initial states of `cell` as a list; zeros by default."""
    if hasattr(cell, "get_initial_state"):
        states = cell.get_initial_state(batch_size=batch_size)
        return states if keras.tree.is_nested(states) else [states]
    return map_sizes(
        lambda x: ops.zeros(shape_of(x, batch_size), cell.compute_dtype), cell
    )


def map_sizes(function, cell):
    """Returns `function(size)` for each state of a cell, in a plain list.

    The result is nested like `cell.state_size`, which for a stack contains
    lists. Keras wraps the list attributes of a layer, and JAX accepts no
    tensors in such a list. A tuple inside the list is the shape of a state.
    """

    def mapped(sizes):
        return [
            mapped(size) if isinstance(size, list) else function(size)
            for size in sizes
        ]

    sizes = cell.state_size
    return mapped([sizes] if isinstance(sizes, int) else sizes)


def state_sizes(cell):
    """Returns `cell.state_size` as a plain list, even for a single state."""
    return map_sizes(lambda size: size, cell)


def flat_state_sizes(cell):
    """Returns the widths of all states of a cell, as a flat list."""
    found = []
    map_sizes(found.append, cell)
    return found


def output_size(cell):
    """Returns the width of the outputs: that of the first state by default.

    Like the size of a state, it may be a shape.
    """
    size = getattr(cell, "output_size", None)
    return flat_state_sizes(cell)[0] if size is None else size


def step(cell, inputs, states, training=False):
    """Computes one step of `cell`; new states are nested like the old ones.

    A `RecurrentCell` returns states in the dtypes that it was given.
    """
    if type(cell) is keras.layers.StackedRNNCells:
        # Calling the stack would cast the states.
        new_states = []
        for inner, own in zip(cell.cells, states, strict=True):
            inputs, own = step(inner, inputs, own, training)
            new_states.append(own)
        return inputs, new_states
    output, new_states = cell(inputs, states, training=training)
    return output, keras.tree.pack_sequence_as(
        states, keras.tree.flatten(new_states)
    )


def shape_of(size, batch_size):
    """Returns the shape of a state or output, whose size may be a shape."""
    return (batch_size, *(size if isinstance(size, tuple) else [size]))


def slow_because(cell):
    """Returns why a cell cannot process a sequence in one call, or `None`.

    A method `run` is not used if a subclass overrides `call`, because the two
    would then differ.
    """
    if type(cell) is keras.layers.StackedRNNCells:
        return next(filter(None, map(slow_because, cell.cells)), None)
    for base in type(cell).__mro__:
        if not {"run", "slow_because"}.isdisjoint(vars(base)):
            return getattr(cell, "slow_because", None)
        if "call" in vars(base):
            return f"{base.__name__} defines `call`, but no matching `run`"
    return f"{type(cell).__name__} defines no `run`"


def run(
    cell,
    sequence,
    states,
    mask=None,
    training=False,
    last_only=False,
    unroll=False,
):
    """Runs a cell over a sequence, in one call if the cell can do that.

    Args:
        cell: A recurrent cell whose dropout masks have been drawn.
        sequence: Tensor of shape `(time, batch, input_dim)`.
        states: The initial states, in float32 or wider.
        mask: Optional tensor of shape `(time, batch, 1)`, 0 where a step is
            skipped.
        training: Whether to behave as in training.
        last_only: Whether only the last output is needed. The cell may then
            return a sequence of one step.
        unroll: Whether to write out all steps.

    Returns:
        The outputs of shape `(time, batch, output_size)`, and the final states.
    """
    if type(cell) is keras.layers.StackedRNNCells:
        # Each cell in turn runs over the whole sequence.
        last = []
        for inner, own in zip(cell.cells, states, strict=True):
            only = last_only and inner is cell.cells[-1]
            sequence, own = run(
                inner, sequence, own, mask, training, only, unroll
            )
            last.append(own)
        return sequence, last
    if unroll or slow_because(cell):
        return _run_steps(
            cell, sequence, states, mask, training, last_only, unroll
        )
    sequence = ops.cast(sequence, cell.compute_dtype)
    flat = keras.tree.flatten(states)
    options = {"mask": mask, "training": training}
    if last_only and "last_only" in inspect.signature(cell.run).parameters:
        options["last_only"] = True
    outputs, last = cell.run(sequence, flat, **options)
    return outputs, keras.tree.pack_sequence_as(states, last)


def _run_steps(cell, sequence, states, mask, training, last_only, unroll):
    """Runs a cell step by step; for the arguments see `run`."""
    dtype = cell.compute_dtype
    # The output is carried like a state, so that a skipped step repeats it.
    size = shape_of(output_size(cell), ops.shape(sequence)[1])
    start = [ops.zeros(size, dtype), *keras.tree.flatten(states)]

    def advance(before, inputs, product):
        _, *own = (ops.cast(x, dtype) for x in before)
        own = keras.tree.pack_sequence_as(states, own)
        output, new = step(cell, inputs, own, training)
        return [output, *keras.tree.flatten(new)]

    outputs, (output, *last) = run_loop(
        with_masks_of(cell, advance),
        sequence,
        list(map(wide, start)),
        dtype,
        skipped=None if mask is None else ops.equal(mask[..., 0], 0),
        training=training,
        num_returned=int(not last_only),
        unroll=unroll,
    )
    outputs = ops.expand_dims(output, 0) if last_only else outputs[0]
    return outputs, keras.tree.pack_sequence_as(states, last)


def nested_initial(cell, states, batch):
    """Returns initial states, nested like the states of a cell.

    Args:
        cell: The cell.
        states: List of tensors: nested, or flat for a stack.
        batch: Integer, the number of sequences; `None` where it is unknown.

    Raises:
        ValueError: when the shapes do not match the states of the cell.
    """
    flat = keras.tree.flatten(states)
    found = [tuple(x.shape) for x in flat]
    expected = [shape_of(size, batch) for size in flat_state_sizes(cell)]
    if len(found) != len(expected) or not all(map(same_shape, found, expected)):
        raise ValueError(
            "`initial_state` must have the shapes of the states of "
            f"{type(cell).__name__}. Expected: {expected}. Received: {found}"
        )
    sizes = cell.state_size
    if len(states) == (1 if isinstance(sizes, int) else len(sizes)):
        return states
    return keras.tree.pack_sequence_as(initial_state(cell, 1), flat)


def as_carried(states, before, dtype):
    """Casts new states to the dtype in which the outer loop carries them.

    Args:
        states: List of tensors, the new states of a cell.
        before: List of the states that the loop gave to the cell.
        dtype: String, the compute dtype of the cell. States that are carried in
            another dtype, such as float32 in a decoder, are not rounded.
    """
    # A stateful `keras.layers.RNN` passes its variables, but carries their
    # values after a cast.
    return [
        ops.cast(new, dtype)
        if isinstance(old, keras.Variable)
        or keras.backend.standardize_dtype(old.dtype) == dtype
        else new
        for new, old in zip(states, before, strict=True)
    ]


def draw_dropout_masks(cell, inputs):
    """Draws the variational masks of a cell, before its loop.

    Keras's cells draw a mask at the first step and keep it for the others. In a
    compiled loop, that draw would be part of the loop's body, and a cell inside
    another cell would keep its mask for all later batches. So masks are drawn
    here and discarded by `reset_dropout_masks`.

    Args:
        cell: A recurrent cell.
        inputs: Tensor of shape `(batch, input_dim)`, the input of a step.
    """
    batch_size = ops.shape(inputs)[0]
    for inner in _stacked_cells(cell):
        draw_dropout_masks(inner, inputs)
        inputs = ops.zeros(
            shape_of(output_size(inner), batch_size), inputs.dtype
        )
    if hasattr(cell, "get_dropout_mask"):
        cell.get_dropout_mask(inputs)
        if cell.recurrent_dropout:
            first, *_ = keras.tree.flatten(initial_state(cell, batch_size))
            cell.get_recurrent_dropout_mask(first)


def reset_dropout_masks(cell):
    """Discards the masks that `draw_dropout_masks` drew."""
    for inner in _stacked_cells(cell):
        reset_dropout_masks(inner)
    if hasattr(cell, "reset_dropout_mask"):
        cell.reset_dropout_mask()
        cell.reset_recurrent_dropout_mask()


def with_masks_of(cell, step):
    """Returns a step that uses the current dropout masks of a cell.

    The backward loop calls the step after the masks were discarded.
    """
    kept = [
        (vars(layer), name, vars(layer)[name])
        for layer in all_layers(cell)
        for name in ("_dropout_mask", "_recurrent_dropout_mask")
        if vars(layer).get(name) is not None
    ]

    def step_with_masks(*arguments):
        before = [(found, name, found[name]) for found, name, _ in kept]
        for found, name, mask in kept:
            found[name] = mask
        try:
            return step(*arguments)
        finally:
            for found, name, mask in before:
                found[name] = mask

    return step_with_masks


def _stacked_cells(cell):
    """Returns the cells of a stack; each reads the previous one's output."""
    return cell.cells if isinstance(cell, keras.layers.StackedRNNCells) else []


def clone_cell(cell, *path, dtype=None):
    """Returns a new cell with the configuration of `cell` and no weights.

    Args:
        cell: The cell to copy.
        *path: What distinguishes the copies in one model, such as the number of
            a layer. The seeds of the copy, such as those of initializers,
            depend on it, so that copies draw different numbers.
        dtype: Dtype policy, or its name, of the copy and of the cells inside
            it; `None` for that of `cell`.

    Raises:
        ValueError: when the widths of the new cell differ.
    """
    if dtype is not None:
        dtype = keras.dtype_policies.serialize(keras.dtype_policies.get(dtype))

    def change(config, path):
        changed = dict(config)
        if "seed" in config:
            changed["seed"] = derived_seed(config["seed"], *path)
        if "dtype" in config and dtype is not None:
            changed["dtype"] = dtype
        return changed

    copy = type(cell).from_config(rewritten(template(cell), change, *path))
    widths, expected = ((output_size(x), state_sizes(x)) for x in (copy, cell))
    if widths != expected:
        raise ValueError(
            f"`{type(cell).__name__}.get_config` must return every argument of "
            "the constructor. A cell made from it has other widths. Expected: "
            f"output_size and state_size {expected}. Received: {widths}"
        )
    return copy
