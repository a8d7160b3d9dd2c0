"""The chain that `forward_backward.py` and `paths.py` work on.

Besides the tags there is a start state, the last index. Its row of the
transitions holds the start weights, and no transition enters it. So a fully
masked row stays in it and needs no special case. Sequences are
`(time, batch, ...)`.
"""

from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.precision import wide
from kerasrnn.layers.sequence_checks import check_mask
from kerasrnn.layers.sequence_checks import check_not_ragged

# The logarithm of the weight of a transition that does not exist.
NEVER = -1e30
# The weight of what a tag scheme forbids: more than emissions make up for.
FORBIDDEN = -1e4


def maximum(x, axis=None, keepdims=False):
    """Returns the maximum; minus infinity over an empty axis."""
    return ops.max(x, axis=axis, keepdims=keepdims, initial=float("-inf"))


def at_tag(tags, width):
    """Returns booleans `(..., width)`, true at the place of each tag.

    `one_hot` of booleans, or of several axes, cannot be converted to ONNX.
    """
    places = ops.arange(width, dtype="int32")
    return ops.equal(ops.cast(tags, "int32")[..., None], places)


def scan_back(step, carry, time):
    """Returns what `_backend.scan` does with `reverse`, for small results.

    Converted to ONNX, a loop stacks its results in the order of its steps, and
    not by their index. So they are reversed here.
    """
    last, found = _backend.scan(
        lambda carry, index: step(carry, time - 1 - index), carry, time
    )
    return last, ops.flip(found, axis=0)


def checked(emissions, mask):
    """Returns emissions and a mask that recursions can use.

    Args:
        emissions: Tensor of shape `(batch, time, tags)`, of any dtype.
        mask: Booleans of shape `(batch, time)`, or `None`.

    Returns:
        The emissions in float32 or wider, 0 at masked steps; a mask.

    Raises:
        ValueError: when there is no step, emissions are ragged, or a mask has
            another length.
    """
    check_not_ragged(emissions)
    emissions = ops.convert_to_tensor(emissions)
    if emissions.shape[1] == 0:
        raise ValueError(
            "A CRF reads sequences of one step or more, `(batch, time, tags)`. "
            f"Received: emissions of shape {tuple(emissions.shape)}"
        )
    emissions = wide(emissions)
    if mask is None:
        return emissions, ops.ones(ops.shape(emissions)[:2], "bool")
    mask = ops.cast(mask, "bool")
    check_mask("mask", mask, emissions)
    return ops.where(mask[..., None], emissions, 0.0), mask


def chain(emissions, mask, transitions, start, end, allowed=None):
    """Returns a chain.

    Args:
        emissions, mask: What `checked` returned.
        transitions: Weights of shape `(tags, tags)`.
        start, end: Weights of shape `(tags,)`.
        allowed: Optional booleans of the shapes of the three, false where a
            tag scheme forbids it.

    Returns:
        Emissions of shape `(time, batch, tags + 1)`, a mask of shape
        `(time, batch)`, transitions of shape `(tags + 1, tags + 1)`, and ends
        of shape `(tags + 1,)`.
    """
    weights = [
        ops.cast(ops.convert_to_tensor(x), emissions.dtype)
        for x in (transitions, start, end)
    ]
    if allowed is not None:
        weights = [
            ops.where(ops.convert_to_tensor(here), x, FORBIDDEN)
            for here, x in zip(allowed, weights, strict=True)
        ]
    transitions, start, end = weights
    moves = ops.concatenate([transitions, start[None]])
    emissions = ops.transpose(emissions, (1, 0, 2))
    return (
        ops.pad(emissions, [[0, 0], [0, 0], [0, 1]]),
        ops.transpose(mask),
        ops.pad(moves, [[0, 0], [0, 1]], constant_values=NEVER),
        ops.pad(end, [[0, 1]]),
    )
