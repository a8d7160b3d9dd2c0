"""Losses for tokens, labels, forecasts and piano rolls."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import check_shape
from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.arguments import rate
from kerasrnn.distribute import sum_over_replicas
from kerasrnn.layers.crf.crf_loss import Computed
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
    """Base class of losses whose mean ignores padding.

    Args:
        name: Name of the loss.
    """

    def __init__(self, name: str) -> None:
        dtype = wide_dtype(keras.config.floatx())
        super().__init__(name=name, dtype=dtype)
        # Keras sums the losses of replicas. It divides a loss by their number
        # if its reduction is a mean, but not if it is a sum.
        self._mean_over_replicas = Computed(name, dtype=dtype)

    def _parts(self, losses, real):
        """Returns the share of each loss in the mean over all replicas.

        Args:
            losses: Float tensor, 0 at padding.
            real: Boolean tensor of the same shape, false at padding.
        """
        count = sum_over_replicas(ops.sum(ops.cast(real, losses.dtype)))
        return losses / ops.maximum(count, 1.0)

    def _total(self, parts):
        """Returns the sum of the shares over all replicas, on each replica."""
        total = sum_over_replicas(ops.sum(parts))
        return self._mean_over_replicas(total, ops.expand_dims(total, 0))


@keras.saving.register_keras_serializable("kerasrnn")
class TokenCrossentropy(PooledLoss):
    """Cross-entropy of tokens, without padding.

    For the predicted distribution `p` over a vocabulary of `V` tokens, the true
    token `y` and the label smoothing `e`:

        loss = - (1 - e) log p(y) - e / V sum_v log p(v)

    The loss is the mean over the tokens that are not padding, so every real
    token of a batch has the same weight, whatever the length of its sentence.
    With several replicas (`tf.distribute`), the mean is over the tokens of all
    replicas.

    Args:
        pad_id: Integer id of padding, which is ignored. It may be outside the
            vocabulary, such as -1.
        label_smoothing: Float in `[0, 1)`, `e` above.
        name: Name of the loss.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time)` or
            `(batch, time, 1)`. An id that is neither padding nor in the
            vocabulary makes the loss NaN.
        y_pred: Logits of shape `(batch, time, vocabulary_size)`, of any
            floating type. The loss is computed in float32 or wider.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            factors on the losses of the tokens. The sum is still divided by the
            number of tokens.

    Returns:
        A scalar, 0 for a batch that is empty or contains only padding.

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
        # Keras's mean would include padding, broadcast weights of shape
        # `(batch,)` along the time axis, and cast ids to floats, and 16-bit
        # floats cannot represent every id.
        losses = self.call(y_true, y_pred)
        if sample_weight is not None:
            losses = losses * weights_of_tokens(sample_weight, losses)
        return self._total(losses)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Returns the share of each token in the mean, `(batch, time)`."""
        y_pred = ops.convert_to_tensor(y_pred)
        y_true = labels_of_tokens(y_true, y_pred)
        y_pred = ops.cast(
            y_pred, keras.backend.result_type(y_pred.dtype, self.dtype)
        )
        real = ops.not_equal(y_true, self.pad_id)
        losses = token_costs(y_true, y_pred, self.label_smoothing)
        # `where` instead of a product with 0, because the loss of padding may
        # be infinite.
        losses = ops.where(real, losses, 0.0)
        return self._parts(losses, real)


@keras.saving.register_keras_serializable("kerasrnn")
class PianoRollCrossentropy(PooledLoss):
    """Negative log-likelihood of the steps of piano rolls, without padding.

    For the keys `y` of a step and their predicted probabilities `p`, which are
    independent of each other:

        loss = - sum_k [y_k log(p_k) + (1 - y_k) log(1 - p_k)]

    The loss is the sum over the keys and the mean over the steps of a batch
    that are not padding. So every step has the same weight, whatever the length
    of its piece.

    Args:
        name: Name of the loss.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time, keys)`, 1 where a key
            sounds and -1 after the end of a piece.
        y_pred: Logits of shape `(batch, time, keys)`, of any floating type.
            The loss is computed in float32 or wider.
        sample_weight: Must be `None`, because steps cannot be weighted.

    Returns:
        A scalar, 0 for a batch that is empty or contains only padding.

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
        # Keras's mean would include padding.
        return self._total(self.call(y_true, y_pred))

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Returns the share of each step in the mean, `(batch, time)`."""
        y_true, y_pred = map(ops.convert_to_tensor, (y_true, y_pred))
        dtype = keras.backend.result_type(y_pred.dtype, self.dtype)
        costs, real = step_costs(y_true, ops.cast(y_pred, dtype))
        return self._parts(costs, real)


@keras.saving.register_keras_serializable("kerasrnn")
class LabelCrossentropy(keras.losses.Loss):
    """Categorical cross-entropy of logits with label smoothing.

    It is `keras.losses.CategoricalCrossentropy` for integer labels.

    Args:
        label_smoothing: Float in `[0, 1)`, the probability mass of each label
            that is spread over all classes.
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
    """Mean loss of the forecast values, without missing values.

    The head of the model determines the loss of a value: absolute or squared
    error, the pinball loss of quantiles, or a negative log-likelihood. Errors
    are measured in a unit for each column, so that columns with large numbers
    do not dominate.

    Args:
        head: The `head` of a `kerasrnn.models.Forecaster`.
        units: List of floats, the unit of each column, usually its standard
            deviation.
        name: Name of the loss.

    Call arguments:
        y_true: Tensor of shape `(batch, horizon, columns)`, NaN where a value
            is missing.
        y_pred: The outputs of the model.
        sample_weight: Optional tensor of shape `(batch,)`, factors on the
            losses. The sum is still divided by the number of values.

    Returns:
        A scalar, 0 for a batch without values.

    Masking: missing values have no loss and no gradient.

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
        """Returns the share of each value in the mean."""
        y_true = ops.cast(y_true, self.dtype)
        y_pred = ops.cast(y_pred, self.dtype)
        check_shape("y_true", y_true, (*y_pred.shape[:2], len(self.units)))
        real = ops.logical_not(ops.isnan(y_true))
        # Not 0, whose loss may have no finite gradient.
        point = ops.stop_gradient(self.head.point(y_pred))
        check_shape("y_pred", point, y_true.shape)
        costs = self.head.costs(
            ops.where(real, y_true, point),
            y_pred,
            ops.convert_to_tensor(self.units, self.dtype),
        )
        return self._parts(ops.where(real, costs, 0.0), real)
