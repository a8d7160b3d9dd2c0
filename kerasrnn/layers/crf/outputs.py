"""What the outputs of a CRF hold: the best path, the emissions, the mask.

The distribution over paths stays the same if a number is added to all emissions
of a step. So each step's emissions are stored relative to that of the best tag.
That tag's own entry would be 0, so its place instead holds a value larger than
all others, which marks the path. A masked step is all zeros, which no real step
is.
"""

from keras import ops

from kerasrnn.layers.crf.chain import at_tag
from kerasrnn.layers.crf.chain import maximum


def with_path(emissions, mask, tags):
    """Returns outputs.

    Args:
        emissions: Tensor of shape `(batch, time, tags)`.
        mask: Booleans of shape `(batch, time)`.
        tags: Integers of that shape, the best path.

    Returns:
        Tensor of shape `(batch, time, tags)`.
    """
    on_path = at_tag(tags, emissions.shape[-1])
    of_path = ops.sum(
        ops.where(on_path, emissions, 0.0), axis=-1, keepdims=True
    )
    relative = emissions - of_path
    above = maximum(ops.stop_gradient(relative), axis=-1, keepdims=True) + 1.0
    outputs = ops.where(on_path, above, relative)
    return ops.where(mask[..., None], outputs, 0.0)


def emissions_and_mask(outputs):
    """Returns what `with_path` was given: emissions up to a number, and mask.

    Args:
        outputs: Tensor of shape `(batch, time, tags)`.
    """
    tags = ops.argmax(outputs, axis=-1)
    on_path = at_tag(tags, outputs.shape[-1])
    mask = ops.any(outputs != 0, axis=-1)
    return ops.where(on_path, 0.0, outputs), mask
