"""The base class of the LSTMs: four gates of one product."""

from typing import Any

from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.initializers import with_forget_bias
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Nest
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


class FourGatesCell(RecurrentCell):
    """Base class of cells with four gates, of which the second one forgets.

    They are `x W + h R + b`, or `LN(x W + h R) + b` with `layer_norm`, one
    gate after the other. A subclass applies its activations in `step`.

    Args:
        units: Positive integer, width of the states.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        unit_forget_bias: Whether `b_f` starts at 1 (Jozefowicz et al. 2015).
        **kwargs: Further arguments of `RecurrentCell`.
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
        unit_forget_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            activation=activation,
            recurrent_activation=recurrent_activation,
            **kwargs,
        )
        self.units = self.output_size = positive_integer("units", units)
        self.state_size = [self.units, self.units]
        self.use_bias = use_bias
        self.unit_forget_bias = unit_forget_bias

    @property
    def has_forget_bias(self) -> bool:
        """Whether the bias of the forget gate starts at 1."""
        return self.unit_forget_bias

    def build(self, input_shape: Shape) -> None:
        self.build_products(input_shape[-1])
        if self.layer_norm:
            self.gains = self.add_gains((4, self.units))

    def build_products(self, input_dim: int) -> None:
        """Creates kernels and biases."""
        width = 4 * self.units
        self.kernel = self.add_kernel((input_dim, width))
        self.recurrent_kernel = self.add_recurrent_kernel((self.units, width))
        self.bias = None
        if self.use_bias:
            initializer = self.bias_initializer
            if self.has_forget_bias:
                initializer = with_forget_bias(initializer, self.units)
            self.bias = self.add_bias((width,), initializer=initializer)

    def given(self, inputs: Tensor) -> Nest:
        return self.with_bias(self.project(inputs, self.kernel), self.bias)

    def gates(self, h: Tensor, given: Nest, product: Product) -> list[Tensor]:
        """Returns the four gates of a step, before their activations."""
        gates = product(h, self.recurrent_kernel, given, drop=True)
        return ops.split(self.normalized_gates(gates), 4, axis=-1)
