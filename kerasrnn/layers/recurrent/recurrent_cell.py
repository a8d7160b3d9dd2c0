"""The base class of recurrent cells that run fast: a cell defines its step."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import rate
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import join
from kerasrnn.layers.loop.products import may_multiply
from kerasrnn.layers.loop.products import of_the_loop
from kerasrnn.layers.loop.products import shares
from kerasrnn.layers.loop.products import value_of
from kerasrnn.layers.loop.products_over_time import multiply_all
from kerasrnn.layers.recurrent.cell_dropout import CellDropout
from kerasrnn.layers.recurrent.cell_runs import CellRuns
from kerasrnn.layers.recurrent.cell_weights import CellWeights
from kerasrnn.saving import Configured
from kerasrnn.saving import constructor_parameters
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class RecurrentCell(
    Configured, CellWeights, CellDropout, CellRuns, keras.layers.Layer
):
    """Base class of recurrent cells that run fast.

    A subclass sets `state_size` (the width of its state, or a list of widths)
    and `output_size` (by default the first width), creates its weights in
    `build`, and writes its equations in two methods:

        given(inputs) -> given                       for all steps at once
        step(states, given, product) -> new states   for one step

    The base makes of them the step that `keras.layers.RNN` and decoders call,
    and the run over a whole sequence that `FastRNN` calls, with its gradient.
    The output is the first state, unless the subclass overrides `read_out`. The
    arguments of the constructor must be attributes; then the configuration is
    made of them.

    Args:
        activation: Activation of candidates and outputs.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of the kernels of the input.
        recurrent_initializer: Initializer of the kernels of the state. Each
            kernel draws numbers of its own, also from a seeded initializer.
        bias_initializer: Initializer of the biases.
        kernel_regularizer: Regularizer of the kernels of the input.
        recurrent_regularizer: Regularizer of the kernels of the state.
        bias_regularizer: Regularizer of the biases.
        kernel_constraint: Constraint on the kernels of the input.
        recurrent_constraint: Constraint on the kernels of the state.
        bias_constraint: Constraint on the biases.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of the state
            where it enters a matrix product; the state that is carried to the
            next step is never dropped. Both are variational (Gal & Ghahramani
            2016): one mask for all steps of a batch.
        layer_norm: Whether each gate's products are normalized over its
            units, two or more, before the bias is added (Ba et al. 2016). A
            subclass adds gains and calls `normalize`.
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
        ValueError: when a rate is not in `[0, 1)`; when `layer_norm` has
            nothing to normalize; when a step creates weights.

    Example, a unit that moves a little at each step:

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
        # States keep their dtype: who calls the cell chooses it.
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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in constructor_parameters(cls):
            if callable(getattr(RecurrentCell, name, None)):
                raise TypeError(
                    "An argument is kept as an attribute of its name, which "
                    "must not be that of a method of `RecurrentCell`. "
                    f"Received: {cls.__name__}(..., {name})"
                )

    def given(self, inputs: Tensor) -> Nest:
        """Returns what the steps get of the inputs, for all steps at once.

        Args:
            inputs: Tensor of shape `(time, batch, input_dim)`, or
                `(batch, input_dim)` for one step, after dropout.

        Returns:
            A nest of tensors `(..., batch, width)`, of which a step gets its
            own entry. `Fixed` tensors and kernels are the same at every step.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `given(inputs)`."
        )

    def step(self, states: States, given: Nest, product: Product) -> States:
        """Returns the states after a step.

        Args:
            states: List of tensors `(batch, width)`, in float32 or wider.
            given: What `given` returned, for this step.
            product: `product(x, kernel, plus=None, drop=False)` returns
                `x K + plus`, for a weight of the cell.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override "
            "`step(states, given, product)`."
        )

    def read_out(self, states: States, inputs: Tensor) -> Tensor:
        """Returns the outputs, by default the first state.

        Args:
            states: List of the new states, `(..., batch, width)`, of all steps
                or of one.
            inputs: Tensor of shape `(..., batch, input_dim)`, before dropout,
                in float32 or wider.
        """
        return states[0]

    @property
    def _outputs_more(self):
        """Whether the output is anything but the first state."""
        return type(self).read_out is not RecurrentCell.read_out

    def get_initial_state(
        self, batch_size: int | Tensor | None = None
    ) -> States:
        """Returns the initial states: zeros."""
        return [
            ops.zeros(cells.shape_of(size, batch_size), self.compute_dtype)
            for size in cells.state_sizes(self)
        ]

    def project(self, inputs: Tensor | list[Tensor], kernel: Any) -> Tensor:
        """Returns the products with the inputs, in float32 or wider.

        Args:
            inputs: Tensor of shape `(..., input_dim)`, or a list of them, one
                for each gate of the kernel, as `drop_input` returns it.
            kernel: A weight, a `Kernel` or a tensor, of shape
                `(input_dim, width)`; or a list of the first two, side by side.
        """
        product = of_the_loop()
        if product and may_multiply(kernel) and not isinstance(inputs, list):
            return product(inputs, kernel)
        inputs = inputs if isinstance(inputs, list) else [inputs]
        kernels = kernel if isinstance(kernel, list) else [kernel]
        kernel = join(
            ops.cast(value_of(x), self.compute_dtype) for x in kernels
        )
        return join(map(multiply_all, inputs, shares(kernel, len(inputs))))
