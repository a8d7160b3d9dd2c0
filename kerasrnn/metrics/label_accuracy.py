"""Whether the label of a text is right."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasrnn")
def label_accuracy(labels, logits):
    """Returns whether the most probable class is the true one.

    Args:
        labels: Tensor of shape `(batch, 1)`: classes, or, for two classes,
            the probability of the second. For several labels a text, of shape
            `(batch, labels)`, 1 for those that it has and 0 for others.
        logits: Tensor of shape `(batch, num_classes)`, or `(batch, 1)` for
            two classes.

    Returns:
        Boolean tensor of the shape of `labels`.
    """
    if logits.shape[-1] in (1, labels.shape[-1]):
        return ops.equal(ops.cast(labels, "float32") > 0.5, logits > 0.0)
    found = ops.argmax(logits, axis=-1, keepdims=True)
    return ops.equal(ops.cast(labels, found.dtype), found)
