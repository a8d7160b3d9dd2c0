"""The base class of the LSTMs: four gates of one product."""

from typing import Unpack

from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.initializers import with_forget_bias
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
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
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the kernels of the input, of those of the state, and
            of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input and of the state where it enters a product. One mask is drawn
            for all steps of a batch (Gal & Ghahramani 2016).
        layer_norm: Whether the products of each gate are normalized over its
            units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as of
            every Keras layer.
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
        *,
        unit_forget_bias: bool = True,
        kernel_initializer: Initializer = "glorot_uniform",
        recurrent_initializer: Initializer = "orthogonal",
        bias_initializer: Initializer = "zeros",
        kernel_regularizer: Regularizer = None,
        recurrent_regularizer: Regularizer = None,
        bias_regularizer: Regularizer = None,
        kernel_constraint: Constraint = None,
        recurrent_constraint: Constraint = None,
        bias_constraint: Constraint = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        layer_norm: bool = False,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            activation=activation,
            recurrent_activation=recurrent_activation,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            layer_norm=layer_norm,
            seed=seed,
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
