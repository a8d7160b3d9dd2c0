"""The LSTM with peephole connections."""

import functools
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.layers.through_time.loop import run_loop
from kerasrnn.layers.through_time.peephole_lstm import PeepholeLSTMLoop
from kerasrnn.layers.through_time.products import wide
from kerasrnn.typing import Activation
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


@keras.saving.register_keras_serializable("kerasrnn")
class PeepholeLSTMCell(RecurrentCell):
    """An LSTM cell whose gates see the cell state (Graves 2013).

        i = sigmoid(x W_i + h U_i + p_i * c + b_i)
        f = sigmoid(x W_f + h U_f + p_f * c + b_f)
        c' = f * c + i * tanh(x W_c + h U_c + b_c)
        o = sigmoid(x W_o + h U_o + p_o * c' + b_o)
        h' = o * tanh(c')

    The input and forget gates see the previous cell state, the output gate
    sees the new one, each through one weight per unit. Kernels hold the gates
    in the order `i, f, c, o`, as in `keras.layers.LSTMCell`.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `U`.
        bias_initializer: Initializer of `b`. This and the two above default
            to those of `keras.layers.LSTMCell`.
        peephole_initializer: Initializer of `p`. By default zeros, so that
            the cell starts out as an LSTM; the paper names none.
        unit_forget_bias: Whether 1 is added to `b_f` at the start (Jozefowicz
            et al. 2015).
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of `h` where it
            enters a matrix product. Both masks are the same at every step.
        layer_norm: Whether each gate's products are normalized over its
            units, before peephole and bias are added.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h, c]`, each of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Masking: `FastRNN` and `keras.layers.RNN` skip masked steps.

    Raises:
        ValueError: when `units` is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = PeepholeLSTMCell(8)
    >>> keras.layers.RNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        [Graves, 2013](https://arxiv.org/abs/1308.0850), equations 7 to 11;
        [Jozefowicz et al., 2015](https://proceedings.mlr.press/v37/jozefowicz15.html).
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "glorot_uniform",
        recurrent_initializer: Initializer = "orthogonal",
        bias_initializer: Initializer = "zeros",
        peephole_initializer: Initializer = "zeros",
        unit_forget_bias: bool = True,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        layer_norm: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            layer_norm=layer_norm,
            seed=seed,
            **kwargs,
        )
        self.units = positive_integer("units", units)
        self.activation = keras.activations.get(activation)
        self.recurrent_activation = keras.activations.get(recurrent_activation)
        get = keras.initializers.get
        self.kernel_initializer = get(kernel_initializer)
        self.recurrent_initializer = get(recurrent_initializer)
        self.bias_initializer = get(bias_initializer)
        self.peephole_initializer = get(peephole_initializer)
        self.unit_forget_bias = unit_forget_bias
        self.output_size = self.units
        self.state_widths = [self.units] * 2

    def build(self, input_shape: Shape) -> None:
        width = 4 * self.units
        self.kernel = self.add_kernel(
            "kernel", (input_shape[-1], width), self.kernel_initializer
        )
        self.recurrent_kernel = self.add_kernel(
            "recurrent_kernel", (self.units, width), self.recurrent_initializer
        )
        self.bias = self.add_kernel("bias", (width,), self._initial_bias)
        self.peepholes = self.add_kernel(
            "peepholes", (3, self.units), self.peephole_initializer
        )
        self.gains = self.add_gains("gains", 4, self.units)

    def _initial_bias(self, shape, dtype=None):
        bias = self.bias_initializer(shape, dtype=dtype)
        if not self.unit_forget_bias:
            return bias
        i, f, c, o = ops.split(bias, 4)
        return ops.concatenate([i, f + 1, c, o])

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        h, c = keras.tree.flatten(states)
        inputs = self.drop_input(inputs, training)
        h = self.drop_state(h, training)
        products = self.product(inputs, self.kernel)
        products += self.product(h, self.recurrent_kernel)
        gates = self.preactivation(products, self.bias, self.gains)
        i, f, candidate, o = ops.split(gates, 4, axis=-1)
        p_i, p_f, p_o = ops.unstack(ops.cast(self.peepholes, c.dtype))
        i = self.recurrent_activation(i + p_i * c)
        f = self.recurrent_activation(f + p_f * c)
        c = f * c + i * self.activation(candidate)
        o = self.recurrent_activation(o + p_o * c)
        h = o * self.activation(c)
        return h, keras.tree.pack_sequence_as(states, [h, c])

    @property
    def can_run_at_once(self) -> bool:
        return (
            self.activation is keras.activations.tanh
            and self.recurrent_activation is keras.activations.sigmoid
        )

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        zoneout: Zoneout = None,
    ) -> tuple[Tensor, States]:
        """Runs over a whole sequence; see `FastRNN` and `ZoneoutCell`.

        Args:
            sequence: Tensor of shape `(time, batch, input_dim)`.
            states: `[h, c]`, each of shape `(batch, units)`, in float32 or
                wider.
            mask: Optional tensor of shape `(time, batch, 1)`, 1 where a step
                counts and 0 where it is skipped.
            training: Whether to apply dropout.
            zoneout: What each state keeps of the step before, see `run_loop`.

        Returns:
            The outputs of shape `(time, batch, units)`, and the last states.
        """
        sequence = self.drop_input(sequence, training)
        products = wide(self.product(sequence, self.kernel))
        weights = {
            "kernel": ops.cast(self.recurrent_kernel, self.compute_dtype),
            "peepholes": wide(self.peepholes),
            "gates": {},
        }
        bias = wide(self.bias)
        if self.layer_norm:
            weights["gates"] = {"bias": bias, "gains": wide(self.gains)}
        else:
            products += bias
        state_mask = self.loop_state_mask(states, training)
        loop = functools.partial(PeepholeLSTMLoop, state_mask=state_mask)
        outputs, carry = run_loop(
            loop, products, tuple(states), weights, mask, zoneout
        )
        return outputs, [outputs[-1], carry]

    def get_config(self) -> Config:
        serialize = keras.initializers.serialize
        return {
            **super().get_config(),
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "recurrent_activation": keras.activations.serialize(
                self.recurrent_activation
            ),
            "kernel_initializer": serialize(self.kernel_initializer),
            "recurrent_initializer": serialize(self.recurrent_initializer),
            "bias_initializer": serialize(self.bias_initializer),
            "peephole_initializer": serialize(self.peephole_initializer),
            "unit_forget_bias": self.unit_forget_bias,
        }


@keras.saving.register_keras_serializable("kerasrnn")
class PeepholeLSTM(CellLayer):
    """A fast LSTM layer with peephole connections.

    It computes what `keras.layers.RNN(PeepholeLSTMCell(...))` does, gradients
    included. The products with the input are computed for all steps at once,
    and so is the gradient of each weight. Under `mixed_bfloat16` the products
    are in bfloat16 and the states stay in float32. With `unroll` or
    activations other than the defaults it uses the loop of `keras.layers.RNN`.

    Args:
        units: Positive integer, width of the states.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `U`.
        bias_initializer: Initializer of `b`.
        peephole_initializer: Initializer of `p`.
        unit_forget_bias: Whether 1 is added to `b_f` at the start.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of `h` where it
            enters a matrix product.
        layer_norm: Whether each gate's products are normalized over its
            units, before peephole and bias are added.
        seed: Optional integer, seed of dropout.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the last states of the one
            before.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional `[h, c]`, each of shape `(batch, units)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last states.

    Masking: a masked step leaves the states as they are and repeats the
    output before it, or gives 0 with `zero_output_for_mask`.

    Raises:
        ValueError: as for `PeepholeLSTMCell`.

    Example:

    >>> PeepholeLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Graves, 2013](https://arxiv.org/abs/1308.0850).
    """

    cell_class = PeepholeLSTMCell

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "glorot_uniform",
        recurrent_initializer: Initializer = "orthogonal",
        bias_initializer: Initializer = "zeros",
        peephole_initializer: Initializer = "zeros",
        unit_forget_bias: bool = True,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        layer_norm: bool = False,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            PeepholeLSTMCell(
                units,
                activation=activation,
                recurrent_activation=recurrent_activation,
                kernel_initializer=kernel_initializer,
                recurrent_initializer=recurrent_initializer,
                bias_initializer=bias_initializer,
                peephole_initializer=peephole_initializer,
                unit_forget_bias=unit_forget_bias,
                dropout=dropout,
                recurrent_dropout=recurrent_dropout,
                layer_norm=layer_norm,
                seed=seed,
                dtype=kwargs.get("dtype"),
            ),
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            zero_output_for_mask=zero_output_for_mask,
            **kwargs,
        )
