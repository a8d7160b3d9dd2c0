"""Weights of tagged words in a loss, by their sentences and their tags."""

import tensorflow as tf

from kerasrnn.data.batches import checked_weights
from kerasrnn.pipelines.class_weights import weights_by_number


def weights_of_words(numbers, tags, sample_weight, class_weight):
    """Returns a weight for each sentence or, by the tags, for each word.

    Args:
        numbers: Ragged integer tensor of shape `(sentences, words)`, the tags.
        tags: List of strings, the names of the tags.
        sample_weight: List of floats, the weight of each sentence; or `None`.
        class_weight: Dictionary from tags, by name or by number, to the weight
            of their words, 1 for others; or `None`.

    Returns:
        Float32 tensor of shape `(sentences,)`; with `class_weight` a ragged
        one, `(sentences, words)`.
    """
    count = int(numbers.nrows())
    if sample_weight is None:
        sample_weight = [1.0] * count
    weights = tf.constant(checked_weights(sample_weight, count, "sentence"))
    if class_weight is None:
        return weights

    def by_name(given):
        return [tags.index(tag) if tag in tags else tag for tag in given]

    found = weights_by_number(class_weight, tags, by_name, "tag")
    of_tag = tf.constant([found.get(n, 1.0) for n in range(len(tags))])
    words = tf.gather(of_tag, numbers.flat_values)
    words *= tf.gather(weights, numbers.value_rowids())
    return numbers.with_flat_values(words)
