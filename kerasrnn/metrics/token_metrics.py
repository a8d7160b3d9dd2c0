"""Means over the tokens of a whole data set, padding left out."""

import math

import keras
from keras import ops

from kerasrnn.metrics.token_shapes import check_token_shapes
from kerasrnn.metrics.token_shapes import weights_of_tokens


class _TokenMean(keras.metrics.Metric):
    """The mean of a value that every token has, over all batches.

    Args:
        pad_id: Integer id of padding.
        name: Name of the metric.
    """

    def __init__(self, pad_id, name):
        super().__init__(dtype="float32", name=name)
        self.pad_id = pad_id
        # Values times weights, and weights. A sum in float32 alone ignores
        # single tokens after 2 ** 24 of them, so what every addition rounds
        # off is kept and made good by the next one (Kahan, 1965).
        self.sums = self.add_variable((2,), "zeros", "float32", name="sums")
        self.excess = self.add_variable((2,), "zeros", "float32", name="excess")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = ops.cast(y_true, "int32")
        y_pred = ops.cast(y_pred, "float32")
        check_token_shapes(y_true, y_pred)
        weights = ops.cast(ops.not_equal(y_true, self.pad_id), "float32")
        if sample_weight is not None:
            weights = weights * weights_of_tokens(sample_weight, "float32")
        # Not a product with 0, since what is predicted there may be infinite.
        values = ops.where(
            ops.equal(weights, 0.0),
            0.0,
            weights * self.token_values(y_true, y_pred),
        )
        self._add(ops.stack([ops.sum(values), ops.sum(weights)]))

    def token_values(self, y_true, y_pred):
        """The value of each token, of shape `(batch, time)`."""
        raise NotImplementedError(
            f"{type(self).__name__} must override "
            "`token_values(y_true, y_pred)`."
        )

    def _add(self, summands):
        summands = summands - self.excess
        sums = self.sums + summands
        excess = (sums - self.sums) - summands
        self.excess.assign(ops.where(ops.isfinite(sums), excess, 0.0))
        self.sums.assign(sums)

    def result(self):
        total, count = ops.unstack(self.sums - self.excess, 2)
        return ops.divide_no_nan(total, count)

    def get_config(self):
        return {"name": self.name, "pad_id": self.pad_id}


class _TokenCost(_TokenMean):
    """The mean of `-log p(y)`, in nats."""

    def token_values(self, y_true, y_pred):
        size = ops.shape(y_pred)[-1]
        labels = ops.clip(y_true, 0, size - 1)
        log_p = ops.squeeze(
            ops.take_along_axis(
                ops.log_softmax(y_pred, axis=-1),
                ops.expand_dims(labels, -1),
                axis=-1,
            ),
            -1,
        )
        return ops.where(ops.equal(labels, y_true), -log_p, math.nan)


@keras.saving.register_keras_serializable("kerasrnn")
class Perplexity(_TokenCost):
    """Perplexity of a data set, each of its tokens weighing the same.

    With `p` the predicted distribution, `y` the true token, and the sums over
    all tokens of all batches that are not padding:

        perplexity = exp(- sum log p(y) / sum 1)

    That is not the mean of the perplexities of the batches. Before any token
    was seen, it is 1.

    Args:
        pad_id: Integer id of padding, which does not count. An id that is not
            in the vocabulary, such as -1, is fine.
        name: Name of the metric.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)`. A token that is
            neither padding nor in the vocabulary makes the result NaN.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type; they are computed with in float32.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            by which tokens count more or less.

    Masking:
        Padding is what equals `pad_id`, and nothing else. A Keras mask of
        `y_pred` has no effect.

    Example:

    >>> perplexity = Perplexity()
    >>> perplexity.update_state(np.array([[2, 0]]), np.zeros((1, 2, 8)))
    >>> round(float(perplexity.result()), 3)
    8.0
    """

    def __init__(self, pad_id=0, name="perplexity"):
        super().__init__(pad_id, name)

    def result(self):
        return ops.exp(super().result())


@keras.saving.register_keras_serializable("kerasrnn")
class BitsPerCharacter(_TokenCost):
    """Bits that a model needs for each character, its tokens' mean cost.

    With `p` the predicted distribution, `y` the true token, and the sums over
    all tokens of all batches that are not padding:

        bits = - sum log_2 p(y) / sum 1

    The tokens must be characters (or bytes); for others, these are bits for
    each token. Before any token was seen, it is 0.

    Args:
        pad_id: Integer id of padding, which does not count. An id that is not
            in the vocabulary, such as -1, is fine.
        name: Name of the metric.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)`. A token that is
            neither padding nor in the vocabulary makes the result NaN.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type; they are computed with in float32.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            by which tokens count more or less.

    Masking:
        Padding is what equals `pad_id`, and nothing else. A Keras mask of
        `y_pred` has no effect.

    Example:

    >>> bits = BitsPerCharacter()
    >>> bits.update_state(np.array([[2, 0]]), np.zeros((1, 2, 8)))
    >>> round(float(bits.result()), 3)
    3.0
    """

    def __init__(self, pad_id=0, name="bits_per_character"):
        super().__init__(pad_id, name)

    def result(self):
        return super().result() / math.log(2.0)


@keras.saving.register_keras_serializable("kerasrnn")
class TokenAccuracy(_TokenMean):
    """Share of the tokens whose logit is the greatest, padding left out.

    The share is taken over all tokens of all batches. Before any token was
    seen, it is 0.

    Args:
        pad_id: Integer id of padding, which does not count. An id that is not
            in the vocabulary, such as -1, is fine.
        name: Name of the metric.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)`.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type. Of equal logits, the first counts as greatest.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            by which tokens count more or less.

    Masking:
        Padding is what equals `pad_id`, and nothing else. A Keras mask of
        `y_pred` has no effect.

    Example:

    >>> accuracy = TokenAccuracy()
    >>> logits = np.array([[[0.0, 1.0, 3.0], [0.0, 2.0, 1.0]]])
    >>> accuracy.update_state(np.array([[2, 2]]), logits)
    >>> float(accuracy.result())
    0.5
    """

    def __init__(self, pad_id=0, name="token_accuracy"):
        super().__init__(pad_id, name)

    def token_values(self, y_true, y_pred):
        guesses = ops.cast(ops.argmax(y_pred, axis=-1), "int32")
        return ops.cast(ops.equal(guesses, y_true), "float32")
