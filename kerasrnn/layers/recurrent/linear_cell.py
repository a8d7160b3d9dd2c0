"""The base class of cells that are linear in their state."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.loop.linear_recurrence import linear_scan
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class LinearCell(RecurrentCell):
    """Base class of cells that are linear in their state.

        h = a * h_{t-1} + b

    A subclass creates its weights in `build`, and `coefficients(inputs)` says
    what `a` and `b` are, for all steps at once. They do not depend on the
    state, so a whole sequence takes no loop over its steps: parts of it are
    computed side by side. In training, three tensors of the size of the output
    are kept, `a`, `b` and `h`. In inference, a long sequence is computed in
    blocks. `h` is in float32 or wider, also under mixed precision. The loop is
    still taken for zoneout, and for a subclass that overrides `step` or
    `read_out`.

    Args:
        units: Positive integer, width of the state.
        use_bias: Whether there are biases.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer, recurrent_initializer, bias_initializer:
            Initializers of the kernels of the input, of those of the state, of
            which there are none, and of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout: Float in `[0, 1)`, dropout rate of the input. One mask is drawn
            for all steps of a batch.
        recurrent_dropout: Must be 0: the state enters no product.
        layer_norm: Whether the products of each gate are normalized over its
            units (Ba et al. 2016).
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as of
            every Keras layer.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h]` of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when `units` is not a positive integer, `dropout` is not in
            `[0, 1)`, or there is `recurrent_dropout`, which drops the state
            where it enters a matrix product.

    Example, a moving average of products with the input:

    >>> class Average(LinearCell):
    ...     def build(self, input_shape):
    ...         self.build_gates(input_shape[-1], 1)
    ...
    ...     def coefficients(self, inputs):
    ...         x = self.gates(inputs)
    ...         return ops.full_like(x, 0.9), 0.1 * x
    >>> FastRNN(Average(8), return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)
    """

    def __init__(
        self,
        units: int,
        use_bias: bool = True,
        *,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
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
        if self.recurrent_dropout:
            raise ValueError(
                f"{type(self).__name__} has no `recurrent_dropout`: its state "
                "enters no matrix product. Use `dropout`, or `ZoneoutCell`. "
                f"Received: recurrent_dropout={self.recurrent_dropout}"
            )
        self.units = positive_integer("units", units)
        self.state_size = self.output_size = self.units
        self.use_bias = use_bias

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Returns `a` and `b`, both of shape `(..., units)`.

        Args:
            inputs: Tensor of shape `(..., input_dim)`, of one step or of all,
                after dropout.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `coefficients(inputs)`."
        )

    def build_gates(
        self, input_dim: int, count: int, initial_bias: Any = None
    ) -> None:
        """Creates what `gates` needs.

        Args:
            input_dim: Width of the input.
            count: How many gates there are, each of `units`.
            initial_bias: Optional initializer of the biases.
        """
        shape: Shape = (count * self.units,)
        self.kernel = self.add_kernel((input_dim, *shape))
        self.bias = None
        if self.use_bias:
            self.bias = self.add_bias(shape, initializer=initial_bias)
        if self.layer_norm:
            self.gains = self.add_gains((count, self.units))

    def gates(self, inputs: Tensor) -> Tensor:
        """Returns `x W + b`, or `LN(x W) + b`, `(..., count * units)`."""
        products = self.project(inputs, self.kernel)
        return self.normalized_gates(self.with_bias(products, self.bias))

    def given(self, inputs: Tensor) -> Nest:
        return list(self.coefficients(inputs))

    def step(self, states: States, given: Nest, product: Product) -> States:
        (h,), (a, b) = states, given
        return [a * h + b]

    def _run(
        self, states, sequence, skipped=None, *, training, last_only, zoneout
    ):
        if (
            any(share is not None for share in zoneout or [])
            or type(self).step is not LinearCell.step
            or self._outputs_more
        ):
            return super()._run(
                states,
                sequence,
                skipped,
                training=training,
                last_only=last_only,
                zoneout=zoneout,
            )
        masks, _ = self.masks(sequence, [], training)
        a, b = self._prepare(sequence, masks)
        if skipped is not None:
            skipped = skipped[..., None]
            a = ops.where(skipped, ops.ones_like(a), a)
            b = ops.where(skipped, ops.zeros_like(b), b)
        h = linear_scan(a, b, *states)
        return h[-1:] if last_only else h, [h[-1]]
