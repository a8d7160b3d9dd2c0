"""The loss of models that predict tokens."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasrnn")
class TokenCrossentropy(keras.losses.Loss):
    """Cross-entropy of the next token, padding left out.

    With `p` the predicted distribution over a vocabulary of `V` tokens, `y`
    the true token and `e` the label smoothing:

        loss = - (1 - e) log p(y) - e / V sum_v log p(v)

    The mean is over the tokens that are not padding, so every real token of
    a batch weighs the same, however long its sentence.

    Args:
        pad_id: Integer id of padding, whose weight is 0. An id that is not
            in the vocabulary, such as -1, is fine.
        label_smoothing: Float in `[0, 1)`, `e` above.
        name: Name of the loss.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)`.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`.

    Raises:
        ValueError: when `label_smoothing` is outside `[0, 1)`.

    Example:

    >>> loss = TokenCrossentropy(pad_id=0)
    >>> float(loss(np.array([[2, 0]]), np.zeros((1, 2, 4))))   # log 4
    1.3862943649291992

    Reference:
        [Szegedy et al., 2016](https://arxiv.org/abs/1512.00567), section 7.
    """

    def __init__(
        self, pad_id=0, label_smoothing=0.0, name="token_crossentropy"
    ):
        # The mean over tokens is taken here: the reduction of Keras would
        # count padding. Keras casts the labels, too: a float of 16 bits does
        # not hold every id.
        dtype = keras.backend.result_type(keras.config.floatx(), "float32")
        super().__init__(name=name, reduction="sum", dtype=dtype)
        if not 0.0 <= label_smoothing < 1.0:
            raise ValueError(
                "`label_smoothing` must be in [0, 1). "
                f"Received: label_smoothing={label_smoothing}"
            )
        self.pad_id = pad_id
        self.label_smoothing = label_smoothing

    def call(self, y_true, y_pred):
        y_pred = ops.cast(
            y_pred, keras.backend.result_type(y_pred.dtype, "float32")
        )
        y_true = ops.cast(y_true, "int32")
        real = ops.not_equal(y_true, self.pad_id)
        weights = ops.cast(real, y_pred.dtype)
        labels = ops.where(real, y_true, 0)
        if self.label_smoothing:
            losses = self._smoothed(labels, y_pred)
        else:
            losses = ops.sparse_categorical_crossentropy(
                labels, y_pred, from_logits=True
            )
        total = ops.maximum(ops.sum(weights), 1.0)
        return losses * weights / total

    def _smoothed(self, labels, logits):
        # Since -log p(v) = logsumexp - logit(v), no log p need be written out.
        true_logits = ops.squeeze(
            ops.take_along_axis(logits, ops.expand_dims(labels, -1), axis=-1),
            -1,
        )
        kept = (1.0 - self.label_smoothing) * true_logits
        spread = self.label_smoothing * ops.mean(logits, axis=-1)
        return ops.logsumexp(logits, axis=-1) - kept - spread

    def get_config(self):
        return {
            "name": self.name,
            "pad_id": self.pad_id,
            "label_smoothing": self.label_smoothing,
        }
