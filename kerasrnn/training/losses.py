"""The losses of models that predict tokens, labels, numbers or piano rolls."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import check_shape
from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.arguments import rate
from kerasrnn.distribute import sum_over_replicas
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.metrics.piano_roll_metrics import step_costs
from kerasrnn.metrics.pooled_mean import check_unweighted
from kerasrnn.metrics.token_metrics import labels_of_tokens
from kerasrnn.metrics.token_metrics import token_costs
from kerasrnn.metrics.token_metrics import weights_of_tokens
from kerasrnn.saving import ByArguments
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


class PooledLoss(ByArguments, keras.losses.Loss):
    """Base of the losses whose mean leaves padding out.

    Args:
        name: Name of the loss.
    """

    def __init__(self, name: str) -> None:
        dtype = wide_dtype(keras.config.floatx())
        super().__init__(name=name, dtype=dtype)
        self._mean_over_replicas = _MeanOverReplicas(name, dtype=dtype)

    def _parts(self, losses, real):
        """Returns the part of each loss in the mean over all replicas.

        Args:
            losses: Float tensor, 0 where there is padding.
            real: Boolean tensor of the same shape, where there is none.
        """
        count = sum_over_replicas(ops.sum(ops.cast(real, losses.dtype)))
        return losses / ops.maximum(count, 1.0)

    def _total(self, parts):
        """Returns the sum of the parts over all replicas, in each of them."""
        return self._mean_over_replicas(sum_over_replicas(ops.sum(parts)))


@keras.saving.register_keras_serializable("kerasrnn")
class TokenCrossentropy(PooledLoss):
    """Cross-entropy of the next token, without padding.

    With `p` the predicted distribution over a vocabulary of `V` tokens, `y`
    the true token and `e` the label smoothing:

        loss = - (1 - e) log p(y) - e / V sum_v log p(v)

    The loss is the mean over the tokens that are not padding, so every real
    token of a batch has the same weight, however long its sentence. With
    several replicas (`tf.distribute`), these are the tokens of all replicas.

    Args:
        pad_id: Integer id of padding, whose weight is 0. It may be outside
            the vocabulary, such as -1.
        label_smoothing: Float in `[0, 1)`, `e` above.
        name: Name of the loss.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)` or
            `(batch, time, 1)`. An id that is neither padding nor in the
            vocabulary makes the loss NaN.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type. The loss is computed in float32 or wider.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            by which the losses of the tokens are multiplied. Their sum is
            still divided by the number of tokens.

    Returns:
        A scalar. It is 0 for a batch that is empty or has only padding.

    Masking:
        Tokens equal to `pad_id` are masked. A Keras mask of `y_pred` has no
        effect.

    Raises:
        ValueError: when `label_smoothing` is outside `[0, 1)`, or a tensor
            has another shape.

    Example:

    >>> loss = TokenCrossentropy(pad_id=0)
    >>> float(loss(np.array([[2, 0]]), np.zeros((1, 2, 4))))   # log 4
    1.3862943649291992

    Reference:
        [Szegedy et al., 2016](https://arxiv.org/abs/1512.00567), section 7.
    """

    def __init__(
        self,
        pad_id: int = 0,
        label_smoothing: float = 0.0,
        name: str = "token_crossentropy",
    ) -> None:
        super().__init__(name)
        self.pad_id = integer("pad_id", pad_id)
        self.label_smoothing = rate("label_smoothing", label_smoothing)

    def __call__(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        # The mean of Keras would count padding, broadcast weights of shape
        # `(batch,)` along the time axis, and cast ids to floats, which in 16
        # bits cannot represent every id.
        losses = self.call(y_true, y_pred)
        if sample_weight is not None:
            losses = losses * weights_of_tokens(sample_weight, losses)
        return self._total(losses)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Returns the part of each token in the mean, `(batch, time)`."""
        y_pred = ops.convert_to_tensor(y_pred)
        y_true = labels_of_tokens(y_true, y_pred)
        y_pred = ops.cast(
            y_pred, keras.backend.result_type(y_pred.dtype, self.dtype)
        )
        real = ops.not_equal(y_true, self.pad_id)
        losses = token_costs(y_true, y_pred, self.label_smoothing)
        # `where`, not a product with 0: the loss of padding may be infinite.
        losses = ops.where(real, losses, 0.0)
        return self._parts(losses, real)


@keras.saving.register_keras_serializable("kerasrnn")
class PianoRollCrossentropy(PooledLoss):
    """Negative log-likelihood of a step of a piano roll, without padding.

    With `y` the keys of a step and `p` their predicted probabilities, which
    are independent of each other:

        loss = - sum_k [y_k log(p_k) + (1 - y_k) log(1 - p_k)]

    The loss is the sum over the keys, and the mean over the steps of a batch
    that are not padding, so every step has the same weight, however long its
    piece.

    Args:
        name: Name of the loss.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time, keys)`, 1 where a key
            sounds and -1 after the end of a piece.
        y_pred: Logits of shape `(batch, time, keys)`, of any floating type.
            The loss is computed in float32 or wider.
        sample_weight: Must be `None`: steps have no weights.

    Returns:
        A scalar. It is 0 for a batch that is empty or has only padding.

    Masking:
        Steps whose labels are -1 are masked. A Keras mask of `y_pred` has no
        effect.

    Raises:
        ValueError: when the shapes differ.

    Example:

    >>> loss = PianoRollCrossentropy()
    >>> labels = np.array([[[0, 1], [-1, -1]]])
    >>> float(loss(labels, np.zeros((1, 2, 2))))   # two keys, each log 2
    1.3862943649291992

    Reference:
        [Boulanger-Lewandowski et al., 2012](https://arxiv.org/abs/1206.6392).
    """

    def __init__(self, name: str = "piano_roll_crossentropy") -> None:
        super().__init__(name)

    def __call__(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        check_unweighted("The steps of piano rolls", sample_weight)
        # The mean of Keras would count padding.
        return self._total(self.call(y_true, y_pred))

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Returns the part of each step in the mean, `(batch, time)`."""
        y_true, y_pred = map(ops.convert_to_tensor, (y_true, y_pred))
        dtype = keras.backend.result_type(y_pred.dtype, self.dtype)
        costs, real = step_costs(y_true, ops.cast(y_pred, dtype))
        return self._parts(costs, real)


class _MeanOverReplicas(keras.losses.Loss):
    """Scales a scalar so that the sum over replicas becomes their mean.

    Keras sums the losses of the replicas. It divides a loss whose reduction
    is a mean by their number, but not one whose reduction is a sum.
    """

    def __call__(self, loss):
        return super().__call__(loss, ops.expand_dims(loss, 0))

    def call(self, y_true, y_pred):
        return y_pred


@keras.saving.register_keras_serializable("kerasrnn")
class LabelCrossentropy(keras.losses.Loss):
    """Categorical cross-entropy of logits, with label smoothing.

    It is `keras.losses.CategoricalCrossentropy` of labels that are numbers.

    Args:
        label_smoothing: Float in `[0, 1)`, the share of each label that is
            spread over all classes.
        **kwargs: Base loss arguments, such as `name`.

    Call arguments:
        y_true: Integer tensor of shape `(batch, 1)`.
        y_pred: Logits of shape `(batch, classes)`.

    Returns:
        A scalar.

    Raises:
        ValueError: when `label_smoothing` is outside `[0, 1)`.

    Reference:
        [Szegedy et al., 2016](https://arxiv.org/abs/1512.00567), section 7.
    """

    def __init__(
        self,
        label_smoothing: float = 0.0,
        name: str = "label_crossentropy",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self.label_smoothing = rate("label_smoothing", label_smoothing)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        classes = ops.one_hot(
            ops.cast(y_true[:, 0], "int32"), y_pred.shape[-1], dtype="float32"
        )
        return keras.losses.categorical_crossentropy(
            classes,
            y_pred,
            from_logits=True,
            label_smoothing=self.label_smoothing,
        )

    def get_config(self) -> Config:
        return {**super().get_config(), "label_smoothing": self.label_smoothing}


@keras.saving.register_keras_serializable("kerasrnn")
class ForecastLoss(PooledLoss):
    """Mean cost of a forecast value, without the missing ones.

    What a value costs is said by the head of the model: an absolute or
    squared error, the pinball loss of quantiles, or a negative log-likelihood.
    Errors are measured in a unit for each column, so
    that columns of large numbers do not drown the others.

    Args:
        head: The `head` of a `kerasrnn.models.Forecaster`.
        units: List of floats, the unit of each column: its deviation.
        name: Name of the loss.

    Call arguments:
        y_true: Tensor of shape `(batch, horizon, columns)`, NaN where a value
            is missing.
        y_pred: What the model returned.
        sample_weight: Optional tensor of shape `(batch,)`, by which costs are
            multiplied. Their sum is still divided by the number of values.

    Returns:
        A scalar. It is 0 for a batch without values.

    Masking: missing values have no cost and no gradient.

    Raises:
        ValueError: when a unit is not positive; when shapes do not match.

    Example:

    >>> loss = ForecastLoss(PointHead("mae"), units=[2.0])
    >>> y_true = np.array([[[1.0], [np.nan], [3.0]]])
    >>> float(loss(y_true, np.ones((1, 3, 1))))   # of 0 and 2 / 2
    0.5
    """

    def __init__(
        self,
        head: Any,
        units: Sequence[float],
        name: str = "forecast_loss",
    ) -> None:
        super().__init__(name)
        self.head = head
        self.units = [number("units", unit, above=0) for unit in units]

    def __call__(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        costs = self.call(y_true, y_pred)
        if sample_weight is not None:
            weights = ops.cast(sample_weight, self.dtype)
            check_shape("sample_weight", weights, y_true.shape[:1])
            costs = costs * ops.reshape(weights, (-1, 1, 1))
        return self._total(costs)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Returns the part of each value in the mean."""
        y_true = ops.cast(y_true, self.dtype)
        y_pred = ops.cast(y_pred, self.dtype)
        check_shape("y_true", y_true, (*y_pred.shape[:2], len(self.units)))
        real = ops.logical_not(ops.isnan(y_true))
        # Not 0, whose cost may have no finite gradient.
        point = ops.stop_gradient(self.head.point(y_pred))
        check_shape("y_pred", point, y_true.shape)
        costs = self.head.costs(
            ops.where(real, y_true, point),
            y_pred,
            ops.convert_to_tensor(self.units, self.dtype),
        )
        return self._parts(ops.where(real, costs, 0.0), real)
