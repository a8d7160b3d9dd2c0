"""Schedules of the learning rate and of the sampling rate.

The three schedules of Bengio et al. 2015, section 2.4, are for the argument
`sampling_rate` of `kerasrnn.models.Translator`. In training step `i`, the
decoder reads the true token with probability `e_i`, and otherwise a predicted
token. The sampling rate is `1 - e_i`.
"""

import math

import keras
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.arguments import rate
from kerasrnn.saving import ByArguments
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class LinearSampling(
    ByArguments, keras.optimizers.schedules.LearningRateSchedule
):
    """A sampling rate that rises linearly.

        e_i = max(minimum, offset - slope i)        rate = 1 - min(e_i, 1)

    Args:
        slope: Positive float, `c` in the paper.
        offset: Float, `k` in the paper. Above 1, the rate stays 0 for the first
            `(offset - 1) / slope` steps.
        minimum: Float in `[0, 1)`, the minimum rate of true tokens, `e` in the
            paper.

    Call arguments:
        step: Integer tensor of shape `()`, `i` above.

    Returns:
        The sampling rate, a float32 tensor of shape `()`.

    Raises:
        ValueError: when a number is out of range.

    Example:

    >>> schedule = LinearSampling(slope=0.01, minimum=0.75)
    >>> [round(float(schedule(step)), 4) for step in (0, 10, 1000)]
    [0.0, 0.1, 0.25]

    Reference:
        [Bengio et al., 2015](https://arxiv.org/abs/1506.03099).
    """

    def __init__(
        self, slope: float, offset: float = 1.0, minimum: float = 0.0
    ) -> None:
        super().__init__()
        self.slope = number("slope", slope, above=0)
        self.offset = number("offset", offset)
        self.minimum = rate("minimum", minimum)

    def __call__(self, step: Tensor) -> Tensor:
        true_rate = self.offset - self.slope * ops.cast(step, "float32")
        return 1.0 - ops.clip(true_rate, self.minimum, 1.0)


@keras.saving.register_keras_serializable("kerasrnn")
class ExponentialSampling(
    ByArguments, keras.optimizers.schedules.LearningRateSchedule
):
    """A sampling rate that rises fast at first, then slowly.

        e_i = base^i        rate = 1 - e_i

    Args:
        base: Float in `(0, 1)`, `k` in the paper. The closer it is to 1, the
            slower the rate rises.

    Call arguments:
        step: Integer tensor of shape `()`, `i` above.

    Returns:
        The sampling rate, a float32 tensor of shape `()`.

    Raises:
        ValueError: when `base` is not in `(0, 1)`.

    Example:

    >>> schedule = ExponentialSampling(0.99)
    >>> [round(float(schedule(step)), 4) for step in (0, 10, 1000)]
    [0.0, 0.0956, 1.0]

    Reference:
        [Bengio et al., 2015](https://arxiv.org/abs/1506.03099).
    """

    def __init__(self, base: float) -> None:
        super().__init__()
        self.base = rate("base", number("base", base, above=0))

    def __call__(self, step: Tensor) -> Tensor:
        # In float32, `expm1` is precise for a base near 1, unlike a power.
        return -ops.expm1(math.log(self.base) * ops.cast(step, "float32"))


@keras.saving.register_keras_serializable("kerasrnn")
class InverseSigmoidSampling(
    ByArguments, keras.optimizers.schedules.LearningRateSchedule
):
    """A sampling rate that rises late, then fast, then slowly.

        e_i = k / (k + exp(i / k))        rate = 1 - e_i

    It starts at `1 / (k + 1)` and reaches 1/2 at step `k log k`.

    Args:
        k: Float, at least 1. The larger it is, the later the rate rises.

    Call arguments:
        step: Integer tensor of shape `()`, `i` above.

    Returns:
        The sampling rate, a float32 tensor of shape `()`.

    Raises:
        ValueError: when `k` is below 1.

    Example:

    >>> schedule = InverseSigmoidSampling(100)
    >>> [round(float(schedule(step)), 4) for step in (0, 460, 1000)]
    [0.0099, 0.4987, 0.9955]

    Reference:
        [Bengio et al., 2015](https://arxiv.org/abs/1506.03099).
    """

    def __init__(self, k: float) -> None:
        super().__init__()
        self.k = number("k", k, minimum=1)

    def __call__(self, step: Tensor) -> Tensor:
        # Unlike exp(i / k), a sigmoid does not overflow after many steps.
        return ops.sigmoid(
            ops.cast(step, "float32") / self.k - math.log(self.k)
        )


def cosine_schedule(
    peak: float, steps: int, warmup: int
) -> keras.optimizers.schedules.CosineDecay:
    """Returns a learning rate schedule with warmup and cosine decay to 0.

    The rate rises linearly and falls as half a cosine (Loshchilov and Hutter
    2017).

    Args:
        peak: Float, the highest rate.
        steps: Positive integer, the number of training steps.
        warmup: Non-negative integer less than `steps`, the number of steps in
            which the rate rises.

    Raises:
        ValueError: when `warmup` is not less than `steps`.

    Example:

    >>> schedule = cosine_schedule(2e-3, 1000, 100)
    >>> [round(float(schedule(step)), 4) for step in (50, 100, 550, 1000)]
    [0.001, 0.002, 0.001, 0.0]
    """
    return keras.optimizers.schedules.CosineDecay(
        0.0, steps - warmup, warmup_target=peak, warmup_steps=warmup
    )
