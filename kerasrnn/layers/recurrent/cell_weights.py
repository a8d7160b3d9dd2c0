"""The weights of recurrent cells, and the normalization by some of them."""

import contextlib
from collections.abc import Iterator
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.initializers import reseeded
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

# As in the layers of TensorFlow Addons, and of Keras.
_EPSILON = 1e-3


class CellWeights:
    """The part of `RecurrentCell` that creates weights.

    A kind of weights, kernels of the input, kernels of the state and biases,
    has an initializer, a regularizer and a constraint, attributes of the cell.
    """

    layer_norm: bool
    bias: Any
    gains: Any
    variables: list[keras.Variable]
    _has_gains = False
    _created_late: tuple[str, ...] = ()

    def add_kernel(
        self,
        shape: Shape,
        name: str = "kernel",
        initializer: Any = None,
    ) -> keras.Variable:
        """Adds a kernel of the input, or of input and state joined."""
        return self._add("kernel", shape, name, initializer)

    def add_recurrent_kernel(
        self,
        shape: Shape,
        name: str = "recurrent_kernel",
        initializer: Any = None,
    ) -> keras.Variable:
        """Adds a kernel of the state."""
        return self._add("recurrent", shape, name, initializer)

    def add_bias(
        self, shape: Shape, name: str = "bias", initializer: Any = None
    ) -> keras.Variable:
        """Adds a bias, or several."""
        return self._add("bias", shape, name, initializer)

    def add_gains(self, shape: Shape, name: str = "gains") -> keras.Variable:
        """Adds the gains of `normalize`, `(..., gates, units)`."""
        if shape[-1] < 2:
            raise ValueError(
                "`layer_norm` makes every gate of a single unit 0. Expected: "
                f"two units or more. Received: gains of shape {tuple(shape)}"
            )
        self._has_gains = True
        return self.add_weight(shape, "ones", name=name)

    def _add(self, kind, shape, name, initializer):
        if initializer is None:
            initializer = getattr(self, f"{kind}_initializer")
        return self.add_weight(
            shape,
            reseeded(initializer, name),
            name=name,
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def add_weight(self, *args: Any, **kwargs: Any) -> keras.Variable:
        """Adds a weight, as `keras.layers.Layer` does, but without autocast.

        A product casts what it needs, and the rest of a step is computed in
        float32.
        """
        options = {"autocast": False, **kwargs}
        return super().add_weight(*args, **options)  # type: ignore[misc]

    def with_bias(self, products: Tensor, bias: Tensor | None) -> Tensor:
        """Adds a bias, unless `normalize` will, or there is none."""
        if self.layer_norm or bias is None:
            return products
        # Unlike `+`, a `BiasAdd` of TensorFlow, whose gradient is faster.
        return ops.add(products, bias)

    def normalize(
        self, gates: Tensor, gains: Tensor, bias: Tensor | float | None = None
    ) -> Tensor:
        """Normalizes each gate over its units, and adds the bias.

        Args:
            gates: Tensor of shape `(..., gates * units)`.
            gains: Tensor of shape `(gates, units)`.
            bias: Tensor of shape `(gates * units,)`, or `None`.
        """
        x = ops.reshape(gates, (*ops.shape(gates)[:-1], *gains.shape))
        x = x - ops.mean(x, axis=-1, keepdims=True)
        variance = ops.mean(ops.square(x), axis=-1, keepdims=True)
        x = x * ops.rsqrt(variance + _EPSILON) * gains
        x = ops.reshape(x, ops.shape(gates))
        return x if bias is None else x + bias

    def normalized_gates(
        self, gates: Tensor, layer: int | None = None
    ) -> Tensor:
        """Normalizes gates by `gains` and `bias` if `layer_norm` is set.

        Args:
            gates: Tensor of shape `(..., gates * units)`.
            layer: Index of the rows of gains and biases, if there are several.
        """
        if not self.layer_norm:
            return gates
        if layer is None:
            return self.normalize(gates, self.gains, self.bias)
        return self.normalize(gates, self.gains[layer], self.bias[layer])

    @contextlib.contextmanager
    def all_built(self) -> Iterator[None]:
        """Checks, around the equations, that `build` created all weights.

        Raises:
            ValueError: when there are no gains to normalize by, or weights were
                created within.
        """
        if self.layer_norm is True and not self._has_gains:
            raise ValueError(
                f"{type(self).__name__} normalizes nothing: it has no gains. "
                "Expected: gains made by `add_gains` in `build`, and "
                "`normalize` in `given` or `step`. Received: layer_norm=True"
            )
        known = {id(variable) for variable in self.variables}
        try:
            yield
        finally:
            new = (x.path for x in self.variables if id(x) not in known)
            self._created_late = (*self._created_late, *new)
            if self._created_late:
                raise ValueError(
                    f"`build` of {type(self).__name__} must create all of its "
                    "weights, and build the layers that a step uses. "
                    f"Received: a step that creates {[*self._created_late]}"
                )
