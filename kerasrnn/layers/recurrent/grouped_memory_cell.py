"""The base class of the cells with a grouped auxiliary memory."""

import contextvars
from typing import Any

from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Kernel
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import rows_of
from kerasrnn.layers.loop.products import split_at
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.layers.softmax import masked_softmax
from kerasrnn.typing import Initializer
from kerasrnn.typing import Nest
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout

# The cell whose memory is slot by slot, in the run around.
_BY_SLOT: contextvars.ContextVar[Any] = contextvars.ContextVar(
    "by_slot", default=None
)


class GroupedMemoryCell(RecurrentCell):
    """Base class of the cells with a grouped auxiliary memory.

    It writes and reads a memory of `num_groups` groups of `group_size` slots.
    The memory is a flat state, in which group i has the indices
    `i * group_size` to `(i + 1) * group_size - 1`.

    Over a whole sequence slots come before groups instead: the softmax and the
    sums over the slots of a group are then faster. For one step it would not
    pay to reorder the kernels.
    """

    def __init__(
        self,
        units: int,
        num_groups: int,
        group_size: int,
        head_units: int,
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
        if self.layer_norm:
            self.reset_gains = self.add_gains((1, self.units), "reset_gains")
            self.candidate_gains = self.add_gains(
                (1, self.num_groups), "candidate_gains"
            )

    def given_memory(self, inputs: Tensor) -> dict[str, Nest]:
        """Returns the input's part of the write, and all that it needs.

        Args:
            inputs: Tensor of shape `(..., batch, input_dim)`.
        """
        slots_first = _BY_SLOT.get() is self
        # The rows of [x; s].
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

        `softmax_S` is over the S slots of each group, and each slot of a group
        gets the group's one candidate `c`.

        Args:
            products: The products of `s` with the kernels `given["of_s"]`, of
                shape `(batch, head_units + units)`.
            s: Tensor of shape `(batch, units)`.
            memory: Tensor of shape `(batch, num_groups * group_size)`.
            given: What `given_memory` returned, for this step.
            product: The function that `step` gets.
        """
        k, r = split_at(products, self.head_units)
        k, r = k + given["head"], r + given["reset"]
        a = self.softmax(product(k, given["write"]), given)
        if self.layer_norm:
            r = self.normalize(r, self.reset_gains, self.reset_bias)
        r = self.recurrent_activation(r)
        kernel = given["candidate_of_s"]
        c = product(r * s, kernel, given["candidate"], drop=True)
        if self.layer_norm:
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
            given: What `given_memory` returned, for this step.
            product: The function that `step` gets.
        """
        kernel, bias = given["reads"][index]
        a = self.softmax(product(head, kernel, bias), given)
        m = ops.reshape(memory, ops.shape(a))
        return ops.sum(a * m, axis=given["slot_axis"])

    def softmax(self, scores: Tensor, given: Nest) -> Tensor:
        """Returns where to write or read: a softmax over each group's slots."""
        axis = given["slot_axis"]
        sizes = self.num_groups, self.group_size
        sizes = sizes if axis == 2 else sizes[::-1]
        return masked_softmax(ops.reshape(scores, (-1, *sizes)), axis=axis)

    def by_slot(self, x: Tensor) -> Tensor:
        """Reorders the last axis from group by group to slot by slot."""
        return self._reordered(x, self.num_groups, self.group_size)

    def by_group(self, x: Tensor) -> Tensor:
        """Reorders the last axis from slot by slot to group by group."""
        return self._reordered(x, self.group_size, self.num_groups)

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
        zoneout: Zoneout = None,
    ) -> tuple[Tensor, States]:
        """Runs over a whole sequence; see `RecurrentCell`.

        Meanwhile the memory is slot by slot, which makes the sums over slots
        faster.
        """
        state, memory = states
        states = [state, self.by_slot(memory)]
        # Noise has the layout of the memory; a rate has none.
        if zoneout is not None and hasattr(zoneout[1], "shape"):
            zoneout = [zoneout[0], self.by_slot(zoneout[1])]
        token = _BY_SLOT.set(self)
        try:
            outputs, (state, memory) = super().run(
                sequence, states, mask, training, last_only, zoneout
            )
        finally:
            _BY_SLOT.reset(token)
        return outputs, [state, self.by_group(memory)]
