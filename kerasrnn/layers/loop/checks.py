"""What a loop over time expects of the step and the `given` of a cell."""

from keras import ops

from kerasrnn.arguments import same_shape


def check_given(over_time, states):
    """Raises `ValueError` unless all have the axes of time and batch."""
    if not over_time:
        raise ValueError(
            "`given` must return a tensor made of its inputs, from which the "
            "loop has its length. Received: none, or `Fixed` ones only"
        )
    batch = states[0].shape[0]
    axes = {(None, batch), tuple(over_time[0].shape[:2])}
    for x in over_time:
        if not all(same_shape(x.shape[:2], expected) for expected in axes):
            raise ValueError(
                "`given` must return tensors `(time, batch, ...)`. One that is "
                "the same at every step, or made of weights, is returned as "
                f"`Fixed(...)` or `Kernel(...)`. Received: shape "
                f"{tuple(x.shape)}"
            )


def check_attributes(before, after):
    """Raises `ValueError` if `given` left a tensor among a cell's attributes.

    A step that reads it would have no gradient of it.
    """
    for name, value in after.items():
        if ops.is_tensor(value) and value is not before.get(name):
            raise ValueError(
                "What `given` computes is returned, so that a step has it with "
                "its gradient. Expected: `Fixed(...)` for a tensor that is the "
                f"same at every step. Received: `self.{name}`"
            )


def check_states(new, states):
    """Raises `ValueError` unless there are new states like the old."""
    shapes = [tuple(x.shape) for x in states]
    found = new
    if isinstance(new, (list, tuple)):
        found = [tuple(getattr(x, "shape", ())) for x in new]
    if not isinstance(found, list) or [x[1:] for x in found] != [
        x[1:] for x in shapes
    ]:
        raise ValueError(
            "`step` must return the list of new states, and no output. "
            f"Expected: shapes {shapes}. Received: {found}"
        )


def check_products(results, numbers):
    """Raises `ValueError` unless each step has the same number of products."""
    if len(results) != len(numbers):
        raise ValueError(
            "Each step must make the same products, none of them in one branch "
            f"of `ops.cond`. Expected: {len(numbers)} products, as of the "
            f"first step. Received: {len(results)}"
        )
