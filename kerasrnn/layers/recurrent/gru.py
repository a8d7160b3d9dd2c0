"""Keras's GRU, computed for a whole sequence at once."""

import functools
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.keras_cells import Constraint
from kerasrnn.layers.recurrent.keras_cells import FastKerasCell
from kerasrnn.layers.recurrent.keras_cells import Regularizer
from kerasrnn.layers.through_time.gru import GRULoop
from kerasrnn.layers.through_time.loop import run_loop
from kerasrnn.layers.through_time.normalization import GateNorm
from kerasrnn.layers.through_time.products import wide
from kerasrnn.typing import Activation
from kerasrnn.typing import Initializer
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


@keras.saving.register_keras_serializable("kerasrnn")
class FastGRUCell(FastKerasCell, keras.layers.GRUCell):
    """`keras.layers.GRUCell`, which can process a whole sequence at once.

        z, r = sigmoid(x W + h R + b)
        g = tanh(x W_g + r * (h R_g + c_g) + b_g)
        h = z * h + (1 - z) * g

    Weights, states and results are those of Keras's cell. With `layer_norm`
    the products of each gate are normalized over its units (Ba et al. 2016),
    each gate with its own gains:

        z, r = sigmoid(LN(x W + h R) + b)
        g = tanh(LN(x W_g + r * (h R_g + c_g)) + b_g)

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `R`.
        bias_initializer: Initializer of the biases.
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
        reset_after: Whether the reset gate comes after the product, as above.
        seed: Optional integer, seed of dropout.
        layer_norm: Whether each gate's products are normalized over its
            units before the bias is added.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h]`, of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Masking: `FastRNN` and `keras.layers.RNN` skip masked steps.

    Raises:
        ValueError: when `layer_norm` is given with `reset_after=False`.

    Example:

    >>> cell = FastGRUCell(8)
    >>> cell(np.ones((2, 4)), [np.zeros((2, 8))])[0].shape
    (2, 8)

    References:
        [Cho et al., 2014](https://arxiv.org/abs/1406.1078),
        [Ba et al., 2016](https://arxiv.org/abs/1607.06450).
    """

    num_gates = 3

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
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
        reset_after: bool = True,
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
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            reset_after=reset_after,
            seed=seed,
            **kwargs,
        )
        if layer_norm and not reset_after:
            raise ValueError(
                "`layer_norm` expects `reset_after=True`. Received: "
                f"layer_norm={layer_norm!r}, reset_after={reset_after!r}"
            )
        self.layer_norm = layer_norm

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        if not self.layer_norm:
            return super().call(inputs, states, training=training)
        h = wide(*keras.tree.flatten(states))
        of_input, of_state = self.masks(inputs, h, training)
        x = self.products(inputs, self.kernel, of_input)
        recurrent = self.products(h, self.recurrent_kernel, of_state)
        _, recalled_bias = self._biases()
        gates, candidate = self._norms()
        split = 2 * self.units
        gates, _ = GateNorm(**gates).forward(
            x[:, :split] + recurrent[:, :split]
        )
        z, r = ops.split(self.recurrent_activation(gates), 2, axis=-1)
        g = x[:, split:] + r * (recurrent[:, split:] + recalled_bias)
        g, _ = GateNorm(**candidate).forward(g)
        h = ops.cast(z * h + (1 - z) * self.activation(g), self.compute_dtype)
        return h, keras.tree.pack_sequence_as(states, [h])

    def _biases(self):
        """Returns the biases of `z, r, g`, and `c_g`."""
        if not self.use_bias:
            zeros = wide(ops.zeros((3 * self.units,), self.variable_dtype))
            return zeros, zeros[: self.units]
        of_input, of_state = ops.unstack(wide(self.bias))
        split = 2 * self.units
        gates = of_input[:split] + of_state[:split]
        return ops.concatenate([gates, of_input[split:]]), of_state[split:]

    def _norms(self):
        """Returns the arguments of `bias_or_norm` for `z, r` and for `g`."""
        if not self.layer_norm:
            return {}, {}
        split = 2 * self.units
        bias, _ = self._biases()
        gains = wide(self.gains)
        return (
            {"bias": bias[:split], "gains": gains[:2]},
            {"bias": bias[split:], "gains": gains[2:]},
        )

    @property
    def can_run_at_once(self) -> bool:
        return self.reset_after and self.has_default_activations

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
            states: `[h]`, of shape `(batch, units)`, in float32 or wider.
            mask: Optional tensor of shape `(time, batch, 1)`, 1 where a step
                counts and 0 where it is skipped.
            training: Whether to apply dropout.
            zoneout: What each state keeps of the step before, see `run_loop`.

        Returns:
            The outputs of shape `(time, batch, units)`, and the last states.
        """
        of_input, of_state = self.masks(sequence[0], states[0], training)
        products = self.products(sequence, self.kernel, of_input)
        bias, recalled_bias = self._biases()
        if not self.layer_norm:
            products += bias
        gates, candidate = self._norms()
        weights = {
            "kernel": ops.cast(self.recurrent_kernel, self.compute_dtype),
            "recalled_bias": recalled_bias,
            "gates": gates,
            "candidate": candidate,
        }
        loop = functools.partial(GRULoop, state_mask=of_state)
        (outputs,) = run_loop(
            loop, products, tuple(states), weights, mask, zoneout
        )
        return outputs, [outputs[-1]]


@keras.saving.register_keras_serializable("kerasrnn")
class FastGRU(CellLayer):
    """Computes what `keras.layers.GRU` does, faster on a CPU.

    The products with the input are computed for all steps at once, and so is
    the gradient of each weight; layer normalization is that of `FastGRUCell`.
    Under `mixed_bfloat16` the products are in bfloat16 and the state stays in
    float32. With `reset_after=False`, `unroll` or activations other than the
    defaults it uses the loop of `keras.layers.RNN`.

    Args:
        units: Positive integer, width of the state.
        activation: Activation of `g`.
        recurrent_activation: Activation of the gates.
        use_bias: Whether there are biases.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `R`.
        bias_initializer: Initializer of the biases.
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
        reset_after: Whether the reset gate comes after the product, as in
            `FastGRUCell`.
        seed: Optional integer, seed of dropout.
        layer_norm: Whether each gate's products are normalized over its
            units before the bias is added.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last state as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the last state of the one
            before.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional `[h]`, of shape `(batch, units)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last state.

    Masking: a masked step leaves the state as it is and repeats the output
    before it, or gives 0 with `zero_output_for_mask`.

    Raises:
        ValueError: as for `FastGRUCell`.

    Example:

    >>> FastGRU(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Cho et al., 2014](https://arxiv.org/abs/1406.1078).
    """

    cell_class = FastGRUCell

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        use_bias: bool = True,
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
        reset_after: bool = True,
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
            FastGRUCell(
                units,
                activation=activation,
                recurrent_activation=recurrent_activation,
                use_bias=use_bias,
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
                reset_after=reset_after,
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
