"""The likelihood of piano rolls, without padding."""

import keras
from keras import ops

from kerasrnn.arguments import same_shape
from kerasrnn.metrics.pooled_mean import PooledMean
from kerasrnn.metrics.pooled_mean import check_unweighted
from kerasrnn.typing import Tensor


def step_costs(y_true, y_pred):
    """Returns `-log p` of every step, and which steps are real.

    Args:
        y_true: Integer tensor of shape `(batch, time, keys)`, -1 after the
            end of a piece.
        y_pred: Logits of that shape, in float32 or wider.

    Returns:
        Two tensors of shape `(batch, time)`: costs in nats, which are 0 after
        the end of a piece, and booleans.

    Raises:
        ValueError: when the shapes differ.
    """
    if len(y_pred.shape) != 3 or not same_shape(y_true.shape, y_pred.shape):
        raise ValueError(
            "`y_true` and `y_pred` must have the same shape, "
            "(batch, time, keys). Received: "
            f"y_true.shape={tuple(y_true.shape)} and "
            f"y_pred.shape={tuple(y_pred.shape)}"
        )
    if keras.backend.standardize_dtype(y_true.dtype) == "bool":
        y_true = ops.cast(y_true, "int32")
    real = ops.any(y_true >= 0, axis=-1)
    labels = ops.cast(y_true, y_pred.dtype)
    costs = ops.sum(ops.softplus(y_pred) - labels * y_pred, axis=-1)
    return ops.where(real, costs, 0.0), real


@keras.saving.register_keras_serializable("kerasrnn")
class NegativeLogLikelihood(PooledMean):
    """Mean negative log-likelihood, in nats, of a step of a piano roll.

    `y` are the keys of a step, `p` their predicted probabilities, and the outer
    sums are over all steps of all batches that are not padding:

        nll = - sum sum_k [y_k log(p_k) + (1 - y_k) log(1 - p_k)] / sum 1

    Every step has the same weight, whatever the length of its piece. Before the
    first update, the result is 0.

    Args:
        name: Name of the metric.

    Call arguments:
        y_true: Integer tensor of shape `(batch, time, keys)`, 1 where a key
            sounds and -1 after the end of a piece.
        y_pred: Logits of shape `(batch, time, keys)`, of any floating type;
            the computation is in float32.
        sample_weight: Must be `None`, because steps cannot be weighted.

    Masking:
        Only steps whose labels are -1 are padding. A Keras mask of `y_pred`
        has no effect.

    Example:

    >>> nll = NegativeLogLikelihood()
    >>> nll.update_state(np.array([[[0, 1], [-1, -1]]]), np.zeros((1, 2, 2)))
    >>> round(float(nll.result()), 3)  # two keys, each log 2
    1.386
    """

    def __init__(self, name: str = "nll") -> None:
        super().__init__(name)

    def update_state(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
    ) -> None:
        check_unweighted("The steps of piano rolls", sample_weight)
        y_true = ops.convert_to_tensor(y_true)
        costs, real = step_costs(y_true, ops.cast(y_pred, "float32"))
        self.add(costs, ops.cast(real, "float32"))
