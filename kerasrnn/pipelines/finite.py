"""Whether a model answers with numbers, and not with NaN."""

import tensorflow as tf


def check_answer(model, answer):
    """Raises an error if the weights are why an answer is not finite.

    Weights, of which there may be millions, are not looked at otherwise. What
    has no floats in its answer calls `check_weights`.

    Args:
        model: The Keras model, or layer, that answers.
        answer: Dictionary of tensors.

    Raises:
        FloatingPointError: when a weight is NaN or infinite.
    """
    if not all(map(_is_finite, answer.values())):
        check_weights(model)


def check_weights(model):
    """Raises an error if a weight of a model is not finite.

    Args:
        model: A Keras model or layer.

    Raises:
        FloatingPointError: when a weight is NaN or infinite.
    """
    wrong = [x.path for x in model.weights if not _is_finite(x)]
    if wrong:
        raise FloatingPointError(
            "The model cannot answer: its weights are not finite numbers, as "
            "after a training that failed. Expected: finite weights; a lower "
            "learning rate or clipped gradients (`global_clipnorm` of the "
            "optimizer) may help. Received: NaN or infinite numbers in "
            f"{len(wrong)} of {len(model.weights)} weights, such as "
            f"{wrong[0]!r}"
        )


def _is_finite(x):
    """Whether all entries of a tensor are, if they are floats."""
    if not tf.as_dtype(x.dtype).is_floating:
        return True
    return bool(tf.reduce_all(tf.math.is_finite(tf.convert_to_tensor(x))))
