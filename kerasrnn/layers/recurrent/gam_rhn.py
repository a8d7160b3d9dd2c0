"""Recurrent highway networks with a grouped auxiliary memory."""

from typing import Any
from typing import Literal

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.grouped_memory_cell import GroupedMemoryCell
from kerasrnn.layers.through_time.gam_rhn import GAMRHNLoop
from kerasrnn.layers.through_time.products import join
from kerasrnn.layers.through_time.products import wide
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


@keras.saving.register_keras_serializable("kerasrnn")
class GAMRHNCell(GroupedMemoryCell):
    """A recurrent highway cell with a grouped auxiliary memory.

    Each step writes once to the memory `m` of N groups of S slots, as `GAMCell`
    does, with head `k_1`. Then, with `s_0` the previous state, for l = 1..depth
    it reads a vector `v_l` from the memory and makes a micro-step with it (Luo
    & Yu 2019):

        k_l = W_k^l s_{l-1}                                for l > 1
        v_l = sum_S softmax_S(W_a^l k_l + b_a^l) * m       N values
        r_l = sigmoid(W_r^l [v_l; s_{l-1}] + b_r^l)
        z_l = sigmoid(W_z^l [v_l; s_{l-1}] + b_z^l)
        h_l = tanh(W_h^l [v_l; r_l * s_{l-1}] + b_h^l)
        s_l = z_l * s_{l-1} + (1 - z_l) * h_l

    With `inner="highway"` the micro-step is that of `RHNCell`, coupled:

        h_l = tanh(W_h^l [v_l; s_{l-1}] + b_h^l)
        t_l = sigmoid(W_t^l [v_l; s_{l-1}] + b_t^l)
        s_l = h_l * t_l + s_{l-1} * (1 - t_l)

    Output and state are the last `s_l`. The input acts only through the memory:
    it is written there, and decides through `k_1` where the first micro-step
    reads.

    Args:
        units: Positive integer, width of the state.
        depth: Positive integer, number of micro-steps in a time step.
        num_groups: Positive integer N, groups of the memory.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the heads `k_l`.
        inner: `"gru"`, the published micro-step, or `"highway"`.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        bias_initializer: Initializer of the biases: zeros, as there.
        transform_bias: Float, initial value of `b_t` of `"highway"`; -2, as in
            `RHNCell`.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of the state
            where it enters a matrix product. Both masks are the same at every
            step, for every `l` and for all gates; what the highway carries
            is not dropped. The authors drop the candidates instead, with a new
            mask at each step.
        layer_norm: Whether the products of each gate and candidate are
            normalized over their units before the bias is added.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[s, m]` of shapes `(batch, units)` and
            `(batch, num_groups * group_size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps.

    Raises:
        ValueError: when a size is not a positive integer, `inner` is
            unknown, or a rate is not in `[0, 1)`.

    Example:

    >>> cell = GAMRHNCell(8, 2, num_groups=6, group_size=3, head_units=4)
    >>> keras.layers.RNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    def __init__(
        self,
        units: int,
        depth: int,
        num_groups: int,
        group_size: int,
        head_units: int,
        inner: Literal["gru", "highway"] = "gru",
        kernel_initializer: Initializer = "glorot_normal",
        bias_initializer: Initializer = "zeros",
        transform_bias: float = -2.0,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        layer_norm: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            positive_integer("units", units),
            num_groups,
            group_size,
            head_units,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            layer_norm=layer_norm,
            seed=seed,
            **kwargs,
        )
        self.depth = positive_integer("depth", depth)
        if inner not in ("gru", "highway"):
            raise ValueError(
                f"`inner` must be 'gru' or 'highway'. Received: inner={inner!r}"
            )
        self.inner = inner
        self.transform_bias = transform_bias

    def build(self, input_shape: Shape) -> None:
        units, depth = self.units, self.depth
        self.build_memory(input_shape[-1], num_reads=depth)

        def kernels(name, depth, *shape):
            return self.add_kernels(name, depth, shape, self.kernel_initializer)

        self.next_head_kernel = kernels(
            "next_head_kernel", depth - 1, units, self.head_units
        )
        # r and z of the inner step "gru", h and t of "highway".
        width = self.num_groups + units
        self.gate_kernel = kernels("gate_kernel", depth, width, 2 * units)
        self.gate_bias = self.add_kernel(
            "gate_bias", (depth, 2 * units), self._initial_bias
        )
        self.gate_gains = self.add_gains("gate_gains", depth, 2, units)
        if self.inner == "gru":
            self.state_kernel = kernels("state_kernel", depth, width, units)
            self.state_bias = self.add_bias("state_bias", (depth, units))
            self.state_gains = self.add_gains("state_gains", depth, 1, units)

    def _initial_bias(self, shape, dtype=None):
        bias = self.bias_initializer(shape, dtype=dtype)
        if self.inner == "gru":
            return bias
        transform = ops.full(
            (self.depth, self.units), self.transform_bias, dtype
        )
        return ops.concatenate([bias[:, : self.units], transform], axis=-1)

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        state, memory = keras.tree.flatten(states)
        inputs = self.drop_input(inputs, training)
        dropped = self.drop_state(state, training)
        head, memory = self.write(inputs, dropped, memory)
        for layer in range(self.depth):
            if layer > 0:
                dropped = self.drop_state(state, training)
                head = self.product(dropped, self.next_head_kernel[layer - 1])
            read = self.read(head, memory, layer)
            state = self.micro_step(read, state, dropped, layer)
        return state, keras.tree.pack_sequence_as(states, [state, memory])

    def micro_step(
        self, read: Tensor, state: Tensor, dropped: Tensor, layer: int
    ) -> Tensor:
        """Returns `s_l`, from `v_l` and `s_{l-1}`.

        Args:
            read: `v_l`, of shape `(batch, num_groups)`.
            state: `s_{l-1}`, of shape `(batch, units)`.
            dropped: `s_{l-1}` after dropout, as it enters products.
            layer: Integer, `l - 1`.
        """

        def gates(name, state):
            joined = ops.concatenate([read, state], axis=-1)
            gains = getattr(self, f"{name}_gains")
            return self.preactivation(
                self.product(joined, getattr(self, f"{name}_kernel")[layer]),
                getattr(self, f"{name}_bias")[layer],
                None if gains is None else gains[layer],
            )

        if self.inner == "gru":
            r, z = ops.split(ops.sigmoid(gates("gate", dropped)), 2, axis=-1)
            h = ops.tanh(gates("state", r * dropped))
            return z * state + (1 - z) * h
        h, t = ops.split(gates("gate", dropped), 2, axis=-1)
        h, t = ops.tanh(h), ops.sigmoid(t)
        return h * t + state * (1 - t)

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        zoneout: Zoneout = None,
    ) -> tuple[Tensor, States]:
        """Runs over a sequence `(time, batch, input_dim)`; see `FastRNN`."""
        return self.run_memory_loop(
            GAMRHNLoop, sequence, states, mask, training, zoneout
        )

    def loop_weights(self, input_dim: int) -> dict[str, Any]:
        """Adds the kernels of the micro-steps; see `GroupedMemoryCell`.

        Kernels are joined that multiply the same vector: the one that was
        read, or the state.
        """
        weights = super().loop_weights(input_dim)

        def halves(kernels):
            """Splits kernels into those of the read vector and of the state."""
            return zip(
                *(self.cast_rows(k, self.num_groups) for k in kernels),
                strict=True,
            )

        reads, states = halves(self.gate_kernel)
        by_layer, biases = [reads], [self.gate_bias]
        if self.inner == "gru":
            reads, weights["state"] = map(list, halves(self.state_kernel))
            by_layer.append(reads)
            biases.append(self.state_bias)
        weights["from_read"] = list(map(join, *by_layer))
        weights["bias"] = wide(join(*biases))
        # In the first micro-step head and reset gate are those of the write.
        heads = [join(weights.pop("head"), weights.pop("reset"))]
        heads += map(self.cast, self.next_head_kernel)
        weights["from_state"] = list(map(join, heads, states))
        return weights

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "units": self.units,
            "depth": self.depth,
            "inner": self.inner,
            "transform_bias": self.transform_bias,
        }


@keras.saving.register_keras_serializable("kerasrnn")
class GAMRHN(CellLayer):
    """A fast recurrent highway network layer with grouped auxiliary memory.

    It computes what `keras.layers.RNN(GAMRHNCell(...))` does, gradients
    included, at a fraction of the cost; see `RHN` for how. With `layer_norm`
    or `unroll` it uses the loop of `keras.layers.RNN`.

    Args:
        units: Positive integer, width of the state.
        depth: Positive integer, number of micro-steps in a time step.
        num_groups: Positive integer, groups of the memory.
        group_size: Positive integer, slots in a group.
        head_units: Positive integer, width of the heads.
        inner: `"gru"`, the published micro-step, or `"highway"`.
        kernel_initializer: Initializer of each kernel.
        bias_initializer: Initializer of the biases.
        transform_bias: Float, initial value of `b_t` of `"highway"`.
        dropout: Float in `[0, 1)`, dropout rate of the input.
        recurrent_dropout: Float in `[0, 1)`, dropout rate of the state
            where it enters a matrix product.
        layer_norm: Whether the products of each gate and candidate are
            normalized over their units before the bias is added.
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
        initial_state: Optional `[s, m]`, of shapes `(batch, units)` and
            `(batch, num_groups * group_size)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one; with `return_state` followed by the last `s`
        and `m`.

    Masking: a masked step leaves the states as they are and repeats the
    output before it, or gives 0 with `zero_output_for_mask`.

    Raises:
        ValueError: as for `GAMRHNCell`.

    Example:

    >>> layer = GAMRHN(8, 2, 6, 3, 4, return_sequences=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, IEEE Access 7.
    """

    cell_class = GAMRHNCell

    def __init__(
        self,
        units: int,
        depth: int,
        num_groups: int,
        group_size: int,
        head_units: int,
        inner: Literal["gru", "highway"] = "gru",
        kernel_initializer: Initializer = "glorot_normal",
        bias_initializer: Initializer = "zeros",
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
            GAMRHNCell(
                units,
                depth,
                num_groups,
                group_size,
                head_units,
                inner=inner,
                kernel_initializer=kernel_initializer,
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
