"""The loop of every search."""

import keras
from keras import ops


def advance_until_done(advance, t, rows, given, halvings=2):
    """Advances the rows of a batch until each of them is done.

    A step costs as much for a row that is done as for any other, and sentences
    end at different lengths. So once at most half of the rows are left, the
    loop continues with these alone, and again once at most a quarter are left.

    Args:
        advance: The function of a step, `(t, rows, given) -> rows`, which does
            not change rows that are done.
        t: Integer, the number of steps taken so far.
        rows: Dictionary of nests of tensors of shape `(batch, ...)`, among
            them `"done"`, a boolean tensor of shape `(batch,)`.
        given: Nest of tensors of shape `(batch, ...)`, or `None`, that
            `advance` reads.
        halvings: Integer, how many times the batch may be halved.

    Returns:
        The number of steps taken, and the rows.
    """
    size = ops.shape(rows["done"])[0]
    if isinstance(size, int) and size < 2:
        if size < 1:
            return t, rows
        halvings = 0
    half = (size + 1) // 2

    def busy(t, rows):
        count = ops.sum(ops.cast(ops.logical_not(rows["done"]), "int32"))
        return count > (half if halvings else 0)

    t, rows = ops.while_loop(
        busy, lambda t, rows: (t + 1, advance(t, rows, given)), (t, rows)
    )
    if not halvings:
        return t, rows
    order = ops.argsort(ops.cast(rows["done"], "int32"))
    left, behind = order[:half], order[half:]
    t, advanced = advance_until_done(
        advance, t, pick(rows, left), pick(given, left), halvings - 1
    )
    back = ops.argsort(order)
    return t, keras.tree.map_structure(
        lambda *both: ops.take(ops.concatenate(both), back, axis=0),
        advanced,
        pick(rows, behind),
    )


def pick(nest, index):
    """Returns rows of each tensor."""
    return keras.tree.map_structure(
        lambda x: None if x is None else ops.take(x, index, axis=0), nest
    )
