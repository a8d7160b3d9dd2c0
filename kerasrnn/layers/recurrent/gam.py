"""Grouped auxiliary memory."""

import functools

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.recurrent.fast_rnn import CellLayer
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.layers.softmax import masked_softmax
from kerasrnn.layers.through_time.gam import GAMLoop
from kerasrnn.layers.through_time.loop import run_loop
from kerasrnn.layers.through_time.products import wide


class GroupedMemoryCell(RecurrentCell):
    """Base of the cells with a grouped auxiliary memory.

    It writes and reads a memory of `num_groups` groups of `group_size` slots,
    held as a flat state in which group i has the places `i * group_size` to
    `(i + 1) * group_size - 1`.
    """

    def __init__(
        self,
        units,
        num_groups,
        group_size,
        head_units,
        kernel_initializer="glorot_normal",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_groups = positive_integer("num_groups", num_groups)
        self.group_size = positive_integer("group_size", group_size)
        self.head_units = positive_integer("head_units", head_units)
        self.units = units
        self.output_size = units
        self.state_widths = [units, self.num_groups * self.group_size]
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)

    def add_bias(self, name, shape):
        return self.add_kernel(name, shape, self.bias_initializer)

    def build_memory(self, input_dim, num_reads):
        """Adds the weights of the write and of some reads of a step."""
        new = self.kernel_initializer
        width = input_dim + self.units
        places = self.num_groups * self.group_size
        self.head_kernel = self.add_kernel(
            "head_kernel", (width, self.head_units), new
        )
        self.write_kernel = self.add_kernel(
            "write_kernel", (self.head_units, places), new
        )
        self.reset_kernel = self.add_kernel(
            "reset_kernel", (width, self.units), new
        )
        self.reset_bias = self.add_bias("reset_bias", (self.units,))
        self.candidate_kernel = self.add_kernel(
            "candidate_kernel", (width, self.num_groups), new
        )
        self.candidate_bias = self.add_bias(
            "candidate_bias", (self.num_groups,)
        )
        self.read_kernel = self.add_kernels(
            "read_kernel",
            num_reads,
            (self.head_units, places),
            self.kernel_initializer,
        )
        self.read_bias = self.add_bias("read_bias", (num_reads, places))
        self.reset_gains = self.add_gains("reset_gains", 1, self.units)
        self.candidate_gains = self.add_gains(
            "candidate_gains", 1, self.num_groups
        )

    def address(self, head, kernel, bias=0.0):
        """Where to write or read: a softmax over the slots of each group."""
        scores = self.product(head, kernel)
        scores = scores + ops.cast(bias, scores.dtype)
        shape = (-1, self.num_groups, self.group_size)
        address = masked_softmax(ops.reshape(scores, shape))
        return ops.cast(address, self.compute_dtype)

    def write(self, inputs, state, memory):
        """Writes once a step.

        Args:
            inputs: Tensor of shape `(batch, input_dim)`.
            state: Tensor of shape `(batch, units)`, dropped if it is to be.
            memory: Tensor of shape `(batch, num_groups * group_size)`.

        Returns:
            The head of shape `(batch, head_units)`, and the new memory.
        """
        joined = ops.concatenate([inputs, state], axis=-1)
        head = self.product(joined, self.head_kernel)
        address = self.address(head, self.write_kernel)
        reset = ops.sigmoid(
            self.preactivation(
                self.product(joined, self.reset_kernel),
                self.reset_bias,
                self.reset_gains,
            )
        )
        joined = ops.concatenate([inputs, reset * state], axis=-1)
        candidate = ops.tanh(
            self.preactivation(
                self.product(joined, self.candidate_kernel),
                self.candidate_bias,
                self.candidate_gains,
            )
        )
        # (batch, groups, 1) against (batch, groups, slots)
        candidate = ops.expand_dims(candidate, -1)
        groups = ops.reshape(memory, ops.shape(address))
        groups = (1 - address) * groups + address * candidate
        return head, ops.reshape(groups, ops.shape(memory))

    def read(self, head, memory, index):
        """Reads a vector of shape `(batch, num_groups)`."""
        address = self.address(
            head, self.read_kernel[index], self.read_bias[index]
        )
        groups = ops.reshape(memory, ops.shape(address))
        return ops.sum(address * groups, axis=-1)

    @property
    def can_run_at_once(self):
        return not self.layer_norm

    def loop_weights(self, input_dim):
        """The weights of the write and the reads, as a loop takes them.

        Those of the input are left out: its products are taken before. What
        is told apart by slot lies slot by slot, `(slots, groups)`, where the
        softmax and the sums over the slots of a group are faster.
        """
        return {
            "head": self.cast_rows(self.head_kernel, input_dim)[1],
            "write": self.cast(self._by_slot(self.write_kernel)),
            "reset": self.cast_rows(self.reset_kernel, input_dim)[1],
            "candidate": self.cast_rows(self.candidate_kernel, input_dim)[1],
            "read": [self.cast(self._by_slot(k)) for k in self.read_kernel],
            "read_bias": wide(self._by_slot(self.read_bias)),
        }

    def cast(self, kernel):
        return ops.cast(kernel, self.compute_dtype)

    def cast_rows(self, kernel, count):
        """The first rows of a kernel and the others, in the compute dtype.

        The gradient of a split is one joined tensor, that of a slice a
        kernel of zeros with something in it.
        """
        return ops.split(self.cast(kernel), [count], axis=0)

    def _by_slot(self, x):
        # (..., groups * slots) -> (..., slots * groups)
        shape = (*x.shape[:-1], self.num_groups, self.group_size)
        x = ops.swapaxes(ops.reshape(x, shape), -1, -2)
        return ops.reshape(x, (*shape[:-2], -1))

    def memory_by_slot(self, memory):
        """`(..., groups * slots)` -> `(..., slots, groups)`."""
        *leading, _ = ops.shape(memory)
        shape = (*leading, self.num_groups, self.group_size)
        return ops.swapaxes(ops.reshape(memory, shape), -1, -2)

    def memory_by_group(self, memory):
        """`(batch, slots, groups)` -> `(batch, groups * slots)`."""
        memory = ops.swapaxes(memory, 1, 2)
        return ops.reshape(memory, (-1, self.num_groups * self.group_size))

    def input_products(self, sequence):
        """The input's share of the write, with its biases, for all steps.

        Args:
            sequence: Tensor of shape `(time, batch, input_dim)`.

        Returns:
            Tensor of shape `(time, batch, head_units + units + num_groups)`.
        """
        input_dim = sequence.shape[-1]
        kernels = [self.head_kernel, self.reset_kernel, self.candidate_kernel]
        kernel = ops.concatenate(
            [self.cast_rows(k, input_dim)[0] for k in kernels], axis=-1
        )
        products = wide(self.product(sequence, kernel))
        bias = ops.concatenate(
            [
                ops.zeros((self.head_units,), self.reset_bias.dtype),
                self.reset_bias,
                self.candidate_bias,
            ]
        )
        return products + ops.cast(bias, products.dtype)

    def run_memory_loop(self, loop, sequence, states, mask, training, zoneout):
        """Runs a `Loop` over a sequence; see `RHNCell.run`."""
        state, memory = states
        if zoneout is not None and hasattr(zoneout[1], "shape"):
            zoneout = [zoneout[0], self.memory_by_slot(zoneout[1])]
        sequence = self.drop_input(sequence, training)
        state_mask = self.loop_state_mask(states, training)
        outputs, memory = run_loop(
            functools.partial(loop, state_mask=state_mask),
            self.input_products(sequence),
            (state, self.memory_by_slot(memory)),
            self.loop_weights(sequence.shape[-1]),
            mask,
            zoneout,
        )
        return outputs, [outputs[-1], self.memory_by_group(memory)]

    def get_config(self):
        return {
            **super().get_config(),
            "num_groups": self.num_groups,
            "group_size": self.group_size,
            "head_units": self.head_units,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
            "bias_initializer": keras.initializers.serialize(
                self.bias_initializer
            ),
        }


