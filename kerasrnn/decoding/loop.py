"""The loop of all searches."""

import functools

import keras
from keras import ops

# Maximum number of times that the batch is halved.
HALVINGS = 2


def advance_until_done(advance, t, rows, given, static_sizes=False):
    """Advances the rows of a batch until all of them are done.

    A step costs the same for rows that are done as for others, and sentences
    have different lengths. So once at most half of the rows are left, the loop
    continues with only these, and so on.

    Args:
        advance: The step function `(t, rows, given) -> rows`. It must not
            change rows that are done.
        t: Integer, number of steps so far.
        rows: Dictionary of nests of tensors of shape `(batch, ...)`, including
            `"done"`, a boolean tensor of shape `(batch,)`.
        given: Nest of tensors of shape `(batch, ...)` that `advance` only
            reads, or `None`.
        static_sizes: Whether all sizes must follow from the batch size, as XLA
            requires, even if the graph is for batches of any size.

    Returns:
        The number of steps, and the rows.
    """

    def advance_to(limit, t, rows, given):
        """Advances all rows until at most `limit` of them are left."""
        return ops.while_loop(
            lambda t, rows: unfinished(rows) > limit,
            lambda t, rows: (t + 1, advance(t, rows, given)),
            (t, rows),
        )

    size = ops.shape(rows["done"])[0]
    if static_sizes or isinstance(size, int):
        return advance_halves(advance_to, limits(size), t, rows, given)

    def advance_some(halvings, t, rows):
        count = unfinished(rows)
        limit = ops.where(halvings < HALVINGS, count // 2, 0)
        advance_left = functools.partial(advance_to, limit)
        return halvings + 1, *advance_first(count, advance_left, t, rows, given)

    # A graph for batches of any size contains the step once, not once per
    # halving.
    _, t, rows = ops.while_loop(
        lambda halvings, t, rows: unfinished(rows) > 0,
        advance_some,
        (0, t, rows),
    )
    return t, rows


def advance_halves(advance_to, limits, t, rows, given):
    """Advances all rows to the first limit, and then the rest to the next.

    Until then, all rows take part, so that nothing is copied. The memory of a
    batch may be large.
    """
    if limits:
        t, rows = advance_to(limits[0], t, rows, given)
    if len(limits) < 2:
        return t, rows
    advance_left = functools.partial(advance_halves, advance_to, limits[1:])
    return advance_first(limits[0], advance_left, t, rows, given)


def advance_first(count, advance_left, t, rows, given):
    """Advances `count` rows, which include all rows that are left.

    Args:
        count: Integer.
        advance_left: Function `(t, rows, given) -> (t, rows)` for these rows.
        t, rows, given: As in `advance_until_done`.

    Returns:
        The number of steps, and all rows in their order.
    """
    order = ops.argsort(ops.cast(rows["done"], "int32"))
    first, behind = order[:count], order[count:]
    t, advanced = advance_left(t, pick(rows, first), pick(given, first))
    back = ops.argsort(order)
    return t, keras.tree.map_structure(
        lambda *both: ops.take(ops.concatenate(both), back, axis=0),
        advanced,
        pick(rows, behind),
    )


def limits(size):
    """Returns how many of `size` rows may be left after each halving."""
    left, is_known = [], isinstance(size, int)
    while len(left) < HALVINGS and not (is_known and size < 2):
        size = (size + 1) // 2
        left.append(size)
    return [] if is_known and not size else [*left, 0]


def unfinished(rows):
    """Returns the number of rows that are not done."""
    return ops.sum(ops.cast(ops.logical_not(rows["done"]), "int32"))


def pick(nest, index):
    """Returns the rows at an index of each tensor."""
    return keras.tree.map_structure(
        lambda x: None if x is None else ops.take(x, index, axis=0), nest
    )
