"""The optimizer of the recipes, and Adam with a rate for each part."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasrnn.training.schedules import cosine_schedule
from kerasrnn.training.settings import Settings
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class AdamByPart(keras.optimizers.Adam):
    """Adam with different learning rates for parts of a model.

    Pretrained parts need a lower learning rate. The learning rate of each
    weight is multiplied by its attribute `rate_factor`, if it has one. A
    `BackboneReader` sets the attribute for its backbone.

    Args:
        learning_rate: Float or schedule, as in `keras.optimizers.Adam`.
        **kwargs: Other arguments of `keras.optimizers.Adam`.

    Raises:
        ValueError: when it is built, if there are a `weight_decay` and factors.

    Example:

    >>> layer = keras.layers.Dense(2)
    >>> layer.build((None, 3))
    >>> layer.kernel.rate_factor = 0.1
    >>> optimizer = AdamByPart(1e-3)

    Reference:
        [Howard & Ruder, 2018](https://arxiv.org/abs/1801.06146), section 3.2.
    """

    def __init__(self, learning_rate: Any = 0.001, **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)

    def build(self, variables: Sequence[Any]) -> None:
        self.factors = [getattr(x, "rate_factor", 1.0) for x in variables]
        if self.weight_decay and set(self.factors) != {1.0}:
            raise ValueError(
                "`weight_decay` would not be multiplied by the factors of the "
                "learning rate. Expected: weight_decay=None. Received: "
                f"weight_decay={self.weight_decay}"
            )
        super().build(variables)

    def update_step(
        self, gradient: Tensor, variable: Any, learning_rate: Tensor
    ) -> None:
        factor = self.factors[self._get_variable_index(variable)]
        super().update_step(gradient, variable, learning_rate * factor)


def build_optimizer(
    settings: Settings,
    epoch_steps: int,
    warmup: int = 100,
    optimizer: type[keras.optimizers.Optimizer] = AdamByPart,
    **kwargs: Any,
) -> keras.optimizers.Optimizer:
    """Returns the optimizer that settings describe.

    Args:
        settings: `Settings` of a recipe.
        epoch_steps: Positive integer, the number of batches in an epoch.
        warmup: Positive integer, the number of warmup steps where
            `settings.warmup` is `None`; at most a tenth of all steps.
        optimizer: Class of the optimizer.
        **kwargs: Other arguments of the class.

    Example:

    >>> given = {"epochs": 3, "batch_size": 8, "learning_rate": 1e-3}
    >>> settings = Settings(output=pathlib.Path("out"), **given)
    >>> optimizer = build_optimizer(settings, epoch_steps=10)
    """
    rate, steps = settings.learning_rate, settings.epochs * epoch_steps
    if settings.schedule == "cosine":
        warmup = settings.warmup or min(warmup, steps // 10)
        rate = cosine_schedule(rate, steps, warmup)
    if settings.ema:
        # The average covers at most a tenth of the training.
        momentum = min(settings.ema, max(0.0, 1 - 10 / steps))
        kwargs |= {"use_ema": True, "ema_momentum": momentum}
    return optimizer(rate, global_clipnorm=settings.clip, **kwargs)
