"""Recurrent highway networks."""

import functools
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.layers.through_time.loop import run_loop
from kerasrnn.layers.through_time.products import wide
from kerasrnn.layers.through_time.rhn import RHNLoop
from kerasrnn.typing import Activation
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


@keras.saving.register_keras_serializable("kerasrnn")
class RHNCell(RecurrentCell):
    """A recurrent highway network cell (Zilly et al. 2017).

    A time step is a highway network of `depth` micro-steps. With `s_0` the
    previous state, for l = 1..depth:

        h_l = tanh([l=1] x W_h + s_{l-1} R_h^l + b_h^l)
        t_l = sigmoid([l=1] x W_t + s_{l-1} R_t^l + b_t^l)
        s_l = h_l * t_l + s_{l-1} * c_l         c_l = 1 - t_l, when coupled

    Output and state are the last `s_l`; the input enters only at l = 1.

    Args:
        units: Positive integer, width of the state.
        depth: Positive integer, number of micro-steps in a time step.
        couple_carry: Whether the carry gate is `1 - t_l`; otherwise it is a
            third gate with its own weights.
        activation: Activation of `h_l`.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of `W`.
        recurrent_initializer: Initializer of `R`, with another seed for each
            `l`.
        bias_initializer: Initializer of `b_h`. By default this and the two
            above are uniform in ±0.04, as in the authors' code.
        transform_bias: Float, initial value of `b_t`. If it is negative, the
            cell first carries most of the state: -2 in the authors' code for
            the Penn Treebank, -4 for characters. The bias of a separate carry
            gate starts at the opposite value.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of the state
            where it enters a matrix product. Both masks are the same at every
            step, for every `l` and for all gates; what the highway carries
            is not dropped.
        layer_norm: Whether each gate's products are normalized over its
            units before the bias is added.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[s]` of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps.

    Raises:
        ValueError: when `units` or `depth` is not a positive integer, or a
            rate is not in `[0, 1)`.

    Example:

    >>> cell = RHNCell(8, depth=3)
    >>> keras.layers.RNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        [Zilly et al., 2017](https://arxiv.org/abs/1607.03474). The variational
        dropout is that of
        [Gal & Ghahramani, 2016](https://arxiv.org/abs/1512.05287), layer
        normalization that of
        [Ba et al., 2016](https://arxiv.org/abs/1607.06450).
    """

    def __init__(
        self,
        units: int,
        depth: int = 1,
        couple_carry: bool = True,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = None,
        recurrent_initializer: Initializer = None,
        bias_initializer: Initializer = None,
        transform_bias: float = -2.0,
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
        self.depth = positive_integer("depth", depth)
        self.couple_carry = couple_carry
        self.activation = keras.activations.get(activation)
        self.recurrent_activation = keras.activations.get(recurrent_activation)
        self.kernel_initializer = _uniform(kernel_initializer)
        self.recurrent_initializer = _uniform(recurrent_initializer)
        self.bias_initializer = _uniform(bias_initializer)
        self.transform_bias = transform_bias
        self.output_size = self.units
        self.state_widths = [self.units]

    def build(self, input_shape: Shape) -> None:
        gates = 2 if self.couple_carry else 3
        width = gates * self.units
        self.kernel = self.add_kernel(
            "kernel", (input_shape[-1], width), self.kernel_initializer
        )
        self.recurrent_kernel = self.add_kernels(
            "recurrent_kernel",
            self.depth,
            (self.units, width),
            self.recurrent_initializer,
        )
        self.bias = self.add_kernel(
            "bias", (self.depth, width), self._initial_bias
        )
        self.gains = self.add_gains("gains", self.depth, gates, self.units)

    def _initial_bias(self, shape, dtype=None):
        shape = (self.depth, self.units)
        biases = [
            self.bias_initializer(shape, dtype=dtype),
            ops.full(shape, self.transform_bias, dtype),
        ]
        if not self.couple_carry:
            biases.append(ops.full(shape, -self.transform_bias, dtype))
        return ops.concatenate(biases, axis=-1)

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        (state,) = keras.tree.flatten(states)
        inputs = self.drop_input(inputs, training)
        for layer in range(self.depth):
            products = self.product(
                self.drop_state(state, training), self.recurrent_kernel[layer]
            )
            if layer == 0:
                products += self.product(inputs, self.kernel)
            gains = None if self.gains is None else self.gains[layer]
            gates = self.preactivation(products, self.bias[layer], gains)
            h, t, *c = ops.split(gates, gates.shape[-1] // self.units, axis=-1)
            h = self.activation(h)
            t = self.recurrent_activation(t)
            c = self.recurrent_activation(c[0]) if c else 1 - t
            state = h * t + state * c
        return state, keras.tree.pack_sequence_as(states, [state])

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
            states: `[s]` of shape `(batch, units)`, in float32 or wider.
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
            "kernel": [
                ops.cast(kernel, self.compute_dtype)
                for kernel in self.recurrent_kernel
            ],
            "gates": [{"bias": bias} for bias in ops.unstack(wide(self.bias))],
        }
        if self.layer_norm:
            gains = ops.unstack(wide(self.gains))
            for gates, each in zip(weights["gates"], gains, strict=True):
                gates["gains"] = each
        state_mask = self.loop_state_mask(states, training)
        loop = functools.partial(RHNLoop, state_mask=state_mask)
        (outputs,) = run_loop(
            loop, products, tuple(states), weights, mask, zoneout
        )
        return outputs, [outputs[-1]]

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "units": self.units,
            "depth": self.depth,
            "couple_carry": self.couple_carry,
            "activation": keras.activations.serialize(self.activation),
            "recurrent_activation": keras.activations.serialize(
                self.recurrent_activation
            ),
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
            "recurrent_initializer": keras.initializers.serialize(
                self.recurrent_initializer
            ),
            "bias_initializer": keras.initializers.serialize(
                self.bias_initializer
            ),
            "transform_bias": self.transform_bias,
        }


