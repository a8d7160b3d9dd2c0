"""Means over the tokens of a whole data set, without padding."""

import math

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.metrics.pooled_mean import PooledMean
from kerasrnn.metrics.token_costs import labels_of_tokens
from kerasrnn.metrics.token_costs import token_costs
from kerasrnn.metrics.token_costs import weights_of_tokens
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


class _TokenMean(PooledMean):
    """The mean of a value of each token, over all batches.

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
        """The value of each token, of shape `(batch, time)`."""
        raise NotImplementedError(
            f"{type(self).__name__} must override "
            "`token_values(labels, logits)`."
        )

    def get_config(self) -> Config:
        return {"name": self.name, "pad_id": self.pad_id}


class _TokenCost(_TokenMean):
    """The mean of `-log p(y)`, in nats."""

    def token_values(self, labels: Tensor, logits: Tensor) -> Tensor:
        return token_costs(labels, logits)


@keras.saving.register_keras_serializable("kerasrnn")
class Perplexity(_TokenCost):
    """Perplexity of a data set, in which every token has the same weight.

    With `p` the predicted distribution, `y` the true token, and the sums over
    all tokens of all batches that are not padding:

        perplexity = exp(- sum log p(y) / sum 1)

    This is not the mean of the perplexities of the batches. Before the first
    update, it is 1.

    Args:
        pad_id: Integer id of padding, which is not counted. It may be an id
            outside the vocabulary, such as -1.
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
class BitsPerCharacter(_TokenCost):
    """Mean number of bits that a model needs for each character.

    With `p` the predicted distribution, `y` the true token, and the sums over
    all tokens of all batches that are not padding:

        bits = - sum log_2 p(y) / sum 1

    The tokens must be characters (or bytes); for other tokens, this is the
    number of bits per token. Before the first update, it is 0.

    Args:
        pad_id: Integer id of padding, which is not counted. It may be an id
            outside the vocabulary, such as -1.
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
    """Share of tokens that are predicted correctly, without padding.

    A prediction is the token with the largest logit. The share is taken over
    all tokens of all batches. Before the first update, it is 0.

    Args:
        pad_id: Integer id of padding, which is not counted. It may be an id
            outside the vocabulary, such as -1.
        name: Name of the metric.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)` or
            `(batch, time, 1)`.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type. Of equal logits, the first counts as largest.
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
        guesses = ops.cast(_first_largest(logits), "int32")
        return ops.cast(ops.equal(guesses, labels), "float32")


def _first_largest(logits):
    """Returns where the largest logit is, of equal ones the first."""
    if keras.backend.backend() == "torch":
        # Of equal ones, `top_k` takes any.
        return ops.argmax(logits, axis=-1)
    # `argmax` of Keras takes three times as long on TensorFlow.
    _, guesses = ops.top_k(logits, 1)
    return ops.squeeze(guesses, -1)
