"""The equation of zoneout."""

from keras import ops


def zoned_out(new, old, share):
    """Returns new states that keep a share of the old ones.

    Args:
        new: Tensor, a state after a step.
        old: Tensor of the same shape and dtype, the state before it.
        share: Booleans of that shape, true where a unit keeps its old value; a
            float, the share of it that all units keep; or `None` for nothing.
    """
    if share is None:
        return new
    if isinstance(share, float):
        return new + share * (old - new)
    return ops.where(share, old, new)
