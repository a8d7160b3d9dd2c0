"""Adam with different learning rates for parts of a model."""

from collections.abc import Sequence
from typing import Any

import keras

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
        super().build(variables)

    def update_step(
        self, gradient: Tensor, variable: Any, learning_rate: Tensor
    ) -> None:
        factor = self.factors[self._get_variable_index(variable)]
        super().update_step(gradient, variable, learning_rate * factor)
