"""The cost of attention that is elsewhere than a word alignment says."""

from keras import ops

from kerasrnn.distribute import sum_over_replicas
from kerasrnn.typing import Tensor

_LEAST = 1e-7  # attention that is taken as 0


def alignment_cost(weights: Tensor, alignment: Tensor) -> Tensor:
    """Returns the cross-entropy of attention, the mean over aligned tokens.

        cost = - 1/n sum_t sum_i A_ti log a_ti            (Chen et al. 2016)

    Args:
        weights: Attention weights `a`, of shape
            `(batch, target_time, source_time)`.
        alignment: Float tensor `A` of the same shape. A row sums to 1, or to 0
            if the token is not aligned; `n` is the number of other rows, with
            several replicas of those of all.

    Returns:
        A scalar; 0 if no token is aligned.

    Reference:
        [Chen et al., 2016](https://arxiv.org/abs/1607.01628).
    """
    weights, alignment = (ops.cast(x, "float32") for x in (weights, alignment))
    cost = -ops.sum(alignment * ops.log(ops.maximum(weights, _LEAST)))
    count = ops.sum(ops.cast(ops.any(alignment > 0, axis=-1), "float32"))
    cost, count = (sum_over_replicas(x) for x in (cost, count))
    return cost / ops.maximum(count, 1.0)