@keras.saving.register_keras_serializable("kerasrnn")
class GAMCell(GroupedMemoryCell):
    """A cell of grouped auxiliary memory alone (Luo & Yu 2019).

    The memory `m` has N groups of S slots. A step writes to it and reads it,
    with `s` what the step before read; softmax_S is over the slots of each
    group:

        k  = W_k [x; s]                                         the head
        a  = softmax_S(W_a k)
        r  = sigmoid(W_r [x; s] + b_r)
        c  = tanh(W_m [x; r * s] + b_m)                         N candidates
        m  = (1 - a) * m + a * (c, repeated for the S slots)
        s  = sum_S softmax_S(W_a' k + b_a') * m                 the output

    Args:
        num_groups: Positive integer N, also the width of the output.
        group_size: Positive integer S, slots in a group.
        head_units: Positive integer, width of the head `k`.
        kernel_initializer: Initializer of each kernel: Glorot normal over
            the joined `[x; s]`, as in the authors' code.
        bias_initializer: Initializer of the biases.
        dropout: Float in `[0, 1)`, rate of the dropout of the input.
        recurrent_dropout: Float in `[0, 1)`, rate of the dropout of `s`
            where it enters a product. Both masks are the same at every step.
        layer_norm: Whether the products of `r` and of `c` are normalized
            over their units before the bias is added.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[s, m]` of shapes `(batch, num_groups)` and
            `(batch, num_groups * group_size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, num_groups)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps.

    Raises:
        ValueError: when a size is not a positive integer, or a rate is not
            in `[0, 1)`.

    Example:

    >>> cell = GAMCell(num_groups=8, group_size=3, head_units=4)
    >>> keras.layers.RNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, "Recurrent Highway Networks With Grouped Auxiliary
        Memory", IEEE Access 7.
    """

    def __init__(
        self,
        num_groups,
        group_size,
        head_units,
        kernel_initializer="glorot_normal",
        bias_initializer="zeros",
        dropout=0.0,
        recurrent_dropout=0.0,
        layer_norm=False,
        seed=None,
        **kwargs,
    ):
        super().__init__(
            num_groups,
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

    def build(self, input_shape):
        self.build_memory(input_shape[-1], num_reads=1)

    def call(self, inputs, states, training=False):
        state, memory = keras.tree.flatten(states)
        inputs = self.drop_input(inputs, training)
        state = self.drop_state(state, training)
        head, memory = self.write(inputs, state, memory)
        state = self.read(head, memory, index=0)
        return state, keras.tree.pack_sequence_as(states, [state, memory])

    def run(self, sequence, states, mask=None, training=False, zoneout=None):
        """Runs over a sequence `(time, batch, input_dim)`; see `FastRNN`."""
        return self.run_memory_loop(
            GAMLoop, sequence, states, mask, training, zoneout
        )


@keras.saving.register_keras_serializable("kerasrnn")
class GAM(CellLayer):
    """Grouped auxiliary memory over a sequence, fast.

    It computes what `keras.layers.RNN(GAMCell(...))` does, gradients
    included, at a fraction of the cost; see `RHN` for how. With `layer_norm`
    or `unroll` it takes the loop of `keras.layers.RNN`.

    Args:
        num_groups: Positive integer, groups of the memory and width of the
            output.
        group_size: Positive integer, slots in a group.
        head_units: Positive integer, width of the head.
        kernel_initializer: Initializer of each kernel.
        bias_initializer: Initializer of the biases.
        dropout: Float in `[0, 1)`, rate of the dropout of the input.
        recurrent_dropout: Float in `[0, 1)`, rate of the dropout of `s`
            where it enters a product.
        layer_norm: Whether the products of `r` and of `c` are normalized
            over their units before the bias is added.
        seed: Optional integer, seed of dropout.
        return_sequences: See `FastRNN`, as for the five below.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether the next batch starts from the last states.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional `[s, m]`, of shapes `(batch, num_groups)` and
            `(batch, num_groups * group_size)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, num_groups)` with
        `return_sequences`, otherwise the last one; with `return_state`
        followed by the last `s` and `m`.

    Masking: a masked step leaves the states as they are and repeats the
    output before it, or gives 0 with `zero_output_for_mask`.

    Raises:
        ValueError: as `GAMCell`.

    Example:

    >>> layer = GAM(8, 3, 4, return_sequences=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        Luo & Yu, 2019, IEEE Access 7.
    """

    cell_class = GAMCell

    def __init__(
        self,
        num_groups,
        group_size,
        head_units,
        kernel_initializer="glorot_normal",
        bias_initializer="zeros",
        dropout=0.0,
        recurrent_dropout=0.0,
        layer_norm=False,
        seed=None,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        zero_output_for_mask=False,
        **kwargs,
    ):
        super().__init__(
            GAMCell(
                num_groups,
                group_size,
                head_units,
                kernel_initializer=kernel_initializer,
                bias_initializer=bias_initializer,
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
