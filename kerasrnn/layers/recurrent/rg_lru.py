"""The real-gated linear recurrent unit."""

from typing import Any

import keras
from keras import ops

from kerasrnn.layers.precision import wide
from kerasrnn.layers.recurrent.cell_layer import CellLayer
from kerasrnn.layers.recurrent.linear_cell import LinearCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

_POWER = 8.0
# The range of `sigmoid(decay) ** 8` at first.
_LEAST, _MOST = 0.9, 0.999
# A square root has no gradient at 0.
_TINY = 1e-12


@keras.saving.register_keras_serializable("kerasrnn")
class RGLRUCell(LinearCell):
    """A real-gated linear recurrent unit (De et al. 2024).

        r, i = sigmoid(x W + b)         a = exp(8 r log(sigmoid(decay)))
        h = a * h_{t-1} + sqrt(1 - a^2) * (i * x)

    The input itself enters the state, unit by unit, so it must be `units`
    wide; the block of the paper has a `keras.layers.Dense` before it. `a` is
    computed by its logarithm, since it is near 1: `sigmoid(decay)^8` starts
    uniform in `[0.9, 0.999]`. `W` is not split into blocks.

    Args:
        units: Positive integer, width of the state and of the input.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of `W`, LeCun's as in the paper.
        **kwargs: Further arguments of `LinearCell`. There is no candidate for
            `activation`.

    Raises:
        ValueError: when `units` is not a positive integer, or not the width of
            the input, `dropout` is not in `[0, 1)`, or there is
            `recurrent_dropout`.

    Example:

    >>> FastRNN(RGLRUCell(4), return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 4)

    Reference:
        [De et al., 2024](https://arxiv.org/abs/2402.19427).
    """

    def __init__(
        self,
        units: int,
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "lecun_normal",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units,
            recurrent_activation=recurrent_activation,
            kernel_initializer=kernel_initializer,
            **kwargs,
        )

    def build(self, input_shape: Shape) -> None:
        if input_shape[-1] != self.units:
            raise ValueError(
                "The input of an RG-LRU enters its state unit by unit, so it "
                "must be as wide: put a `keras.layers.Dense` before it. "
                f"Expected: {self.units}. Received: {input_shape[-1]}"
            )
        self.build_gates(self.units, 2)
        self.decay = self.add_weight(
            (self.units,), self.initial_decay, name="decay"
        )

    def initial_decay(self, shape: Shape, dtype: Any = None) -> Tensor:
        """Returns decays whose `sigmoid(decay)^8` is uniform in a range."""
        start = keras.initializers.RandomUniform(_LEAST, _MOST)
        log = ops.log(start(shape, dtype=dtype)) / _POWER
        return log - ops.log(-ops.expm1(log))

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        gates = self.recurrent_activation(self.gates(inputs))
        r, i = ops.split(gates, 2, axis=-1)
        log = _POWER * r * ops.log_sigmoid(ops.convert_to_tensor(self.decay))
        share = ops.sqrt(ops.maximum(-ops.expm1(2 * log), _TINY))
        return ops.exp(log), share * i * wide(inputs)


@keras.saving.register_keras_serializable("kerasrnn")
class RGLRU(CellLayer):
    """An RG-LRU layer, parallel over time.

    Example:

    >>> RGLRU(4, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 4)

    Reference:
        [De et al., 2024](https://arxiv.org/abs/2402.19427).
    """

    cell_class = RGLRUCell