@keras.saving.register_keras_serializable("kerasrnn")
class RHN(CellLayer):
    """A fast recurrent highway network layer.

    It computes what `keras.layers.RNN(RHNCell(...))` does, gradients
    included, at a fraction of the cost: the products with the input are
    computed for all steps at once, and so is the gradient of each weight.
    Under `mixed_bfloat16` the products are in bfloat16 and the state stays in
    float32. With `unroll` or activations other than the defaults it uses the
    loop of `keras.layers.RNN`.

    Args:
        units: Positive integer, width of the state.
        depth: Positive integer, number of micro-steps in a time step.
        couple_carry: Whether the carry gate is `1 - t_l`; otherwise it is a
            third gate with its own weights.
        activation: Activation of `h_l`.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of the input's kernel.
        recurrent_initializer: Initializer of the recurrent kernels.
        bias_initializer: Initializer of `b_h`.
        transform_bias: Float, initial value of `b_t`.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of the state
            where it enters a matrix product.
        layer_norm: Whether each gate's products are normalized over its
            units before the bias is added.
        seed: Optional integer, seed of dropout.
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
        initial_state: Optional `[s]` of shape `(batch, units)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last state.

    Masking: a masked step leaves the state as it is and repeats the output
    before it, or gives 0 with `zero_output_for_mask`.

    Raises:
        ValueError: as for `RHNCell`.

    Example:

    >>> RHN(8, depth=3, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Zilly et al., 2017](https://arxiv.org/abs/1607.03474).
    """

    cell_class = RHNCell

    def __init__(
        self,
        units: int,
        depth: int = 1,
        couple_carry: bool = True,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = None,
        recurrent_initializer: Initializer = None,
        bias_initializer: Initializer = None,
        transform_bias: float = -2.0,
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
            RHNCell(
                units,
                depth=depth,
                couple_carry=couple_carry,
                activation=activation,
                recurrent_activation=recurrent_activation,
                kernel_initializer=kernel_initializer,
                recurrent_initializer=recurrent_initializer,
                bias_initializer=bias_initializer,
                transform_bias=transform_bias,
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


def _uniform(initializer):
    if initializer is None:
        return keras.initializers.RandomUniform(-0.04, 0.04)
    return keras.initializers.get(initializer)
