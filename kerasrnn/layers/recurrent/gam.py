"""Grouped auxiliary memory, alone and in a recurrent highway network."""

import contextvars
from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.arguments import one_of
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Kernel
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import join
from kerasrnn.layers.loop.products import rows_of
from kerasrnn.layers.loop.products import split_at
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.layers.softmax import masked_softmax
from kerasrnn.typing import Activation
from kerasrnn.typing import Constraint
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Regularizer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor

_EPSILON = 1e-6  # A head may be zero, as that of zeros in the first step.
# The cell whose memory is ordered slot by slot during the current run.
_BY_SLOT: contextvars.ContextVar[Any] = contextvars.ContextVar(
    "by_slot", default=None
)


class GroupedMemoryCell(RecurrentCell):
    """Base class of the cells with a grouped auxiliary memory.

    Each step writes and reads a memory of `num_groups` groups of `group_size`
    slots. The memory is a flat state: group i has the indices `i * group_size`
    to `(i + 1) * group_size - 1`.

    While a whole sequence is processed, the memory is ordered slot by slot
    instead, because softmax and sums over the slots of a group are then faster.
    For a single step, reordering the kernels would not pay off.
    """

    def __init__(
        self,
        units: int,
        num_groups: int,
        group_size: int,
        head_units: int,
        head_norm: bool = False,
        kernel_initializer: Initializer = "glorot_normal",
        recurrent_initializer: Initializer = "glorot_normal",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            **kwargs,
        )
        self.num_groups = positive_integer("num_groups", num_groups)
        self.group_size = positive_integer("group_size", group_size)
        self.head_units = positive_integer("head_units", head_units)
        self.head_norm = head_norm
        self.units = self.output_size = units
        self.state_size = [units, self.num_groups * self.group_size]

    def build_memory(self, input_dim: int, num_reads: int) -> None:
        """Adds the weights of one write and of `num_reads` reads."""
        width = input_dim + self.units
        slots = self.num_groups * self.group_size
        self.head_kernel = self.add_kernel(
            (width, self.head_units), "head_kernel"
        )
        self.write_kernel = self.add_kernel(
            (self.head_units, slots), "write_kernel"
        )
        self.reset_kernel = self.add_kernel((width, self.units), "reset_kernel")
        self.reset_bias = self.add_bias((self.units,), "reset_bias")
        self.candidate_kernel = self.add_kernel(
            (width, self.num_groups), "candidate_kernel"
        )
        self.candidate_bias = self.add_bias(
            (self.num_groups,), "candidate_bias"
        )
        self.read_kernel = [
            self.add_kernel((self.head_units, slots), f"read_kernel_{read}")
            for read in range(num_reads)
        ]
        self.read_bias = self.add_bias((num_reads, slots), "read_bias")
        self.reset_gains = self.optional_gains((1, self.units), "reset_gains")
        self.candidate_gains = self.optional_gains(
            (1, self.num_groups), "candidate_gains"
        )

    def given(self, inputs: Tensor) -> Nest:
        """Returns the input's part of the write, and the kernels it needs.

        Args:
            inputs: Tensor of shape `(..., batch, input_dim)`.
        """
        slots_first = _BY_SLOT.get() is self
        # The rows of the kernels are those of [x; s].
        of_x, of_s = zip(
            *(
                ops.split(kernel, [inputs.shape[-1]], axis=0)
                for kernel in (
                    self.head_kernel,
                    self.reset_kernel,
                    self.candidate_kernel,
                )
            ),
            strict=True,
        )
        head, reset, candidate = split_at(
            self.project(inputs, list(map(Kernel, of_x))),
            self.head_units,
            self.units,
        )
        kernels = [self.write_kernel, *self.read_kernel]
        biases = rows_of(self.read_bias)
        if slots_first:
            kernels = [self.by_slot(kernel) for kernel in kernels]
            biases = [self.by_slot(bias) for bias in biases]
        write, *reads = map(Kernel, kernels)
        return {
            "slot_axis": 1 if slots_first else 2,
            "head": head,
            "reset": self.with_bias(reset, self.reset_bias),
            "candidate": self.with_bias(candidate, self.candidate_bias),
            "of_s": list(map(Kernel, of_s[:2])),
            "candidate_of_s": Kernel(of_s[2]),
            "write": write,
            "reads": list(zip(reads, map(Fixed, biases), strict=True)),
        }

    def write(
        self,
        products: Tensor,
        s: Tensor,
        memory: Tensor,
        given: Nest,
        product: Product,
    ) -> tuple[Tensor, Tensor]:
        """Writes, once per step; returns the head and the new memory.

            k = W_k [x; s]
            a = softmax_S(W_a k)
            r = sigmoid(W_r [x; s] + b_r)
            c = tanh(W_m [x; r * s] + b_m)
            m' = (1 - a) * m + a * c

        `softmax_S` is over the S slots of each group. All slots of a group
        share the group's candidate `c`.

        Args:
            products: The products of `s` with the kernels `given["of_s"]`, of
                shape `(batch, head_units + units)`.
            s: Tensor of shape `(batch, units)`.
            memory: Tensor of shape `(batch, num_groups * group_size)`.
            given: What `given` returned, for this step.
            product: The function that `step` gets.
        """
        k, r = split_at(products, self.head_units)
        k, r = k + given["head"], r + given["reset"]
        a = self.address(k, [given["write"]], given, product)
        r = self.recurrent_activation(
            self.normalize(r, self.reset_gains, self.reset_bias)
        )
        c = product(
            r * s, given["candidate_of_s"], given["candidate"], drop=True
        )
        c = self.normalize(c, self.candidate_gains, self.candidate_bias)
        c = ops.expand_dims(self.activation(c), given["slot_axis"])
        m = ops.reshape(memory, ops.shape(a))
        m = m + a * (c - m)  # (1 - a) m + a c
        return k, ops.reshape(m, ops.shape(memory))

    def read(
        self,
        head: Tensor,
        memory: Tensor,
        index: int,
        given: Nest,
        product: Product,
    ) -> Tensor:
        """Reads a vector of shape `(batch, num_groups)`.

            sum_S softmax_S(W_a' k + b_a') * m

        Args:
            head: `k_l`, of shape `(batch, head_units)`.
            memory: As in `write`.
            index: Integer, the number of the read: `l - 1`.
            given: What `given` returned, for this step.
            product: The function that `step` gets.
        """
        a = self.address(head, given["reads"][index], given, product)
        m = ops.reshape(memory, ops.shape(a))
        return ops.sum(a * m, axis=given["slot_axis"])

    def address(
        self,
        head: Tensor,
        weights: Sequence[Any],
        given: Nest,
        product: Product,
    ) -> Tensor:
        """Returns a softmax over the slots of each group.

        Args:
            head: `k`, of shape `(batch, head_units)`.
            weights: The kernel and, for a read, the bias.
            given: What `given` returned, for this step.
            product: The function that `step` gets.
        """
        if self.head_norm:
            head = ops.rms_normalization(head, epsilon=_EPSILON)
        scores, axis = product(head, *weights), given["slot_axis"]
        sizes = self.num_groups, self.group_size
        sizes = sizes if axis == 2 else sizes[::-1]
        return masked_softmax(ops.reshape(scores, (-1, *sizes)), axis=axis)

    def by_slot(self, x: Tensor) -> Tensor:
        """Reorders the last axis from group by group to slot by slot."""
        return self._reordered(x, self.num_groups, self.group_size)

    def _reordered(self, x, first, second):
        shape = ops.shape(x)
        x = ops.reshape(x, (*shape[:-1], first, second))
        return ops.reshape(ops.swapaxes(x, -1, -2), shape)

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        last_only: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a whole sequence; see `RecurrentCell`.

        During the run the memory is ordered slot by slot, which makes the sums
        over slots faster.
        """
        state, memory = states
        states = [state, self.by_slot(memory)]
        token = _BY_SLOT.set(self)
        try:
            outputs, (state, memory) = super().run(
                sequence, states, mask, training, last_only
            )
        finally:
            _BY_SLOT.reset(token)
        memory = self._reordered(memory, self.group_size, self.num_groups)
        return outputs, [state, memory]


@keras.saving.register_keras_serializable("kerasrnn")
class GAMCell(GroupedMemoryCell):
    """A grouped auxiliary memory as a cell (Luo & Yu 2019).

    The memory `m` has N groups of S slots. Each step writes to it and then
    reads it. `s` is the vector that the previous step read, and softmax_S is
    over the slots of each group:

        k = W_k [x; s]                                         the head
        a = softmax_S(W_a k)
        r = sigmoid(W_r [x; s] + b_r)
        c = tanh(W_m [x; r * s] + b_m)                         N candidates
        m = (1 - a) * m + a * (c, repeated for the S slots)
        s = sum_S softmax_S(W_a' k + b_a') * m                 the output

    `W_k`, `W_a`, `W_r`, `W_m` and `W_a'` are `head_kernel`, `write_kernel`,
    `reset_kernel`, `candidate_kernel` and `read_kernel[0]`. `W_k`, `W_r` and
    `W_m` have the rows of x first, then those of s. The state `m` is flat,
    group by group. With `layer_norm` the pre-activations of `r` and `c` are
    normalized.

    Args:
        num_groups: Positive integer N, also the width of the output.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the head `k`.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        recurrent_initializer: Has no effect, because every kernel also reads
            the input. The same holds for `recurrent_regularizer` and
            `recurrent_constraint`.
        bias_initializer: Initializer of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        head_norm: Whether to divide each head by its root mean square. It keeps
            the addresses from saturating at high learning rates. The paper does
            not normalize heads.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[s, m]` of shapes `(batch, num_groups)` and
            `(batch, num_groups * group_size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, num_groups)`, and the new states.

    Raises:
        ValueError: when a size is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = GAMCell(num_groups=8, group_size=3, head_units=4)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    def __init__(
        self,
        num_groups: int,
        group_size: int,
        head_units: int,
        *,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "glorot_normal",
        recurrent_initializer: Initializer = "glorot_normal",
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
        head_norm: bool = False,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            units=num_groups,
            num_groups=num_groups,
            group_size=group_size,
            head_units=head_units,
            activation=activation,
            recurrent_activation=recurrent_activation,
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
            layer_norm=layer_norm,
            head_norm=head_norm,
            seed=seed,
            **kwargs,
        )

    def build(self, input_shape: Shape) -> None:
        self.build_memory(input_shape[-1], num_reads=1)

    def step(self, states: States, given: Nest, product: Product) -> States:
        s, memory = states
        k, memory = self.write(
            product(s, given["of_s"], drop=True), s, memory, given, product
        )
        return [self.read(k, memory, 0, given, product), memory]


@keras.saving.register_keras_serializable("kerasrnn")
class GAM(CellLayer):
    """A grouped auxiliary memory layer.

    Args:
        num_groups: Positive integer N, also the width of the output.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the head `k`.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        recurrent_initializer: Has no effect, because every kernel also reads
            the input. The same holds for `recurrent_regularizer` and
            `recurrent_constraint`.
        bias_initializer: Initializer of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        head_norm: Whether to divide each head by its root mean square. It keeps
            the addresses from saturating at high learning rates. The paper does
            not normalize heads.
        seed: Optional integer, seed of dropout.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the final states of the
            previous one.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0 instead
            of the previous output.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of initial states of the cell, each of
            shape `(batch, width)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, num_groups)` with
        `return_sequences`, otherwise the last one, `(batch, num_groups)`; with
        `return_state` followed by the last states.

    Masking: a masked step keeps the states and repeats the previous output, or
    returns 0 with `zero_output_for_mask`.

    Example:

    >>> layer = GAM(8, group_size=3, head_units=4, return_sequences=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    cell_class = GAMCell

    def __init__(
        self,
        num_groups: int,
        group_size: int,
        head_units: int,
        *,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "glorot_normal",
        recurrent_initializer: Initializer = "glorot_normal",
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
        head_norm: bool = False,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(locals())


@keras.saving.register_keras_serializable("kerasrnn")
class GAMRHNCell(GroupedMemoryCell):
    """A recurrent highway cell with a grouped auxiliary memory.

    Each step first writes to the memory `m` of N groups of S slots, as
    `GAMCell` does, with the previous state `s_0` as its `s`. Then, for l =
    1..depth, it reads a vector `v_l` from the memory and makes a micro-step
    with it (Luo & Yu 2019):

        k_1 = W_k [x; s_0]                                 the write's head
        k_l = W_k^l s_{l-1}                                for l > 1
        v_l = sum_S softmax_S(W_a'^l k_l + b_a'^l) * m     N values
        r_l = sigmoid(W_r^l [v_l; s_{l-1}] + b_r^l)
        z_l = sigmoid(W_z^l [v_l; s_{l-1}] + b_z^l)
        h_l = tanh(W_h^l [v_l; r_l * s_{l-1}] + b_h^l)
        s_l = z_l * s_{l-1} + (1 - z_l) * h_l

    With `inner="highway"` the micro-step is that of `RHNCell`, coupled:

        h_l = tanh(W_h^l [v_l; s_{l-1}] + b_h^l)
        t_l = sigmoid(W_t^l [v_l; s_{l-1}] + b_t^l)
        s_l = h_l * t_l + s_{l-1} * (1 - t_l)

    `W_k^l` is `next_head_kernel[l - 2]`, and `W_a'^l` is `read_kernel[l - 1]`.
    `gate_kernel[l - 1]` has the columns of r and z, or of h and t.
    `state_kernel[l - 1]` is the `W_h^l` of `"gru"`. Both have the rows of v
    first, then those of s.

    Output and state are the last `s_l`. The input acts only through the memory:
    it is written there and, through `k_1`, decides where the first micro-step
    reads. Recurrent dropout applies to the state where it enters a matrix
    product, with the same mask for every `l` and all gates, but not to the
    highway connection. (The authors drop the candidates instead, with a new
    mask at each step.) With `layer_norm` the pre-activations of each gate and
    candidate are normalized.

    Args:
        units: Positive integer, width of the state.
        depth: Positive integer, number of micro-steps in a time step.
        num_groups: Positive integer N, groups of the memory.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the heads `k_l`.
        inner: Update rule of a micro-step: `"gru"`, as in the paper, or
            `"highway"`, as in an RHN.
        transform_bias: Float, initial value of `b_t` of `"highway"`. The
            default is that of `RHNCell`.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        recurrent_initializer: Initializer of `W_k^l` for the second and later
            micro-steps.
        bias_initializer: Initializer of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        head_norm: Whether to divide each head by its root mean square. It keeps
            the addresses from saturating at high learning rates. The paper does
            not normalize heads.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[s, m]` of shapes `(batch, units)` and
            `(batch, num_groups * group_size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Raises:
        ValueError: when a size is not a positive integer, `inner` is
            unknown, or a rate is not in `[0, 1)`.

    Example:

    >>> cell = GAMRHNCell(8, 2, num_groups=6, group_size=3, head_units=4)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
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
        *,
        transform_bias: float = -2.0,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "glorot_normal",
        recurrent_initializer: Initializer = "glorot_normal",
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
        head_norm: bool = False,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            positive_integer("units", units),
            num_groups,
            group_size,
            head_units,
            activation=activation,
            recurrent_activation=recurrent_activation,
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
            layer_norm=layer_norm,
            head_norm=head_norm,
            seed=seed,
            **kwargs,
        )
        self.depth = positive_integer("depth", depth)
        one_of("inner", inner, ("gru", "highway"))
        self.inner = inner
        self.transform_bias = number("transform_bias", transform_bias)

    def build(self, input_shape: Shape) -> None:
        units, depth = self.units, self.depth
        self.build_memory(input_shape[-1], num_reads=depth)
        self.next_head_kernel = [
            self.add_recurrent_kernel(
                (units, self.head_units), f"next_head_kernel_{layer}"
            )
            for layer in range(depth - 1)
        ]

        def kernels(name, width):
            shape = (self.num_groups + units, width)
            return [
                self.add_kernel(shape, f"{name}_{layer}")
                for layer in range(depth)
            ]

        # r and z of the micro-step "gru", h and t of "highway".
        self.gate_kernel = kernels("gate_kernel", 2 * units)
        self.gate_bias = self.add_bias(
            (depth, 2 * units), "gate_bias", self.initial_bias
        )
        self.gate_gains = self.optional_gains((depth, 2, units), "gate_gains")
        if self.inner == "gru":
            self.state_kernel = kernels("state_kernel", units)
            self.state_bias = self.add_bias((depth, units), "state_bias")
            self.state_gains = self.optional_gains(
                (depth, 1, units), "state_gains"
            )

    def initial_bias(self, shape: Shape, dtype: Any = None) -> Tensor:
        """Returns the biases of `r, z`, or of `h, t`."""
        bias = self.bias_initializer(shape, dtype=dtype)
        if self.inner == "gru":
            return bias
        shape = (self.depth, self.units)
        transform = ops.full(shape, self.transform_bias, dtype)
        return ops.concatenate([bias[:, : self.units], transform], axis=-1)

    def given(self, inputs: Tensor) -> Nest:
        kernels, biases = [self.gate_kernel], [self.gate_bias]
        if self.inner == "gru":
            kernels.append(self.state_kernel)
            biases.append(self.state_bias)
        micro_steps = []
        for layer, bias in enumerate(rows_of(join(biases))):
            # The rows of the kernels are those of [v; s].
            of_v, of_s = zip(
                *(
                    ops.split(kernel[layer], [self.num_groups], axis=0)
                    for kernel in kernels
                ),
                strict=True,
            )
            micro_steps.append(
                {
                    "of_v": list(map(Kernel, of_v)),
                    "of_s": list(map(Kernel, of_s)),
                    "bias": Fixed(bias),
                }
            )
        return {**super().given(inputs), "micro_steps": micro_steps}

    def step(self, states: States, given: Nest, product: Product) -> States:
        s, memory = states
        for layer, micro_step in enumerate(given["micro_steps"]):
            # One product for everything that depends on s_{l-1} alone.
            gate_kernel, *_ = micro_step["of_s"]
            if layer == 0:
                kernels = [*given["of_s"], gate_kernel]
                shared = product(s, kernels, drop=True)
                to_write, gates = split_at(shared, self.head_units + self.units)
                k, memory = self.write(to_write, s, memory, given, product)
            else:
                kernels = [self.next_head_kernel[layer - 1], gate_kernel]
                shared = product(s, kernels, drop=True)
                k, gates = split_at(shared, self.head_units)
            v = self.read(k, memory, layer, given, product)
            s = self.micro_step(v, s, gates, layer, micro_step, product)
        return [s, memory]

    def micro_step(
        self,
        v: Tensor,
        s: Tensor,
        gates: Tensor,
        layer: int,
        given: Nest,
        product: Product,
    ) -> Tensor:
        """Returns `s_l`, from `v_l` and `s_{l-1}`.

        Args:
            v: `v_l`, of shape `(batch, num_groups)`.
            s: `s_{l-1}`, of shape `(batch, units)`.
            gates: The products of `s_{l-1}` with the kernel of the gates, of
                shape `(batch, 2 * units)`.
            layer: Integer, `l - 1`.
            given: What `given` returned for this micro-step.
            product: The function that `step` gets.
        """
        added = None if self.layer_norm else given["bias"]
        # The gates, and the candidate of "gru". With "highway", `h` is empty.
        of_gates, h = split_at(product(v, given["of_v"], added), 2 * self.units)
        gates = gates + of_gates
        if self.layer_norm:
            bias, h_bias = split_at(given["bias"], 2 * self.units)
            gates = self.normalize(gates, self.gate_gains[layer], bias)
        if self.inner == "highway":
            h, t = ops.split(gates, 2, axis=-1)
            h, t = self.activation(h), self.recurrent_activation(t)
            return s + t * (h - s)  # h t + s (1 - t)
        r, z = ops.split(self.recurrent_activation(gates), 2, axis=-1)
        _, kernel = given["of_s"]
        h = product(r * s, kernel, h, drop=True)
        if self.layer_norm:
            h = self.normalize(h, self.state_gains[layer], h_bias)
        h = self.activation(h)
        return h + z * (s - h)  # z s + (1 - z) h


