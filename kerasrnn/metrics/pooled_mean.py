"""A weighted mean over a whole data set."""

import keras
from keras import ops

from kerasrnn.saving import ByArguments
from kerasrnn.typing import Tensor


class PooledMean(ByArguments, keras.metrics.Metric):
    """Weighted mean of the values of all batches, exact for many values.

    Args:
        name: Name of the metric.
    """

    def __init__(self, name: str) -> None:
        super().__init__(dtype="float32", name=name)
        # Sums of weighted values and of weights. After 2 ** 24 values, a plain
        # float32 sum ignores further ones. So the rounding error of every
        # addition is kept and corrected in the next one (Kahan, 1965).
        self.sums = self.add_variable((2,), "zeros", "float32", name="sums")
        self.excess = self.add_variable((2,), "zeros", "float32", name="excess")

    def add(self, values: Tensor, weights: Tensor) -> None:
        """Adds the values of a batch, in float32.

        Args:
            values: Float tensor of any shape. It may be infinite or NaN where
                the weight is 0.
            weights: Float tensor of that shape.
        """
        # Not a product with 0, which could be NaN.
        values = ops.where(ops.equal(weights, 0.0), 0.0, weights * values)
        summands = ops.stack([ops.sum(values), ops.sum(weights)]) - self.excess
        sums = self.sums + summands
        excess = (sums - self.sums) - summands
        self.excess.assign(ops.where(ops.isfinite(sums), excess, 0.0))
        self.sums.assign(sums)

    def result(self) -> Tensor:
        total, count = ops.unstack(self.sums - self.excess, 2)
        return ops.divide_no_nan(total, count)


def check_unweighted(values, sample_weight):
    """Raises `ValueError` if values that cannot be weighted have weights.

    Args:
        values: String, name of the values for the message.
        sample_weight: The argument to check.
    """
    if sample_weight is not None:
        raise ValueError(
            f"{values} cannot be weighted. "
            f"Expected: no `sample_weight`. Received: {sample_weight!r:.80}"
        )
