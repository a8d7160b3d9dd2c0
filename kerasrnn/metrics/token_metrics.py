"""Cross-entropy and accuracy of tokens over a data set, without padding."""

import math

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import same_shape
from kerasrnn.metrics.pooled_mean import PooledMean
from kerasrnn.tensors import largest
from kerasrnn.tensors import without_last_axis
from kerasrnn.typing import Tensor


def labels_of_tokens(y_true, y_pred):
    """Checks labels and logits, and returns the labels as int32.

    Args:
        y_true: Tensor of shape `(batch, time)` or `(batch, time, 1)`.
        y_pred: Tensor of shape `(batch, time, vocabulary_size)`.

    Returns:
        Tensor of shape `(batch, time)`.

    Raises:
        ValueError: when the shapes are different.
    """
    labels = without_last_axis(ops.cast(y_true, "int32"))
    if len(y_pred.shape) != 3 or not same_shape(labels.shape, y_pred.shape[:2]):
        raise ValueError(
            "`y_true` must have shape (batch, time), and `y_pred` "
            "(batch, time, vocabulary_size). Received: "
            f"y_true.shape={tuple(y_true.shape)} and "
            f"y_pred.shape={tuple(y_pred.shape)}"
        )
    return labels


def weights_of_tokens(sample_weight, costs):
    """Returns sample weights that broadcast to `(batch, time)`.

    Args:
        sample_weight: Tensor of shape `(batch,)` or `(batch, time)`, or a
            scalar.
        costs: Tensor of shape `(batch, time)`, the weighted costs, whose dtype
            the weights get.

    Raises:
        ValueError: when they have another shape.
    """
    weights = ops.cast(sample_weight, costs.dtype)
    if len(weights.shape) > 2 or any(
        length not in (None, 1, expected) and expected is not None
        for length, expected in zip(weights.shape, costs.shape, strict=False)
    ):
        raise ValueError(
            "`sample_weight` must have shape (batch,) or (batch, time). "
            f"Received: sample_weight.shape={tuple(weights.shape)} for "
            f"{tuple(costs.shape)}"
        )
    return ops.expand_dims(weights, -1) if len(weights.shape) == 1 else weights


def token_costs(labels, logits, label_smoothing=0.0):
    """Returns the cross-entropy of each token, in nats.

    Loss and perplexity both need it. Compilers merge equal computations in a
    graph, so the perplexity costs nothing in training.

    Args:
        labels: Integer tensor of shape `(batch, time)`.
        logits: Tensor of shape `(batch, time, vocabulary_size)`, in float32
            or wider.
        label_smoothing: Float in `[0, 1)`, the probability mass that is spread
            over the vocabulary.

    Returns:
        Tensor of shape `(batch, time)`, NaN where a label is not in the
        vocabulary.
    """
    known = ops.clip(labels, 0, ops.shape(logits)[-1] - 1)
    # In the difference from their logsumexp, large logits would lose digits.
    top = ops.max(logits, axis=-1, keepdims=True, initial=-math.inf)
    shifted = ops.subtract(logits, ops.stop_gradient(top))
    true = ops.take_along_axis(shifted, known[..., None], axis=-1)[..., 0]
    if label_smoothing:
        true = true * (1.0 - label_smoothing)
        true = true + label_smoothing * ops.mean(shifted, axis=-1)
    costs = ops.log(ops.sum(ops.exp(shifted), axis=-1)) - true
    return ops.where(ops.equal(known, labels), costs, math.nan)


class _TokenMean(PooledMean):
    """Mean of a value per token, over all batches.

    Args:
        pad_id: Integer id of padding.
        name: Name of the metric.
    """

    def __init__(self, pad_id: int, name: str) -> None:
        super().__init__(name)
        self.pad_id = integer("pad_id", pad_id)

    def update_state(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
    ) -> None:
        y_pred = ops.cast(y_pred, "float32")
        y_true = labels_of_tokens(y_true, y_pred)
        weights = ops.cast(ops.not_equal(y_true, self.pad_id), "float32")
        if sample_weight is not None:
            weights = weights * weights_of_tokens(sample_weight, weights)
        self.add(self.token_values(y_true, y_pred), weights)

    def token_values(self, labels: Tensor, logits: Tensor) -> Tensor:
        """Returns the value of each token, `-log p(y)` in nats by default."""
        return token_costs(labels, logits)


