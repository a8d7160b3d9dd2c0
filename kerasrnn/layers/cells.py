"""What the layers of this package ask of a recurrent cell they wrap.

Any Keras cell will do: an object with `state_size`, `output_size` and
`call(inputs, states) -> (output, new_states)` whose first state is its
output, as `keras.layers.RNN` itself requires. `keras.layers.StackedRNNCells`
is such a cell too, but keeps the output in the state of its last cell.
"""

import keras
from keras import ops

from kerasrnn.layers.gru import FastGRUCell
from kerasrnn.layers.lstm import FastLSTMCell
from kerasrnn.layers.through_time import wide

# Cells of Keras that ours compute the same as, and can run at once.
_FAST = {
    keras.layers.GRUCell: FastGRUCell,
    keras.layers.LSTMCell: FastLSTMCell,
}


def check_cell(cell, owner):
    """Raises `ValueError` unless `cell` is a recurrent cell.

    Args:
        cell: The object to check.
        owner: Name of the layer that was given it, for the message.
    """
    missing = [
        name
        for name in ("call", "state_size", "output_size")
        if not hasattr(cell, name)
    ]
    if missing:
        raise ValueError(
            f"{owner} expects `cell` to be a recurrent cell, such as "
            "`keras.layers.GRUCell(256)`: an object with `call`, "
            f"`state_size` and `output_size`. Received: cell={cell!r}, which "
            f"lacks {', '.join(missing)}."
        )


def clone_cell(cell):
    """Returns a new cell with the configuration of `cell` and no weights.

    Where this package has a faster cell that computes the same, it is one.
    """
    cell_class = _FAST.get(type(cell), type(cell))
    return cell_class.from_config(cell.get_config() | {"name": None})


def initial_state(cell, batch_size):
    """Returns the states that `cell` starts from: its own, or zeros."""
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(batch_size=batch_size)
    return keras.tree.map_structure(
        lambda size: ops.zeros((batch_size, size), cell.compute_dtype),
        cell.state_size,
    )


def state_sizes(cell):
    """Returns `cell.state_size` in plain lists.

    Keras wraps the lists of a layer, and JAX takes no tensors in a wrapped
    one.
    """

    def plain(sizes):
        if isinstance(sizes, (list, tuple)):
            return [plain(size) for size in sizes]
        return sizes

    return plain(cell.state_size)


def clocks(cell):
    """Returns which of a cell's states, as a flat list, only count steps.

    Zoneout draws its noise by them. They know nothing of what was read.
    """
    if hasattr(cell, "clocks"):
        return list(cell.clocks)
    if hasattr(cell, "cells"):
        return [clock for inner in cell.cells for clock in clocks(inner)]
    return [False] * len(keras.tree.flatten(cell.state_size))


def without_clocks(cell, states):
    """Returns a cell's states, or their widths, as a flat list but clocks."""
    flat = zip(keras.tree.flatten(states), clocks(cell), strict=True)
    return [x for x, clock in flat if not clock]


def policy(cell):
    """Returns the dtype policy of a cell, or `None` for the global one."""
    return getattr(cell, "dtype_policy", None)


def last_output(cell, states):
    """Returns the output that `cell` gave together with `states`."""
    if hasattr(cell, "cells"):
        return last_output(cell.cells[-1], states[-1])
    return states[0] if isinstance(states, (list, tuple)) else states


def step(cell, inputs, states, training=False):
    """One step of `cell`, with new states of the structure of the old."""
    output, new_states = cell(inputs, states, training=training)
    return output, keras.tree.pack_sequence_as(
        states, keras.tree.flatten(new_states)
    )


def run(cell, sequence, states, training=False):
    """Runs a cell over a sequence, at once where it knows how.

    Args:
        cell: A recurrent cell whose dropout masks are drawn.
        sequence: Tensor of shape `(time, batch, input_dim)`.
        states: The states to start from.
        training: Whether to behave as in training.

    Returns:
        The outputs of shape `(time, batch, output_size)`, and the last
        states.
    """
    if hasattr(cell, "cells"):
        # Each cell over the whole sequence in turn: none sees a later one.
        last = []
        for inner, own in zip(cell.cells, states, strict=True):
            sequence, own = run(inner, sequence, own, training)
            last.append(own)
        return sequence, last
    if getattr(cell, "can_run_at_once", False):
        flat = [wide(state) for state in keras.tree.flatten(states)]
        outputs, last = cell.run(sequence, flat, training=training)
        dtype = cell.compute_dtype
        last = [ops.cast(state, dtype) for state in last]
        last = keras.tree.pack_sequence_as(states, last)
        return ops.cast(outputs, dtype), last

    def body(states, inputs):
        _, states = step(cell, inputs, states, training)
        return states, states

    states, history = ops.scan(body, states, sequence)
    return last_output(cell, history), states


def supports_jit(cell, attends_in_the_loop=False):
    """Whether XLA can differentiate the loop over a cell.

    TensorFlow's cannot where it is a `keras.ops.scan`, which is unbounded: in
    `run`, unless the cell runs at once, and where attention is in the loop.
    """
    if keras.backend.backend() != "tensorflow":
        return True
    if hasattr(cell, "cells"):
        return all(supports_jit(x, attends_in_the_loop) for x in cell.cells)
    at_once = getattr(cell, "can_run_at_once", False)
    return at_once and not attends_in_the_loop


def draw_dropout_masks(cell, inputs):
    """Draws the variational masks of a cell, before its loop.

    Keras's cells draw a mask at their first step and keep it for the others.
    In a compiled loop that first draw would belong to the loop's body, and a
    cell inside another cell would never let go of it, so masks are drawn
    here and dropped by `drop_dropout_masks`.

    Args:
        cell: A recurrent cell.
        inputs: Tensor of shape `(batch, input_dim)`, an input of one step.

    Returns:
        A tensor of shape `(batch, output_size)`, as the cell's output.
    """
    if hasattr(cell, "cells"):
        for inner in cell.cells:
            inputs = draw_dropout_masks(inner, inputs)
        return inputs
    states = initial_state(cell, ops.shape(inputs)[0])
    output = last_output(cell, states)
    if hasattr(cell, "get_dropout_mask"):
        cell.get_dropout_mask(inputs)
        cell.get_recurrent_dropout_mask(output)
    return output


def drop_dropout_masks(cell):
    """Forgets the masks that `draw_dropout_masks` drew."""
    for inner in getattr(cell, "cells", []):
        drop_dropout_masks(inner)
    if hasattr(cell, "reset_dropout_mask"):
        cell.reset_dropout_mask()
        cell.reset_recurrent_dropout_mask()
