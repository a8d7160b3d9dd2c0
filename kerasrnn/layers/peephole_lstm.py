"""The LSTM with peephole connections."""

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.recurrent_cell import RecurrentCell


@keras.saving.register_keras_serializable("kerasrnn")
class PeepholeLSTMCell(RecurrentCell):
    """A cell of the LSTM whose gates see the cell state (Graves 2013).

        i  = sigmoid(x W_i + h U_i + p_i * c + b_i)
        f  = sigmoid(x W_f + h U_f + p_f * c + b_f)
        c' = f * c + i * tanh(x W_c + h U_c + b_c)
        o  = sigmoid(x W_o + h U_o + p_o * c' + b_o)
        h' = o * tanh(c')

    Input and forget gate see the cell state of the step before, the output
    gate that of this step, each through one weight a unit. Kernels hold the
    gates in the order `i, f, c, o`, as `keras.layers.LSTMCell` does.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `U`.
        bias_initializer: Initializer of `b`. This and the two above default
            to those of `keras.layers.LSTMCell`.
        peephole_initializer: Initializer of `p`: zeros, so that the cell
            starts out as an LSTM; the paper names none.
        unit_forget_bias: Whether 1 is added to `b_f` at the start (Jozefowicz
            et al. 2015).
        dropout: Float in `[0, 1)`, rate of the dropout of the input.
        recurrent_dropout: Float in `[0, 1)`, rate of the dropout of `h`
            where it enters a product. Both masks are the same at every step.
        zoneout: Float in `[0, 1)`, rate of zoneout on `h`.
        layer_norm: Whether each gate's products are normalized over its
            units, before peephole and bias are added.
        seed: Optional integer, seed of dropout and zoneout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h, c]`, each of shape `(batch, units)`, with zoneout and its
            clock.
        training: Whether to behave as in training (dropout, zoneout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps.

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
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        peephole_initializer="zeros",
        unit_forget_bias=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
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

    def build(self, input_shape):
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

    def call(self, inputs, states, training=False):
        previous, c, *clock = keras.tree.flatten(states)
        inputs = self.drop_input(inputs, training)
        h = self.drop_state(previous, training)
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
        h, clock = self.zone_out(h, previous, clock, training)
        return h, keras.tree.pack_sequence_as(states, [h, c, *clock])

    def get_config(self):
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
