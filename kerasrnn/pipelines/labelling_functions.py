"""What a classifier serves: its functions on strings and on ids."""

import tensorflow as tf

from kerasrnn.pipelines.served_ids import IDS
from kerasrnn.pipelines.served_ids import PAD
from kerasrnn.pipelines.served_ids import TEXTS
from kerasrnn.pipelines.served_ids import checked_ids
from kerasrnn.pipelines.served_ids import graph_function


class LabellingFunctions:
    """The graph functions that a `TextLabeller` serves.

    Each takes tensors and returns a dictionary of tensors. They tokenize and
    classify in the same graphs.

    Args:
        labeller: The `TextLabeller`.
    """

    def __init__(self, labeller):
        self.model, self.tokenizer = labeller.model, labeller.tokenizer
        self.max_length, self.labels = labeller.max_length, labeller.labels
        self.ids = graph_function(labeller.ids, TEXTS)
        self.classify = graph_function(self._classify, IDS)

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        return {
            "serving_default": [self.label, TEXTS],
            "label_ids": [self.label_ids, IDS],
            "explain": [self.explain, TEXTS],
            "tokenize": [self.tokenize, TEXTS],
        }

    def label(self, text):
        """The label of each text, and its probability."""
        return self._answer(self.classify(self.ids(text))[0])

    def label_ids(self, ids):
        """The same on ids."""
        pad_id = self.tokenizer.pad_id
        ids = checked_ids(ids, self.tokenizer.vocabulary_size, pad_id)
        missing = tf.maximum(0, 1 - tf.shape(ids)[1])
        ids = tf.pad(ids, [[0, 0], [0, missing]], constant_values=pad_id)
        return self._answer(self.classify(ids[:, : self.max_length])[0])

    def explain(self, text):
        """The same, with the tokens and the weight of each."""
        ids = self.ids(text)
        logits, mask, weights = self.classify(ids)
        if weights is None:
            weights = gradient_norms(self.model, ids)
            total = tf.reduce_sum(weights, axis=1, keepdims=True)
            weights = tf.math.divide_no_nan(weights, total)
        tokens = self.tokenizer.tokens(ids)
        return {
            "tokens": tf.where(mask, tokens, ""),
            "weights": tf.where(mask, tf.cast(weights, tf.float32), 0.0),
            **self._answer(logits),
        }

    def tokenize(self, text):
        """The ids that the model reads."""
        ids = self.ids(text)
        return {"ids": tf.where(ids == self.tokenizer.pad_id, PAD, ids)}

    def _classify(self, ids):
        memory, mask, final = self.model.encoder(ids)
        logits, weights = self.model.classify(memory, mask, final)
        return logits, mask, weights

    def _answer(self, logits):
        logits = tf.cast(logits, tf.float32)
        if self.model.num_classes == 1:
            probability = tf.sigmoid(logits[:, 0])
            label = tf.cast(probability > 0.5, tf.int32)
        else:
            probability = tf.nn.softmax(logits)
            label = tf.argmax(logits, axis=1)
        return {
            "probability": probability,
            "label": tf.gather(tf.constant(self.labels), label),
        }


def gradient_norms(model, ids):
    """Norms of the gradients of the greatest logit.

    Args:
        model: A `kerasrnn.models.TextClassifier`.
        ids: Int32 tensor of shape `(batch, time)`, padded.

    Returns:
        Float32 tensor of shape `(batch, time)`, of the gradients with respect
        to the embeddings.
    """
    encoder = model.encoder
    mask = tf.not_equal(ids, encoder.pad_id)
    embeddings = encoder.embedding(ids)
    with tf.GradientTape() as tape:
        tape.watch(embeddings)
        memory, final = encoder.read(embeddings, mask)
        logits, _ = model.classify(memory, mask, final)
        greatest = tf.reduce_max(logits, axis=1)
    gradients = tape.gradient(greatest, embeddings)
    return tf.norm(tf.cast(gradients, tf.float32), axis=-1)