@keras.saving.register_keras_serializable("kerasrnn")
class Perplexity(_TokenMean):
    """Perplexity over a data set, where every token has the same weight.

    `p` is the predicted distribution, `y` the true token, and the sums are over
    all tokens of all batches that are not padding:

        perplexity = exp(- sum log p(y) / sum 1)

    This is not the mean of the perplexities of batches. Before the first
    update, the result is 1.

    Args:
        pad_id: Integer id of padding, which is ignored. It may be outside the
            vocabulary, such as -1.
        name: Name of the metric.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)` or
            `(batch, time, 1)`. A token that is neither padding nor in the
            vocabulary makes the result NaN.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type; the computation is in float32.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            the weights of the tokens.

    Masking:
        Only labels equal to `pad_id` are padding. A Keras mask of `y_pred` has
        no effect.

    Example:

    >>> perplexity = Perplexity()
    >>> perplexity.update_state(np.array([[2, 0]]), np.zeros((1, 2, 8)))
    >>> round(float(perplexity.result()), 3)
    8.0
    """

    def __init__(self, pad_id: int = 0, name: str = "perplexity") -> None:
        super().__init__(pad_id, name)

    def result(self) -> Tensor:
        return ops.exp(super().result())


@keras.saving.register_keras_serializable("kerasrnn")
class BitsPerCharacter(_TokenMean):
    """Mean number of bits per character.

    `p` is the predicted distribution, `y` the true token, and the sums are over
    all tokens of all batches that are not padding:

        bits = - sum log_2 p(y) / sum 1

    The tokens must be characters (or bytes); for other tokens, this is the
    number of bits per token. Before the first update, the result is 0.

    Args:
        pad_id: Integer id of padding, which is ignored. It may be outside the
            vocabulary, such as -1.
        name: Name of the metric.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)` or
            `(batch, time, 1)`. A token that is neither padding nor in the
            vocabulary makes the result NaN.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type; the computation is in float32.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            the weights of the tokens.

    Masking:
        Only labels equal to `pad_id` are padding. A Keras mask of `y_pred` has
        no effect.

    Example:

    >>> bits = BitsPerCharacter()
    >>> bits.update_state(np.array([[2, 0]]), np.zeros((1, 2, 8)))
    >>> round(float(bits.result()), 3)
    3.0
    """

    def __init__(
        self, pad_id: int = 0, name: str = "bits_per_character"
    ) -> None:
        super().__init__(pad_id, name)

    def result(self) -> Tensor:
        return super().result() / math.log(2.0)


@keras.saving.register_keras_serializable("kerasrnn")
class TokenAccuracy(_TokenMean):
    """Fraction of tokens that are predicted correctly, without padding.

    The predicted token is the one with the largest logit. The fraction is over
    all tokens of all batches. Before the first update, the result is 0.

    Args:
        pad_id: Integer id of padding, which is ignored. It may be outside the
            vocabulary, such as -1.
        name: Name of the metric.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)` or
            `(batch, time, 1)`.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type. If several are largest, the first counts.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            the weights of the tokens.

    Masking:
        Only labels equal to `pad_id` are padding. A Keras mask of `y_pred` has
        no effect.

    Example:

    >>> accuracy = TokenAccuracy()
    >>> logits = np.array([[[0.0, 1.0, 3.0], [0.0, 2.0, 1.0]]])
    >>> accuracy.update_state(np.array([[2, 2]]), logits)
    >>> float(accuracy.result())
    0.5
    """

    def __init__(self, pad_id: int = 0, name: str = "token_accuracy") -> None:
        super().__init__(pad_id, name)

    def token_values(self, labels: Tensor, logits: Tensor) -> Tensor:
        # Keras's `argmax` takes three times as long on TensorFlow.
        _, guesses = largest(logits, 1)
        return ops.cast(ops.equal(guesses[..., 0], labels), "float32")
