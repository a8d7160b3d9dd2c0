"""Keras's LSTM, computed for a whole sequence at once."""

import functools
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.keras_cells import Constraint
from kerasrnn.layers.recurrent.keras_cells import FastKerasCell
from kerasrnn.layers.recurrent.keras_cells import Regularizer
from kerasrnn.layers.through_time.loop import run_loop
from kerasrnn.layers.through_time.lstm import LSTMLoop
from kerasrnn.layers.through_time.normalization import GateNorm
from kerasrnn.layers.through_time.products import wide
from kerasrnn.typing import Activation
from kerasrnn.typing import Initializer
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTMCell(FastKerasCell, keras.layers.LSTMCell):
    """`keras.layers.LSTMCell`, which can process a whole sequence at once.

        i, f, o = sigmoid(x W + h R + b)    g = tanh(x W_g + h R_g + b_g)
        c = f * c + i * g                   h = o * tanh(c)

    Weights, states and results are those of Keras's cell. With `layer_norm`
    the products of each gate are normalized over its units (Ba et al. 2016),
    each gate with its own gains:

        i, f, o = sigmoid(LN(x W + h R) + b)
        g = tanh(LN(x W_g + h R_g) + b_g)

    `LayerNormLSTMCell` of TensorFlow Addons normalizes `x W` and `h R`
    separately, each over all four gates together and with a bias, and also
    normalizes `c`.

    Args:
        units: Positive integer, width of the states.
        activation: Activation of `g` and of `c`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `R`.
        bias_initializer: Initializer of the biases.
        unit_forget_bias: Whether `b_f` starts at 1 (Jozefowicz et al. 2015).
        kernel_regularizer: Regularizer of `W`.
        recurrent_regularizer: Regularizer of `R`.
        bias_regularizer: Regularizer of the biases.
        kernel_constraint: Constraint on `W`.
        recurrent_constraint: Constraint on `R`.
        bias_constraint: Constraint on the biases.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of `h` where it
            enters a matrix product. All masks are the same at every step. As in
            Keras, with this rate each gate has masks of its own, of input and
            `h`; without it, all gates share one mask of the input.
        seed: Optional integer, seed of dropout.
        layer_norm: Whether each gate's products are normalized over its
            units before the bias is added.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h, c]`, each of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Masking: `FastRNN` and `keras.layers.RNN` skip masked steps.

    Example:

    >>> cell = FastLSTMCell(8)
    >>> x, zeros = np.ones((2, 4)), np.zeros((2, 8))
    >>> cell(x, [zeros, zeros])[0].shape
    (2, 8)

    References:
        [Hochreiter & Schmidhuber, 1997](https://doi.org/10.1162/neco.1997.9.8.1735),
        [Ba et al., 2016](https://arxiv.org/abs/1607.06450).
    """

    num_gates = 4

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Initializer = "glorot_uniform",
        recurrent_initializer: Initializer = "orthogonal",
        bias_initializer: Initializer = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Regularizer = None,
        recurrent_regularizer: Regularizer = None,
        bias_regularizer: Regularizer = None,
        kernel_constraint: Constraint = None,
        recurrent_constraint: Constraint = None,
        bias_constraint: Constraint = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        layer_norm: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            seed=seed,
            **kwargs,
        )
        self.layer_norm = layer_norm

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        if not self.layer_norm:
            return super().call(inputs, states, training=training)
        h, c = states
        of_input, of_state = self.masks(inputs, h, training)
        products = self.products(inputs, self.kernel, of_input)
        products += self.products(h, self.recurrent_kernel, of_state)
        gates, _ = GateNorm(**self._norm()).forward(products)
        gates = ops.cast(gates, self.compute_dtype)
        i, f, g, o = ops.split(gates, 4, axis=-1)
        i, f, o = map(self.recurrent_activation, (i, f, o))
        c = f * c + i * self.activation(g)
        h = o * self.activation(c)
        return h, [h, c]

    def _norm(self):
        """Returns the arguments of `bias_or_norm`."""
        bias = self.bias
        if bias is None:
            bias = ops.zeros((4 * self.units,), self.variable_dtype)
        return {"gains": wide(self.gains), "bias": wide(bias)}

    @property
    def can_run_at_once(self) -> bool:
        return self.has_default_activations

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
        of_input, of_state = self.masks(sequence[0], states[0], training)
        products = self.products(sequence, self.kernel, of_input)
        kernel = ops.cast(self.recurrent_kernel, self.compute_dtype)
        weights = {"kernel": kernel, "gates": {}}
        if self.layer_norm:
            weights["gates"] = self._norm()
        elif self.use_bias:
            products += wide(self.bias)
        loop = functools.partial(LSTMLoop, state_mask=of_state)
        outputs, carry = run_loop(
            loop, products, tuple(states), weights, mask, zoneout
        )
        return outputs, [outputs[-1], carry]


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTM(CellLayer):
    """Computes what `keras.layers.LSTM` does, in about half the time on a CPU.

    The products with the input are computed for all steps at once, and so is
    the gradient of each weight; layer normalization is that of `FastLSTMCell`.
    Under `mixed_bfloat16` the products are in bfloat16 and the states stay in
    float32. With `unroll` or activations other than the defaults it uses the
    loop of `keras.layers.RNN`.

    Args:
        units: Positive integer, width of the states.
        activation: Activation of `g` and of `c`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `R`.
        bias_initializer: Initializer of the biases.
        unit_forget_bias: Whether `b_f` starts at 1 (Jozefowicz et al. 2015).
        kernel_regularizer: Regularizer of `W`.
        recurrent_regularizer: Regularizer of `R`.
        bias_regularizer: Regularizer of the biases.
        kernel_constraint: Constraint on `W`.
        recurrent_constraint: Constraint on `R`.
        bias_constraint: Constraint on the biases.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of `h` where it
            enters a matrix product. All masks are the same at every step. As in
            Keras, with this rate each gate has masks of its own, of input and
            `h`; without it, all gates share one mask of the input.
        seed: Optional integer, seed of dropout.
        layer_norm: Whether each gate's products are normalized over its
            units before the bias is added.
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

    Example:

    >>> FastLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Hochreiter & Schmidhuber, 1997](https://doi.org/10.1162/neco.1997.9.8.1735).
    """

    cell_class = FastLSTMCell

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Initializer = "glorot_uniform",
        recurrent_initializer: Initializer = "orthogonal",
        bias_initializer: Initializer = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Regularizer = None,
        recurrent_regularizer: Regularizer = None,
        bias_regularizer: Regularizer = None,
        kernel_constraint: Constraint = None,
        recurrent_constraint: Constraint = None,
        bias_constraint: Constraint = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        layer_norm: bool = False,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            FastLSTMCell(
                units,
                activation=activation,
                recurrent_activation=recurrent_activation,
                use_bias=use_bias,
                kernel_initializer=kernel_initializer,
                recurrent_initializer=recurrent_initializer,
                bias_initializer=bias_initializer,
                unit_forget_bias=unit_forget_bias,
                kernel_regularizer=kernel_regularizer,
                recurrent_regularizer=recurrent_regularizer,
                bias_regularizer=bias_regularizer,
                kernel_constraint=kernel_constraint,
                recurrent_constraint=recurrent_constraint,
                bias_constraint=bias_constraint,
                dropout=dropout,
                recurrent_dropout=recurrent_dropout,
                seed=seed,
                layer_norm=layer_norm,
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
