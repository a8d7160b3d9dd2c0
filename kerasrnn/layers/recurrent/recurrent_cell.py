"""The base class of the recurrent cells of this package.

It provides variational dropout, layer normalization, states, and matrix
products in the compute dtype. A subclass sets `state_widths` and `output_size`
and implements its equations in `call`.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.arguments import rate
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.recurrent._keras import DropoutRNNCell
from kerasrnn.layers.through_time.products import normalized
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class RecurrentCell(DropoutRNNCell, keras.layers.Layer):
    """Base class of the recurrent cells.

    Args:
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of the state
            where it enters a matrix product; the state that is carried to the
            next step is never dropped. Both are variational (Gal & Ghahramani
            2016): one mask for all steps of a batch.
        layer_norm: Whether the preactivation of each gate is normalized over
            its units, before its bias (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.
    """

    def __init__(
        self,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        layer_norm: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.dropout = rate("dropout", dropout)
        self.recurrent_dropout = rate("recurrent_dropout", recurrent_dropout)
        self.layer_norm = layer_norm
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    @property
    def state_size(self) -> int | list[int]:
        widths = list(self.state_widths)
        return widths if len(widths) > 1 else widths[0]

    def get_initial_state(
        self, batch_size: int | Tensor | None = None
    ) -> States:
        """Returns the initial states: zeros."""
        return [
            ops.zeros((batch_size, width), self.compute_dtype)
            for width in self.state_widths
        ]

    # Weights are not cast on access: a product casts what it needs, and the
    # layers that run a whole sequence keep their state and biases in float32.
    def add_kernel(
        self,
        name: str,
        shape: Shape,
        initializer: Initializer | Callable[..., Tensor],
    ) -> keras.Variable:
        """Adds a weight, with its own seed for the initializer."""
        return self.add_weight(
            shape=shape,
            initializer=reseeded(initializer, len(self.weights)),
            name=name,
            autocast=False,
        )

    def add_kernels(
        self,
        name: str,
        depth: int,
        shape: Shape,
        initializer: Initializer,
    ) -> list[keras.Variable]:
        """Adds a kernel for each micro-step, and returns the list of them.

        If they were one variable, automatic differentiation would add a
        gradient of the size of all of them at every micro-step of a loop.
        """
        return [
            self.add_kernel(f"{name}_{layer}", shape, initializer)
            for layer in range(depth)
        ]

    def add_gains(self, name: str, *shape: int) -> keras.Variable | None:
        """Adds gains `(..., gates, units)`; `None` without `layer_norm`."""
        if not self.layer_norm:
            return None
        return self.add_kernel(name, shape, "ones")

    def product(self, inputs: Tensor, kernel: Tensor) -> Tensor:
        """Returns the matrix product, in the compute dtype."""
        return ops.matmul(
            ops.cast(inputs, self.compute_dtype),
            ops.cast(kernel, self.compute_dtype),
        )

    def preactivation(
        self, products: Tensor, bias: Tensor, gains: Tensor | None = None
    ) -> Tensor:
        """Adds the biases of one or several gates to their products.

        Args:
            products: Tensor of shape `(batch, gates * units)`.
            bias: Tensor of shape `(gates * units,)`.
            gains: Tensor of shape `(gates, units)`: the products are first
                normalized over the units and scaled by it. `None` for no
                normalization.
        """
        if gains is not None:
            gates, _ = normalized(products, *gains.shape)
            gates = ops.reshape(gates * gains, (-1, products.shape[-1]))
            products = ops.cast(gates, self.compute_dtype)
        return products + ops.cast(bias, products.dtype)

    def drop_input(self, inputs: Tensor, training: bool = False) -> Tensor:
        """Applies dropout to the input, with the same mask at every step."""
        mask = self.get_dropout_mask(inputs) if training else None
        return inputs if mask is None else inputs * mask

    def drop_state(self, state: Tensor, training: bool = False) -> Tensor:
        """Applies dropout to the state, with the same mask at every step."""
        mask = self.get_recurrent_dropout_mask(state) if training else None
        return state if mask is None else state * mask

    def loop_state_mask(
        self, states: States, training: bool = False
    ) -> Tensor | None:
        """Returns the state's dropout mask for a whole loop, or `None`."""
        mask = None
        if training:
            mask = self.get_recurrent_dropout_mask(states[0])
        return None if mask is None else ops.cast(mask, states[0].dtype)

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            "layer_norm": self.layer_norm,
            "seed": self.seed,
        }
