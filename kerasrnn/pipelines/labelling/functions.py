"""What a classifier serves: its functions on strings and on ids."""

import tensorflow as tf

from kerasrnn.data.batches import pad_to
from kerasrnn.pipelines.graphs import TEXTS
from kerasrnn.pipelines.graphs import graph_function
from kerasrnn.pipelines.served_checks import check_same_rows
from kerasrnn.pipelines.served_ids import IDS
from kerasrnn.pipelines.served_ids import checked_ids
from kerasrnn.pipelines.served_ids import served_ids
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import Padded
from kerasrnn.pipelines.xla import in_programs

LABELS = tf.TensorSpec([None], tf.string, name="label")


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
        self.temperature, self.kind = labeller.temperature, labeller.kind
        self.ids = graph_function(labeller.ids, TEXTS)
        self.classify = graph_function(self.model.classify_ids, IDS)
        self.logits = lambda ids: self.classify(ids)[0]
        if (shapes := labeller.xla_shapes) is not None:
            self.logits = in_programs(
                lambda ids: self.model.classify_ids(ids)[0],
                self.logits,
                [Padded(AXES, self.tokenizer.pad_id)],
                shapes.sizes(),
            )

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        return {
            "serving_default": [self.label, TEXTS],
            "label_ids": [self.label_ids, IDS],
            "explain": [self.explain, TEXTS],
            "explain_label": [self.explain_label, TEXTS, LABELS],
            "tokenize": [self.tokenize, TEXTS],
        }

    def label(self, text):
        """The label of each text, or several, and the probabilities."""
        return self._answer(self.logits(self.ids(text)))

    def label_ids(self, ids):
        """The same on ids."""
        pad_id = self.tokenizer.pad_id
        ids = checked_ids(ids, self.tokenizer.vocabulary_size, pad_id)
        ids = pad_to(ids, pad_id, most=self.max_length)
        return self._answer(self.logits(ids))

    def explain(self, text):
        """The same, with the tokens and the weight of each."""
        ids = self.ids(text)
        logits, weights = self.classify(ids)
        mask = self.model.mask(ids)
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

    def explain_label(self, text, label):
        """The same, for or against a label that is given for each text."""
        ids = self.ids(text)
        with tf.control_dependencies([check_same_rows(text=text, label=label)]):
            is_label = tf.equal(label[:, None], tf.constant(self.labels)[None])
        known = tf.debugging.Assert(
            tf.reduce_all(tf.reduce_any(is_label, axis=1)),
            [f"`label` must be of {', '.join(self.labels)}. Received:", label],
        )
        with tf.control_dependencies([known]):
            is_label = tf.identity(is_label)
        weights, logits = contributions(
            self.model, ids, lambda logits: self.kind.log_odds(logits, is_label)
        )
        mask = self.model.mask(ids)
        return {
            "tokens": tf.where(mask, self.tokenizer.tokens(ids), ""),
            "weights": tf.where(mask, weights, 0.0),
            **self._answer(logits),
        }

    def tokenize(self, text):
        """The ids that the model reads."""
        ids = self.ids(text)
        return {"ids": served_ids(ids, self.tokenizer.pad_id)}

    def _answer(self, logits):
        logits = tf.cast(logits, tf.float32) / self.temperature
        return self.kind.answer(logits)


def contributions(model, ids, log_odds):
    """How much each word adds to the log odds of a label.

    It is the product of the embedding of a word and the gradient with respect
    to it (Denil et al. 2014, https://arxiv.org/abs/1412.6815): above 0, the
    word speaks for the label, below 0 against it.

    Args:
        model: A `TextClassifier` or `ClassifierEnsemble`.
        ids: Int32 tensor of shape `(batch, time)`, padded.
        log_odds: Function from float32 logits to the log odds of the label of
            each text, of shape `(batch,)`.

    Returns:
        A tuple of a float32 tensor of shape `(batch, time)`, and the logits.
    """
    embeddings, gradients, logits = _gradients(
        model, ids, lambda logits: log_odds(tf.cast(logits, tf.float32))
    )
    return tf.reduce_sum(embeddings * gradients, axis=-1), logits


def gradient_norms(model, ids):
    """Norms of the gradients of the largest logit.

    Args:
        model: A `TextClassifier` or `ClassifierEnsemble`.
        ids: Int32 tensor of shape `(batch, time)`, padded.

    Returns:
        Float32 tensor of shape `(batch, time)`, of the gradients with respect
        to the embeddings.
    """
    _, gradients, _ = _gradients(
        model, ids, lambda logits: tf.reduce_max(logits, axis=1)
    )
    return tf.norm(gradients, axis=-1)


def _gradients(model, ids, function):
    """Embeddings, gradients of a function of the logits, and the logits.

    The embeddings of the members of an ensemble are side by side.
    """
    embeddings = model.embed(ids)
    with tf.GradientTape() as tape:
        tape.watch(embeddings)
        logits, _ = model.classify_embedded(embeddings, ids)
        value = function(logits)
    gradients = tape.gradient(value, embeddings)
    return _side_by_side(embeddings), _side_by_side(gradients), logits


def _side_by_side(tensors):
    columns = [tf.cast(x, tf.float32) for x in tf.nest.flatten(tensors)]
    return tf.concat(columns, axis=-1)