@keras.saving.register_keras_serializable("kerasrnn")
class GAMRHN(CellLayer):
    """A layer of recurrent highway cells with a grouped auxiliary memory.

    Args:
        units: Positive integer, width of the state.
        depth: Positive integer, number of micro-steps in a time step.
        num_groups: Positive integer N, groups of the memory.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the heads `k_l`.
        inner: Update rule of a micro-step: `"gru"`, as in the paper, or
            `"highway"`, as in an RHN.
        transform_bias: Float, initial value of `b_t` of `"highway"`. The
            default is that of `RHNCell`.
        activation: Activation of the candidate and of the output.
        recurrent_activation: Activation of the gates.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        recurrent_initializer: Initializer of `W_k^l` for the second and later
            micro-steps.
        bias_initializer: Initializer of the biases.
        kernel_regularizer, recurrent_regularizer, bias_regularizer:
            Regularizers of the same weights.
        kernel_constraint, recurrent_constraint, bias_constraint: Constraints on
            the same weights.
        dropout, recurrent_dropout: Floats in `[0, 1)`, dropout rates of the
            input, and of the state where it enters a matrix product. All steps
            of a batch share one mask (Gal & Ghahramani 2016).
        layer_norm: Whether to normalize the pre-activations of each gate over
            its units (Ba et al. 2016).
        head_norm: Whether to divide each head by its root mean square. It keeps
            the addresses from saturating at high learning rates. The paper does
            not normalize heads.
        seed: Optional integer, seed of dropout.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the final states of the
            previous one.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0 instead
            of the previous output.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of initial states of the cell, each of
            shape `(batch, width)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last states.

    Masking: a masked step keeps the states and repeats the previous output, or
    returns 0 with `zero_output_for_mask`.

    Example:

    >>> layer = GAMRHN(8, 2, num_groups=6, group_size=3, head_units=4)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
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
        *,
        transform_bias: float = -2.0,
        activation: Activation = "tanh",
        recurrent_activation: Activation = "sigmoid",
        kernel_initializer: Initializer = "glorot_normal",
        recurrent_initializer: Initializer = "glorot_normal",
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
        head_norm: bool = False,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(locals())
