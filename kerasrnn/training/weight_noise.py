"""Gaussian noise on the weights during training."""

from typing import Any

import keras
import numpy as np

from kerasrnn.arguments import number


class WeightNoise(keras.callbacks.Callback):
    """Adds Gaussian noise to all trained weights, for every batch anew.

    The gradient of a batch is that at the noisy weights. The noise is removed
    after the update, so that checkpoints, validation and the final weights
    are without it. A resumed training continues with the same noise.

    Args:
        stddev: Positive float, the standard deviation of the noise.
        seed: Integer.

    Raises:
        ValueError: when `stddev` is not positive, or the model is trained
            before it is built, on several batches in one execution, or with
            a moving average of its weights, which would be of noisy ones.

    Example:

    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> x, noise = np.ones((4, 1)), WeightNoise(0.075)
    >>> history = model.fit(x, x, verbose=0, callbacks=[noise])

    References:
        [Graves, 2011](https://papers.nips.cc/paper/4329), with a fixed
        variance, as in [Chung et al., 2014](https://arxiv.org/abs/1412.3555).
    """

    def __init__(self, stddev: float, seed: int = 0) -> None:
        super().__init__()
        self.stddev = number("stddev", stddev, above=0)
        self.seed = seed
        self._noise: list[Any] = []

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        if not self.model.built:
            raise ValueError(
                "The model must be built, so that there are weights to add "
                f"noise to. Received: {self.model.name!r}, which is not built."
            )
        steps = self.model.steps_per_execution
        if steps != 1:
            raise ValueError(
                "Several batches at once would have the same noise. Expected: "
                "a model compiled with `steps_per_execution=1`. "
                f"Received: steps_per_execution={steps}"
            )
        # A `LossScaleOptimizer` has that of the model inside.
        optimizer = self.model.optimizer
        if getattr(optimizer, "inner_optimizer", optimizer).use_ema:
            raise ValueError(
                "The moving average of the weights would be one of noisy "
                "weights. Expected: an optimizer with `use_ema=False`. "
                "Received: use_ema=True"
            )

    def on_train_batch_begin(
        self, batch: int, logs: dict[str, Any] | None = None
    ) -> None:
        # On JAX, `self.model` has the current weights when it is asked for.
        model = self.model
        step = int(model.optimizer.iterations)
        rng = np.random.default_rng([self.seed, step])
        self._noise = [
            rng.normal(scale=self.stddev, size=weight.shape).astype(
                weight.dtype
            )
            for weight in model.trainable_weights
        ]
        self._add(model, 1)

    def on_train_batch_end(
        self, batch: int, logs: dict[str, Any] | None = None
    ) -> None:
        self._add(self.model, -1)

    def _add(self, model, sign):
        for weight, noise in zip(
            model.trainable_weights, self._noise, strict=True
        ):
            weight.assign_add(sign * noise)
