"""From tagged words to phrases, as graph operations."""

import tensorflow as tf

from kerasrnn.tag_schemes import parsed_tag


class PhrasesOfWords:
    """Joins tagged words into phrases, as `kerasrnn.data.phrases_of` does.

    Args:
        tags: List of strings, the names of the tags.
        scheme: The scheme of the tags. `None` for tags that mark no phrases,
            such as parts of speech: then each word is a phrase.
    """

    def __init__(self, tags, scheme):
        pairs = [parsed_tag(tag) if scheme else ("S", tag) for tag in tags]
        self.prefixes = [prefix for prefix, _ in pairs]
        self.labels = [label for _, label in pairs]

    def __call__(self, tags, scores, starts, ends):
        """Returns the phrases of sentences.

        Args:
            tags: Int32 `RaggedTensor` of shape `(batch, words)`.
            scores: Float32 `RaggedTensor`, the probability of each tag.
            starts: Int32 `RaggedTensor`, the position where each word begins.
            ends: Int32 `RaggedTensor`, the position where it ends.

        Returns:
            A dictionary of dense tensors `(batch, phrases)`: `labels`, padded
            with `""`, `starts` and `ends`, padded with -1, and `scores`, the
            least probability of a tag of the phrase, padded with 0.
        """
        flat = tags.flat_values
        inside = self._has(flat, "BIESLU")
        label = self._labels_as_numbers(flat)
        rows = tags.value_rowids()
        same = tf.equal(label[1:], label[:-1]) & tf.equal(rows[1:], rows[:-1])
        is_open = self._has(flat, "BI")
        goes_on = same & is_open[:-1] & self._has(flat, "IEL")[1:]
        # The first word continues none.
        goes_on = tf.concat([tf.zeros_like(inside[:1]), goes_on], 0)
        begins = inside & ~goes_on
        closes = tf.concat([~goes_on[1:], tf.ones_like(inside[:1])], 0)
        number = tf.cumsum(tf.cast(begins, tf.int32)) - 1
        count = tf.reduce_sum(tf.cast(begins, tf.int32))
        least = tf.math.unsorted_segment_min(
            tf.where(inside, scores.flat_values, 1.0),
            tf.where(inside, number, -1),
            count,
        )
        begin = tags.with_flat_values(begins)
        close = tags.with_flat_values(inside & closes)
        names = tf.gather(tf.constant(self.labels), flat)
        found = tf.ragged.boolean_mask(starts, begin)
        return {
            "labels": tf.ragged.boolean_mask(
                tags.with_flat_values(names), begin
            ).to_tensor(""),
            "starts": found.to_tensor(-1),
            "ends": tf.ragged.boolean_mask(ends, close).to_tensor(-1),
            "scores": found.with_flat_values(least).to_tensor(0.0),
        }

    def _has(self, tags, prefixes):
        """Whether tags have one of some prefixes."""
        found = [prefix in prefixes for prefix in self.prefixes]
        return tf.gather(tf.constant(found), tags)

    def _labels_as_numbers(self, tags):
        numbers = list(map(self.labels.index, self.labels))
        return tf.gather(tf.constant(numbers), tags)
