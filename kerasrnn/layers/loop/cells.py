"""What a recurrent cell has to provide, and functions for any such cell.

Any Keras cell will do: a layer with `state_size` and

    call(inputs, states) -> (output, new_states)

as `keras.layers.RNN` requires. Its output is as wide as its first state, unless
it has an `output_size`. `running.py` runs one over a whole sequence.
"""

import keras
from keras import ops


def check_cell(cell, owner):
    """Raises `ValueError` unless `cell` is a recurrent cell.

    Args:
        cell: The object to check.
        owner: Name of the layer that got the cell, for the message.
    """
    faults = []
    if isinstance(cell, type):
        faults.append(f"Pass an instance: {cell.__name__}(...).")
    if isinstance(cell, keras.layers.RNN):
        faults.append("A layer runs a cell: pass its `cell`.")
    for name in ("call", "state_size"):
        try:
            getattr(cell, name)
        except AttributeError as error:
            faults.append(f"{error}.")
    if not (faults or isinstance(cell, keras.layers.Layer)):
        faults.append(f"{type(cell).__name__} is not a `keras.layers.Layer`.")
    if faults:
        raise ValueError(
            f"{owner} expects `cell` to be a recurrent cell, such as "
            "`keras.layers.GRUCell(256)`: a layer with `call` "
            f"and `state_size`. Received: cell={cell!r}. " + " ".join(faults)
        )


def check_vectors(cell, owner):
    """Raises `ValueError` unless the states are vectors, `(batch, width)`.

    Args:
        cell: A recurrent cell.
        owner: Name of the layer that joins its states, or reshapes them.
    """
    sizes = flat_state_sizes(cell)
    if any(isinstance(size, tuple) for size in sizes):
        raise ValueError(
            f"{owner} needs a cell whose states are vectors, `(batch, width)`; "
            "others run in `FastRNN`. Expected: integers as `state_size`. "
            f"Received: state_size={sizes} of cell={cell!r}"
        )


def initial_state(cell, batch_size):
    """Returns the initial states of `cell` as a list; zeros by default."""
    if hasattr(cell, "get_initial_state"):
        states = cell.get_initial_state(batch_size=batch_size)
        return states if keras.tree.is_nested(states) else [states]
    dtype = policy(cell).compute_dtype

    def zeros(sizes):
        if isinstance(sizes, list):
            return [zeros(size) for size in sizes]
        return ops.zeros(shape_of(sizes, batch_size), dtype)

    return zeros(state_sizes(cell))


def state_sizes(cell):
    """Returns `cell.state_size` as a plain list, even for a single state.

    Keras wraps the list attributes of a layer, and JAX accepts no tensors in
    such a list. A tuple inside the list is the shape of a state.
    """

    def plain(sizes):
        if isinstance(sizes, list):
            return [plain(size) for size in sizes]
        return sizes

    sizes = cell.state_size
    if isinstance(sizes, int):
        return [sizes]
    return [plain(size) for size in sizes]


def flat_state_sizes(cell):
    """Returns the widths of all states of a cell, as a flat list."""

    def flat(sizes):
        if isinstance(sizes, list):
            return [size for inner in sizes for size in flat(inner)]
        return [sizes]

    return flat(state_sizes(cell))


def output_size(cell):
    """Returns the width of the outputs: that of the first state by default.

    It may be a shape, as that of a state.
    """
    size = getattr(cell, "output_size", None)
    return flat_state_sizes(cell)[0] if size is None else size


def policy(cell):
    """Returns the dtype policy of a cell, or the global one."""
    return getattr(cell, "dtype_policy", keras.config.dtype_policy())


def step(cell, inputs, states, training=False):
    """Computes one step of `cell`, with new states nested like the old.

    A cell that defines its step returns states of the dtypes that it was given.
    """
    if type(cell) is keras.layers.StackedRNNCells and defines_step(cell):
        # The call of the stack would cast them.
        new_states = []
        for inner, own in zip(cell.cells, states, strict=True):
            inputs, own = step(inner, inputs, own, training)
            new_states.append(own)
        return inputs, new_states
    kwargs = {}
    if isinstance(cell, keras.layers.Layer):
        kwargs["training"] = training
    output, new_states = cell(inputs, states, **kwargs)
    return output, keras.tree.pack_sequence_as(
        states, keras.tree.flatten(new_states)
    )


def advance(cell, inputs, states, product, masks):
    """Computes one step of a cell that defines its step, in a loop around it.

    Args:
        cell: A cell of which `defines_step` is true.
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The states, in float32 or wider.
        product: What multiplies by the kernels.
        masks: What `dropout_masks` returned.

    Returns:
        The output, and the new states, nested like the old.
    """
    if type(cell) is keras.layers.StackedRNNCells:
        new_states = []
        for inner, own, drop in zip(cell.cells, states, masks, strict=True):
            inputs, own = advance(inner, inputs, own, product, drop)
            new_states.append(own)
        return inputs, new_states
    flat = keras.tree.flatten(states)
    output, new = cell.advance(inputs, flat, product, masks)
    return output, keras.tree.pack_sequence_as(states, new)


def defines_step(cell):
    """Whether a cell, or each of a stack, is a `RecurrentCell` as it stands."""
    if type(cell) is keras.layers.StackedRNNCells:
        return all(map(defines_step, cell.cells))
    for base in type(cell).__mro__:
        if "advance" in vars(base):
            return True
        if "call" in vars(base):
            return False
    return False


def shape_of(size, batch_size):
    """Returns the shape of a state or output: its size may be a shape."""
    return (batch_size, *(size if isinstance(size, tuple) else [size]))


def shapes_of(sizes, batch_size):
    """Returns the shapes of states whose sizes are in nested lists."""
    return [
        shapes_of(size, batch_size)
        if isinstance(size, list)
        else shape_of(size, batch_size)
        for size in sizes
    ]
