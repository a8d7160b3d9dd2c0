"""The base class of recurrent cells that run fast: a cell defines its step."""

import functools
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.arguments import rate
from kerasrnn.layers.configured import Configured
from kerasrnn.layers.configured import arguments
from kerasrnn.layers.documented import document
from kerasrnn.layers.recurrent import cells
from kerasrnn.layers.recurrent import running
from kerasrnn.layers.recurrent._keras import DropoutRNNCell
from kerasrnn.layers.recurrent.cell_weights import CellWeights
from kerasrnn.layers.recurrent.in_blocks import run_in_blocks
from kerasrnn.layers.recurrent.loop import run_loop
from kerasrnn.layers.recurrent.products import Fixed
from kerasrnn.layers.recurrent.products import Product
from kerasrnn.layers.recurrent.products import join
from kerasrnn.layers.recurrent.products import may_multiply
from kerasrnn.layers.recurrent.products import multiply
from kerasrnn.layers.recurrent.products import of_the_loop
from kerasrnn.layers.recurrent.products import shares
from kerasrnn.layers.recurrent.products import value_of
from kerasrnn.layers.recurrent.products import wide
from kerasrnn.layers.recurrent.weights_of_step import WeightsOfStep
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


@keras.saving.register_keras_serializable("kerasrnn")
class RecurrentCell(
    Configured, CellWeights, DropoutRNNCell, keras.layers.Layer
):
    """Base class of recurrent cells that run fast.

    A subclass sets `state_size` (the width of its state, or a list of widths)
    and `output_size`, creates its weights in `build`, and writes its equations
    in two methods:

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
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
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
        document(
            cls,
            arguments(cls),
            *cls.__bases__,
            sections=("Call arguments", "Returns", "Masking"),
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
        return join(map(multiply, inputs, shares(kernel, len(inputs))))

    def drop_input(
        self, inputs: Tensor, training: bool = False
    ) -> Tensor | list[Tensor]:
        """Applies dropout to the input, with the same mask at every step.

        Returns a list, if the gates have masks of their own.
        """
        return _dropped(inputs, self.masks(inputs, [], training)[0])

    def masks(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Returns the dropout masks of input and state, for all steps.

        Args:
            inputs: Tensor of shape `(batch, input_dim)` or
                `(time, batch, input_dim)`.
            states: List of tensors `(batch, width)`; none for the masks of the
                input alone.
            training: Whether to apply dropout.

        Returns:
            Two lists: of one mask, of one for each gate, or of none.
        """
        found: tuple[list[Tensor], list[Tensor]] = ([], [])
        if training and self.dropout:
            step = inputs if len(inputs.shape) == 2 else inputs[0]
            found[0][:] = _listed(self.get_dropout_mask(step))
        if training and self.recurrent_dropout and states:
            found[1][:] = _listed(self.get_recurrent_dropout_mask(states[0]))
        return found

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        flat = [wide(state) for state in keras.tree.flatten(states)]
        masks = self.masks(inputs, flat, training)
        product = Product(self.compute_dtype)
        output, new = self.advance(inputs, flat, product, masks)
        output, *new = (ops.cast(x, self.compute_dtype) for x in (output, *new))
        return output, keras.tree.pack_sequence_as(states, new)

    def advance(
        self,
        inputs: Tensor,
        states: States,
        product: Product,
        masks: tuple[list[Tensor], list[Tensor]],
    ) -> tuple[Tensor, States]:
        """Computes one step, alone or in a loop whose product is given.

        Args:
            inputs: Tensor of shape `(batch, input_dim)`.
            states: List of tensors `(batch, width)`, in float32 or wider.
            product: What multiplies by the kernels.
            masks: What the method `masks` returned.

        Returns:
            The output and the list of new states, in float32 or wider.
        """
        of_inputs, of_states = masks
        product = product.with_masks(of_states)
        with self.all_built():
            given = self._prepare(inputs, of_inputs)
            with WeightsOfStep():
                given = keras.tree.map_structure(_bare, given)
                new = self.step(states, given, product)
                return self.read_out(new, wide(inputs)), new

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        last_only: bool = False,
        zoneout: Zoneout = None,
    ) -> tuple[Tensor, States]:
        """Runs over a whole sequence; see `FastRNN`.

        Args:
            sequence: Tensor of shape `(time, batch, input_dim)`.
            states: List of tensors `(batch, width)`, in float32 or wider.
            mask: Optional tensor of shape `(time, batch, 1)`, 1 where a step
                counts and 0 where it is skipped.
            training: Whether to apply dropout.
            last_only: Whether only the last output is wanted, as a sequence of
                one step.
            zoneout: What each state keeps of the step before: noise of shape
                `(time, batch, width)`, a share, or `None`; see `ZoneoutCell`.

        Returns:
            The outputs of shape `(time, batch, output_size)`, and the last
            states.
        """
        skipped = None if mask is None else ops.equal(mask[..., 0], 0)
        options = {
            "training": training,
            "last_only": last_only,
            "zoneout": zoneout,
        }
        with self.all_built():
            if training or (skipped is not None and self._outputs_more):
                return self._run(states, sequence, skipped, **options)
            return run_in_blocks(
                functools.partial(self._run, **options),
                states,
                sequence,
                skipped,
                self.output_size,
                last_only,
            )

    def _prepare(self, inputs, masks):
        with WeightsOfStep(may_draw=True):
            return self.given(_dropped(inputs, masks))

    @property
    def _outputs_more(self):
        """Whether the output is anything but the first state."""
        return type(self).read_out is not RecurrentCell.read_out

    def _run(
        self, states, sequence, skipped=None, *, training, last_only, zoneout
    ):
        """Runs over a sequence whose products are computed at once."""
        of_inputs, of_states = self.masks(sequence, states, training)
        given = self._prepare(sequence, of_inputs)
        repeats = skipped is not None and self._outputs_more
        every = len(states) if self._outputs_more else 1
        if last_only and not repeats:
            every = 0
        after, last = run_loop(
            self.step,
            given,
            states,
            self.compute_dtype,
            of_states,
            skipped,
            zoneout,
            training,
            every,
        )
        if not every:
            sequence = sequence[-1:]
            after = [ops.expand_dims(state, 0) for state in last]
        with WeightsOfStep():
            outputs = self.read_out(after, wide(sequence))
        return running.repeated(outputs, skipped) if repeats else outputs, last


def _listed(masks):
    """Returns a list of masks; Keras returns a single one as it is."""
    return masks if isinstance(masks, list) else [masks]


def _dropped(inputs, masks):
    """Returns the inputs after dropout, for each mask, if there are several."""
    dropped = [inputs * ops.cast(mask, inputs.dtype) for mask in masks]
    return dropped if len(dropped) > 1 else (dropped or [inputs])[0]


def _bare(leaf):
    return value_of(leaf) if isinstance(leaf, Fixed) else leaf
