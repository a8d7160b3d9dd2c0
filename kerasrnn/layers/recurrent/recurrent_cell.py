"""The base class of recurrent cells that run fast."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import rate
from kerasrnn.layers.initializers import by_heads
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import as_list
from kerasrnn.layers.loop.products import dropped
from kerasrnn.layers.loop.products import fixed_value
from kerasrnn.layers.loop.products import joined
from kerasrnn.layers.loop.products import may_multiply
from kerasrnn.layers.loop.products import of_the_loop
from kerasrnn.layers.loop.run_loop import WeightsOfStep
from kerasrnn.layers.loop.run_loop import repeated
from kerasrnn.layers.loop.run_loop import run_loop
from kerasrnn.layers.precision import wide
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.layers.recurrent._keras import DropoutRNNCell
from kerasrnn.saving import Configured
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor

# Added to the variance, as in the layers of Keras and TensorFlow Addons.
_EPSILON = 1e-3


@keras.saving.register_keras_serializable("kerasrnn")
class RecurrentCell(Configured, DropoutRNNCell, keras.layers.Layer):
    """Base class of recurrent cells that run fast.

    A subclass sets `state_size` (the width of its state, or a list of widths)
    and `output_size` (by default the first width), creates its weights in
    `build`, and writes its equations in two methods:

        given(inputs) -> given                       for all steps at once
        step(states, given, product) -> new states   for one step

    From these, the base class makes the step that `keras.layers.RNN` and
    decoders call, and the run over a whole sequence, with its gradient, that
    `FastRNN` calls. The output is the first state, unless the subclass
    overrides `read_out`. The constructor must store its arguments as attributes
    of the same names; `get_config` reads them.

    Args:
        activation: Activation of candidates and outputs.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of the input kernels.
        recurrent_initializer: Initializer of the recurrent kernels. Each kernel
            gets different numbers, even from a seeded initializer.
        bias_initializer: Initializer of the biases.
        kernel_regularizer: Regularizer of the input kernels.
        recurrent_regularizer: Regularizer of the recurrent kernels.
        bias_regularizer: Regularizer of the biases.
        kernel_constraint: Constraint on the input kernels.
        recurrent_constraint: Constraint on the recurrent kernels.
        bias_constraint: Constraint on the biases.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of the state where it
            enters a matrix product. The state that is carried to the next step
            is never dropped. Both dropouts are variational: all steps of a
            batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units, before the bias is added (Ba et al. 2016). Needs at least
            two units. A subclass adds gains and calls `normalize`.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: List of tensors of shape `(batch, width)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, output_size)`, and the new states.

    Masking: `FastRNN` and `keras.layers.RNN` skip masked steps.

    Raises:
        ValueError: when a rate is not in `[0, 1)`, when `layer_norm` is set but
            the cell has no gains, or when a step creates weights.

    Example, a leaky unit that moves a little at each step:

    >>> class Leaky(RecurrentCell):
    ...     def __init__(self, units, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.units = self.state_size = self.output_size = units
    ...
    ...     def build(self, input_shape):
    ...         self.kernel = self.add_kernel((input_shape[-1], self.units))
    ...         self.recurrent_kernel = self.add_recurrent_kernel(
    ...             (self.units, self.units)
    ...         )
    ...         self.bias = self.add_bias((self.units,))
    ...
    ...     def given(self, inputs):
    ...         return self.project(inputs, self.kernel) + self.bias
    ...
    ...     def step(self, states, given, product):
    ...         (h,) = states
    ...         new = product(h, self.recurrent_kernel, given, drop=True)
    ...         return [h + 0.1 * (self.activation(new) - h)]
    >>> FastRNN(Leaky(8, recurrent_dropout=0.2))(np.ones((2, 5, 4))).shape
    (2, 8)

    References:
        [Gal & Ghahramani, 2016](https://arxiv.org/abs/1512.05287),
        [Ba et al., 2016](https://arxiv.org/abs/1607.06450).
    """

    bias: Any
    gains: Any
    _has_gains = False

    def __init__(
        self,
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
        # States keep their dtype, which the caller of the cell chooses.
        super().__init__(autocast=False, **kwargs)
        self.activation = keras.activations.get(activation)
        self.recurrent_activation = keras.activations.get(recurrent_activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(
            recurrent_initializer
        )
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = keras.regularizers.get(
            recurrent_regularizer
        )
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.recurrent_constraint = keras.constraints.get(recurrent_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.dropout = rate("dropout", dropout)
        self.recurrent_dropout = rate("recurrent_dropout", recurrent_dropout)
        self.layer_norm = layer_norm
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def given(self, inputs: Tensor) -> Nest:
        """Computes what the steps need from the inputs, for all steps at once.

        Args:
            inputs: Tensor of shape `(time, batch, input_dim)`, or
                `(batch, input_dim)` for one step, after dropout.

        Returns:
            A nest of tensors `(..., batch, width)`. Each step gets its own
            entry of them. `Fixed` tensors and kernels are the same at every
            step.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `given(inputs)`."
        )

    def step(self, states: States, given: Nest, product: Product) -> States:
        """Returns the states after a step.

        Args:
            states: List of tensors `(batch, width)`, in float32 or wider.
            given: What `given` returned, for this step.
            product: Function `product(x, kernel, plus=None, drop=False)` that
                returns `x K + plus`, where `kernel` is a weight of the cell.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override "
            "`step(states, given, product)`."
        )

    def read_out(self, states: States, inputs: Tensor) -> Tensor:
        """Returns the outputs, by default the first state.

        Args:
            states: List of the new states, `(..., batch, width)`, for one step
                or all steps.
            inputs: Tensor of shape `(..., batch, input_dim)`, before dropout,
                in float32 or wider.
        """
        return states[0]

    def get_initial_state(
        self, batch_size: int | Tensor | None = None
    ) -> States:
        """Returns the initial states: zeros."""
        return cells.map_sizes(
            lambda size: ops.zeros(
                cells.shape_of(size, batch_size), self.compute_dtype
            ),
            self,
        )

    # The parts of the equations: weights, products, dropout.

    def add_kernel(
        self,
        shape: Shape,
        name: str = "kernel",
        initializer: Any = None,
    ) -> keras.Variable:
        """Adds an input kernel, or a kernel of input and state joined."""
        return self._add("kernel", shape, name, initializer)

    def add_recurrent_kernel(
        self,
        shape: Shape,
        name: str = "recurrent_kernel",
        initializer: Any = None,
        heads: int = 1,
    ) -> keras.Variable:
        """Adds a recurrent kernel.

        Args:
            shape: `(units, width)`.
            name: Name of the weight.
            initializer: Initializer, by default `recurrent_initializer`.
            heads: Number of parts of the state that do not see one another.
                With two or more, the kernel is block-diagonal: `width` is the
                number of gates times `units`, and the weight has the shape
                `(heads, units / heads, gates, units / heads)`.
        """
        if heads == 1:
            return self._add("recurrent", shape, name, initializer)
        units, gates = shape[0] // heads, shape[1] // shape[0]
        initializer = initializer or self.recurrent_initializer
        return self._add(
            "recurrent",
            (heads, units, gates, units),
            name,
            by_heads(reseeded(initializer, name)),
        )

    def add_bias(
        self, shape: Shape, name: str = "bias", initializer: Any = None
    ) -> keras.Variable:
        """Adds one or more biases."""
        return self._add("bias", shape, name, initializer)

    def add_gains(self, shape: Shape, name: str = "gains") -> keras.Variable:
        """Adds the gains of `normalize`, of shape `(..., gates, units)`."""
        if shape[-1] < 2:
            raise ValueError(
                "With a single unit, `layer_norm` would make every gate 0. "
                "Expected: two units or more. Received: gains of shape "
                f"{tuple(shape)}"
            )
        self._has_gains = True
        return self.add_weight(shape, "ones", name=name)

    def optional_gains(self, shape: Shape, name: str = "gains") -> Any:
        """Adds gains if `layer_norm` is set; `None` if it is not."""
        return self.add_gains(shape, name) if self.layer_norm else None

    def _add(self, kind, shape, name, initializer):
        if initializer is None:
            initializer = getattr(self, f"{kind}_initializer")
        # An initializer with a seed gives other numbers for another name.
        same = sum(weight.name == name for weight in self.weights)
        return self.add_weight(
            shape,
            reseeded(initializer, f"{name}_{same}" if same else name),
            name=name,
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def add_weight(self, *args: Any, **kwargs: Any) -> keras.Variable:
        """Adds a weight like `keras.layers.Layer.add_weight`, without autocast.

        Matrix products cast what they need. The rest of a step is computed in
        float32.
        """
        return super().add_weight(*args, **{"autocast": False, **kwargs})

    def with_bias(self, products: Tensor, bias: Tensor | None) -> Tensor:
        """Adds a bias, unless it is `None` or `normalize` adds it."""
        if self.layer_norm or bias is None:
            return products
        # TensorFlow's `BiasAdd`, whose gradient is faster than that of `+`.
        return ops.add(products, bias)

    def normalize(
        self,
        gates: Tensor,
        gains: Tensor | None,
        bias: Tensor | float | None = None,
    ) -> Tensor:
        """Normalizes each gate over its units and adds the bias.

        Args:
            gates: Tensor of shape `(..., gates * units)`.
            gains: Tensor of shape `(gates, units)`. With `None` the gates are
                returned unchanged.
            bias: Tensor of shape `(gates * units,)`, or `None`.
        """
        if gains is None:
            return gates
        x = ops.reshape(gates, (*ops.shape(gates)[:-1], *gains.shape))
        x = x - ops.mean(x, axis=-1, keepdims=True)
        variance = ops.mean(ops.square(x), axis=-1, keepdims=True)
        x = x * ops.rsqrt(variance + _EPSILON) * gains
        x = ops.reshape(x, ops.shape(gates))
        return x if bias is None else x + bias

    def project(self, inputs: Tensor, kernel: Any) -> Tensor:
        """Multiplies the inputs by a kernel; the result is float32 or wider.

        Args:
            inputs: Tensor of shape `(..., input_dim)`.
            kernel: A weight, a `Kernel` or a tensor, of shape
                `(input_dim, width)`; or a list of weights and `Kernel`s, side
                by side.
        """
        product = self._product_of_the_loop()
        if product and may_multiply(kernel):
            return product(inputs, kernel)
        kernels = joined(as_list(kernel), self.compute_dtype)
        # The gradient of one matrix product is faster than that of many.
        flat = ops.reshape(inputs, (-1, inputs.shape[-1]))
        found = ops.matmul(ops.cast(flat, kernels.dtype), kernels)
        return wide(
            ops.reshape(found, (*ops.shape(inputs)[:-1], kernels.shape[-1]))
        )

    def _product_of_the_loop(self):
        """Returns the `product` of the loop around the cell, or `None`."""
        product = of_the_loop()
        same = product and product.dtype == self.compute_dtype
        return product if same else None

    def drop_input(self, inputs: Tensor, training: bool = False) -> Tensor:
        """Applies dropout to the input, with the same mask at every step."""
        return dropped(inputs, self.masks(inputs, [], training)[0])

    def masks(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor | None, Tensor | None]:
        """Returns the dropout masks of input and state, shared by all steps.

        Keras's loop draws and resets them with the methods of the base class.

        Args:
            inputs: Tensor of shape `(batch, input_dim)` or
                `(time, batch, input_dim)`.
            states: List of tensors `(batch, width)`; empty if only the input's
                mask is needed.
            training: Whether to apply dropout.

        Returns:
            Two masks. Each is `None` if there is no dropout.
        """
        of_input = of_state = None
        if training and self.dropout:
            of_input = self.get_dropout_mask(
                inputs if len(inputs.shape) == 2 else inputs[0]
            )
        if training and self.recurrent_dropout and states:
            # In the dtype of the states and gradients that it multiplies.
            of_state = wide(self.get_recurrent_dropout_mask(states[0]))
        return of_input, of_state

    # Methods that run the equations.

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        inputs = ops.cast(inputs, self.compute_dtype)
        before = keras.tree.flatten(states)
        # In a loop around the cell, states stay in float32 or wider.
        carried = wide_dtype(self.compute_dtype)
        flat = [ops.cast(state, carried) for state in before]
        of_input, of_state = self.masks(inputs, flat, training)
        product = self._product_of_the_loop() or Product(self.compute_dtype)
        given = self.prepare(inputs, of_input, training)
        with WeightsOfStep():
            given = keras.tree.map_structure(
                lambda leaf: (
                    fixed_value(leaf, self.compute_dtype)
                    if isinstance(leaf, Fixed)
                    else leaf
                ),
                given,
            )
            new = self.step(flat, given, product.with_mask(of_state))
            output = self.read_out(new, wide(inputs))
        new = cells.as_carried(new, before, self.compute_dtype)
        output = ops.cast(output, self.compute_dtype)
        return output, keras.tree.pack_sequence_as(states, new)

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        last_only: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a whole sequence; see `FastRNN`.

        Args:
            sequence: Tensor of shape `(time, batch, input_dim)`.
            states: List of tensors `(batch, width)`, in float32 or wider.
            mask: Optional tensor of shape `(time, batch, 1)`, 0 where a step is
                skipped and 1 elsewhere.
            training: Whether to apply dropout.
            last_only: Whether to return only the last output, as a sequence of
                one step.

        Returns:
            The outputs of shape `(time, batch, output_size)`, and the final
            states.
        """
        skipped = None if mask is None else ops.equal(mask[..., 0], 0)
        of_input, of_state = self.masks(sequence, states, training)
        given = self.prepare(sequence, of_input, training)
        outputs_more = self.outputs_more
        repeats = skipped is not None and outputs_more
        num_returned = len(states) if outputs_more else 1
        if last_only and not repeats:
            num_returned = 0
        after, last = run_loop(
            self.step,
            given,
            states,
            self.compute_dtype,
            of_state,
            skipped,
            training,
            num_returned,
        )
        if not num_returned:
            sequence = sequence[-1:]
            after = [ops.expand_dims(state, 0) for state in last]
        if not outputs_more:
            return after[0], last
        with WeightsOfStep():
            outputs = self.read_out(after, wide(sequence))
        return repeated(outputs, skipped) if repeats else outputs, last

    def prepare(
        self, inputs: Tensor, mask: Tensor | None, training: bool
    ) -> Nest:
        """Applies a dropout mask to the inputs, then calls `given`."""
        if self.layer_norm is True and not self._has_gains:
            raise ValueError(
                f"{type(self).__name__} has `layer_norm` but no gains, so "
                "nothing is normalized. Expected: gains made by `add_gains` in "
                "`build`, and a call of `normalize` in `given` or `step`. "
                "Received: layer_norm=True"
            )
        before = dict(vars(self))
        with WeightsOfStep():
            given = self.given(dropped(inputs, mask))
        for name, value in vars(self).items():
            # A step that reads the attribute would get no gradient for it.
            if ops.is_tensor(value) and value is not before.get(name):
                raise ValueError(
                    "`given` must return what it computes, not store it, or a "
                    "step gets no gradient for it. Expected: `Fixed(...)` for "
                    "a tensor that is the same at every step. Received: "
                    f"`self.{name}`"
                )
        return given

    @property
    def outputs_more(self) -> bool:
        """Whether the output differs from the first state: see `read_out`."""
        return type(self).read_out is not RecurrentCell.read_out


def defines_step(cell: Any) -> bool:
    """Whether a cell is a `RecurrentCell` whose `call` and `run` are used."""
    return type(cell).call is RecurrentCell.call


class ForwardsDropoutMasks(DropoutRNNCell):
    """Base of cells around another cell that applies the dropout.

    `keras.layers.RNN` draws and resets dropout masks with these methods of the
    outer cell, so they call those of the inner cell.
    """

    dropout = recurrent_dropout = 0.0
    cell: Any

    def first_input(self, step_input: Tensor) -> Tensor:
        """Returns a tensor of the shape of the inner cell's input."""
        return step_input

    def get_dropout_mask(self, step_input: Tensor) -> None:
        cells.draw_dropout_masks(self.cell, self.first_input(step_input))

    def reset_dropout_mask(self) -> None:
        cells.reset_dropout_masks(self.cell)
