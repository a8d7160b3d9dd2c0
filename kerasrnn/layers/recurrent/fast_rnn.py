"""Layers that run a recurrent cell over a sequence."""

from typing import Any
from typing import Self
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import check_mask
from kerasrnn.arguments import check_sequences
from kerasrnn.layers import _backend
from kerasrnn.layers.loop import cells
from kerasrnn.layers.precision import wide
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.saving import constructor_parameters
from kerasrnn.tensors import where_unmasked
from kerasrnn.typing import Config
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class FastRNN(KeepsQuantization, keras.layers.RNN):
    """Runs a recurrent cell over a sequence, fast if the cell supports it.

    It computes the same as `keras.layers.RNN(cell)`, gradients included, for
    any Keras cell. A `RecurrentCell`, such as the cells of this package, runs
    fast: the products with the input are one matrix product over all steps, and
    so is the gradient of each weight. The cells of `StackedRNNCells` run one
    after the other. Any other cell runs step by step, as every cell does with
    `unroll=True`. `slow_because` says whether and why a cell runs step by step.
    A step must not change variables, except for the states of random
    generators.

    A cell whose class defines

        run(sequence, states, mask=None, training=False) -> (outputs, states)

    processes the whole sequence in one call. `run` gets a sequence
    `(time, batch, input_dim)` in the compute dtype, a flat list of states in
    float32 or wider, and a mask of floats `(time, batch, 1)` or `None`, 0 where
    a step leaves the states as they are and repeats the output before it. It
    returns outputs `(time, batch, output_size)` and the list of the last
    states, of any floating dtype. `FastRNN` takes care of `go_backwards`,
    `zero_output_for_mask` and output dtypes. The rest is optional:

    * an argument `last_only=False`: if it is true, `run` may return only the
      last output, as a sequence of one step;
    * a property `slow_because`: why `run` does not support the options of the
      cell, or `None` if it does.

    Args:
        cell: A recurrent cell, or a list of cells to stack.
        return_sequences: Whether to return the outputs of all steps, not
            only the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first. The
            outputs are in the order of computation.
        stateful: Whether each batch starts from the final states of the
            previous one.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0
            instead of the previous output.
        **kwargs: Base layer arguments, such as `name` and `dtype` (by
            default that of `cell`).

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional initial states, with the structure of
            `cell.state_size` or as a flat list.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, output_size)` with
        `return_sequences`, otherwise the last one, `(batch, output_size)`; with
        `return_state`, followed by the final states.

    Masking: a masked step keeps the states and repeats the previous output, or
    returns 0 with `zero_output_for_mask`. Before the first unmasked step the
    output is 0. Masked inputs may be NaN.

    Raises:
        ValueError: when `cell` is not a recurrent cell, a sequence has no steps
            or is ragged, a mask has another length, or the initial states do
            not fit the cell.

    Example:

    >>> layer = FastRNN(RHNCell(8, depth=3), return_sequences=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 8)
    >>> FastRNN(keras.layers.LSTMCell(8))(np.ones((2, 5, 4))).shape
    (2, 8)
    """

    def __init__(
        self,
        cell: keras.layers.Layer | list[keras.layers.Layer],
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        owner = type(self).__name__
        if isinstance(cell, (list, tuple)) and cell:
            for inner in cell:
                cells.check_cell(inner, owner)
            cell = keras.layers.StackedRNNCells(
                cell, dtype=cell[0].dtype_policy
            )
        super().__init__(
            cell,
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            zero_output_for_mask=zero_output_for_mask,
            **cells.options_of(cell, owner, kwargs),
        )
        # From Keras 3.16 on, its recurrent layers no longer set this.
        self.supports_masking = True
        self.supports_jit = getattr(cell, "supports_jit", True)

    @property
    def slow_because(self) -> str | None:
        """Why the cell runs step by step; `None` if it runs fast."""
        if self.unroll:
            return "with `unroll=True`, all steps run one after another"
        return cells.slow_because(self.cell)

    def call(
        self,
        sequences: Tensor,
        initial_state: Any = None,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> Any:
        check_sequences(sequences)
        if self.stateful and self.states is not None:
            # TensorFlow's loop needs the batch size, and an export does not
            # provide it.
            batch_size = keras.tree.flatten(self.states)[0].shape[0]
            sequences, mask = (
                x
                if x is None or x.shape[0] is not None
                else ops.reshape(x, (batch_size, *ops.shape(x)[1:]))
                for x in (sequences, mask)
            )
        return super().call(sequences, initial_state, mask, training)

    def carry_on(
        self,
        sequences: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs from given states and returns the final states unrounded.

        A call rounds states to the compute dtype. In half precision, a state
        that changes little per chunk would then never change.

        Args:
            sequences: Tensor of shape `(batch, time, input_dim)`.
            states: List of states, with the structure of `cell.state_size`.
            mask: Optional boolean tensor of shape `(batch, time)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The outputs, as a call with `return_sequences` returns them, and the
            final states, in float32 or wider.
        """
        check_sequences(sequences)
        sequences = ops.cast(sequences, self.compute_dtype)
        _, outputs, states = self.inner_loop(sequences, states, mask, training)
        cells.reset_dropout_masks(self.cell)
        return ops.cast(outputs, self.compute_dtype), list(states)

    def inner_loop(
        self,
        sequences: Tensor,
        initial_state: States,
        mask: Tensor | None,
        training: bool = False,
    ) -> tuple[Tensor, Tensor, States]:
        if mask is not None:
            mask = ops.cast(mask, "bool")
            if len(mask.shape) == 3:
                mask = ops.any(mask, axis=-1)
            check_mask("mask", mask, sequences)
            # NaN times a gradient of 0 would be NaN.
            sequences = where_unmasked(mask, sequences)
        states = keras.tree.map_structure(
            wide,
            cells.nested_initial(self.cell, initial_state, sequences.shape[0]),
        )
        if training:
            # Outside of any loop, because drawing changes a variable.
            cells.draw_dropout_masks(self.cell, sequences[:, 0])
        sequence = ops.swapaxes(sequences, 0, 1)
        if mask is not None:
            mask = ops.cast(
                ops.swapaxes(mask, 0, 1), keras.tree.flatten(states)[0].dtype
            )
            mask = ops.expand_dims(mask, -1)
        if self.go_backwards:
            sequence = ops.flip(sequence, axis=0)
            mask = None if mask is None else ops.flip(mask, axis=0)
        outputs, states = cells.run(
            self.cell,
            sequence,
            states,
            mask,
            training,
            last_only=not self.return_sequences,
            unroll=self.unroll,
        )
        if mask is not None:
            # Keras's loop on TensorFlow returns 0 before the first unmasked
            # step, or at every masked one.
            if not self.zero_output_for_mask:
                mask = ops.cumsum(mask, axis=0)
            # `outputs` may be the last output alone.
            mask = mask[-ops.shape(outputs)[0] :, :, 0] > 0
            outputs = where_unmasked(mask, outputs)
        return outputs[-1], ops.swapaxes(outputs, 0, 1), states

    def _maybe_config_dropout_masks(self, cell, first, states):
        """Does nothing: `inner_loop` draws the masks, in training only.

        Keras would also draw masks in inference, which changes a variable. An
        exported model would then write to a variable, and LiteRT could not
        convert it.
        """

    def compute_output_shape(
        self, sequences_shape: Shape, initial_state_shape: Any = None
    ) -> Any:
        batch_size, time, *_ = sequences_shape
        _, *output = cells.shape_of(cells.output_size(self.cell), batch_size)
        output = (batch_size, *[time] * self.return_sequences, *output)
        if not self.return_state:
            return output
        return output, *cells.map_sizes(
            lambda size: cells.shape_of(size, batch_size), self.cell
        )

    def reset_state(self) -> None:
        """Resets a stateful layer to the initial states of its cell."""
        if self.states is None:
            return
        variables = keras.tree.flatten(self.states)
        for variable, value in zip(
            variables,
            keras.tree.flatten(self.get_initial_state(variables[0].shape[0])),
            strict=True,
        ):
            variable.assign(value)


class CellLayer(FastRNN):
    """Base class of layers that create their cell, like `keras.layers.LSTM`.

    A subclass sets `cell_class`. Its constructor has the arguments of that cell
    and those of `FastRNN`, and calls `super().__init__(locals())`. Each
    argument becomes an attribute.

    Args:
        arguments: The local variables of the subclass's constructor, so that no
            argument is forgotten.
    """

    cell_class: type[keras.layers.Layer]

    def __init__(self, arguments: dict[str, Any]) -> None:
        given = {
            name: value
            for name, value in {**arguments, **arguments["kwargs"]}.items()
            if name not in ("self", "kwargs", "__class__")
        }
        of_cell = {
            name: given.pop(name)
            for name in constructor_parameters(self.cell_class)
            if name in given
        }
        super().__init__(
            self.cell_class(**of_cell, dtype=given.get("dtype")), **given
        )
        # Checked before the cell is built with the width of another axis.
        self.input_spec = keras.layers.InputSpec(ndim=3)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "cell_class"):
            return
        for name in constructor_parameters(cls.cell_class):
            if not hasattr(cls, name):
                setattr(cls, name, _argument_of_the_cell(name))

    def get_config(self) -> Config:
        config = super().get_config()
        del config["cell"]
        return {**self.cell.get_config(), **config}

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        return cls(**config)


class KerasCellLayer(CellLayer):
    """Base class of layers that Keras also has, with the same weights.

    It calls Keras's own layer where that is faster:

    * on PyTorch, whose loops run in Python, unless steps are masked;
    * in training with TensorFlow on a GPU, where Keras's layer calls cuDNN. Not
      in inference, because a model exported with cuDNN would not run on a CPU.
      Not on JAX, where our loop was faster than Keras's LSTM on an H200;
    * in TensorFlow's eager mode.

    Keras's layer is not used for states in float32, layer normalization or
    recurrent dropout, which only ours have.

    A subclass sets `keras_class`, and `keras_arguments`, the names of the
    arguments that both have.
    """

    keras_class: type[keras.layers.RNN]
    keras_arguments: tuple[str, ...]
    _of_keras: Any = None

    def __init__(self, arguments: dict[str, Any]) -> None:
        super().__init__(arguments)
        if self._is_as_in_keras() and self._has_cudnn():
            # XLA does not compile TensorFlow's cuDNN calls.
            self.supports_jit = False

    def _is_as_in_keras(self):
        cell = self.cell
        ours = cell.layer_norm or cell.recurrent_dropout or self.unroll
        return self.compute_dtype == "float32" and not ours

    def _has_cudnn(self):
        return (
            keras.backend.backend() == "tensorflow"
            and _backend.on_gpu()
            and self.activation is keras.activations.tanh
            and self.recurrent_activation is keras.activations.sigmoid
            and self.use_bias
            and getattr(self, "reset_after", True)
        )

    def _keras_is_faster(self, mask, training):
        if mask is not None or not self._is_as_in_keras():
            return False
        return (
            keras.backend.backend() == "torch"
            or _backend.is_eager()
            or (training and self._has_cudnn())
        )

    def inner_loop(
        self,
        sequences: Tensor,
        initial_state: States,
        mask: Tensor | None,
        training: bool = False,
    ) -> tuple[Tensor, Tensor, States]:
        if not self._keras_is_faster(mask, training):
            return super().inner_loop(sequences, initial_state, mask, training)
        states = cells.nested_initial(
            self.cell, initial_state, sequences.shape[0]
        )
        dropout, _ = self.cell.masks(sequences[:, 0], [], training)
        if dropout is not None:
            sequences = sequences * ops.expand_dims(dropout, 1)
        if self._of_keras is None:
            layer = self.keras_class(
                **{name: getattr(self, name) for name in self.keras_arguments},
                return_sequences=self.return_sequences,
                go_backwards=self.go_backwards,
                dtype=self.dtype_policy,
            )
            layer.cell.kernel = self.cell.kernel
            layer.cell.recurrent_kernel = self.cell.recurrent_kernel
            layer.cell.bias = self.cell.bias
            layer.cell.built = True
            # A method, because Keras would track and save a layer.
            self._of_keras = layer.inner_loop
        return self._of_keras(sequences, states, None, training)


def _argument_of_the_cell(name):
    def get(self) -> Any:
        return getattr(self.cell, name)

    return property(get, doc=f"The argument `{name}` of the cell.")
