"""The base class of the cells with a grouped auxiliary memory."""

import functools
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.layers.softmax import masked_softmax
from kerasrnn.layers.through_time.loop import Loop
from kerasrnn.layers.through_time.loop import run_loop
from kerasrnn.layers.through_time.products import wide
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


class GroupedMemoryCell(RecurrentCell):
    """Base class of the cells with a grouped auxiliary memory.

    It writes and reads a memory of `num_groups` groups of `group_size` slots.
    The memory is a flat state, in which group i has the indices
    `i * group_size` to `(i + 1) * group_size - 1`.
    """

    def __init__(
        self,
        units: int,
        num_groups: int,
        group_size: int,
        head_units: int,
        kernel_initializer: Initializer = "glorot_normal",
        bias_initializer: Initializer = "zeros",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_groups = positive_integer("num_groups", num_groups)
        self.group_size = positive_integer("group_size", group_size)
        self.head_units = positive_integer("head_units", head_units)
        self.units = units
        self.output_size = units
        self.state_widths = [units, self.num_groups * self.group_size]
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)

    def add_bias(self, name: str, shape: Shape) -> keras.Variable:
        return self.add_kernel(name, shape, self.bias_initializer)

    def build_memory(self, input_dim: int, num_reads: int) -> None:
        """Adds the weights of one write and of `num_reads` reads."""
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

    def address(
        self, head: Tensor, kernel: Tensor, bias: Tensor | float = 0.0
    ) -> Tensor:
        """Returns where to write or read: a softmax over each group's slots."""
        scores = self.product(head, kernel)
        scores = scores + ops.cast(bias, scores.dtype)
        shape = (-1, self.num_groups, self.group_size)
        address = masked_softmax(ops.reshape(scores, shape))
        return ops.cast(address, self.compute_dtype)

    def write(
        self, inputs: Tensor, state: Tensor, memory: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Writes to the memory, once per step.

        Args:
            inputs: Tensor of shape `(batch, input_dim)`.
            state: Tensor of shape `(batch, units)`, after dropout.
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

    def read(self, head: Tensor, memory: Tensor, index: int) -> Tensor:
        """Reads a vector of shape `(batch, num_groups)`."""
        address = self.address(
            head, self.read_kernel[index], self.read_bias[index]
        )
        groups = ops.reshape(memory, ops.shape(address))
        return ops.sum(address * groups, axis=-1)

    @property
    def can_run_at_once(self) -> bool:
        return not self.layer_norm

    def loop_weights(self, input_dim: int) -> dict[str, Any]:
        """Returns the weights of the write and the reads, for a loop.

        Those of the input are left out: its products are computed before the
        loop. Slots come before groups, `(slots, groups)`, which makes the
        softmax and the sums over the slots of a group faster.
        """
        return {
            "head": self.cast_rows(self.head_kernel, input_dim)[1],
            "write": self.cast(self._by_slot(self.write_kernel)),
            "reset": self.cast_rows(self.reset_kernel, input_dim)[1],
            "candidate": self.cast_rows(self.candidate_kernel, input_dim)[1],
            "read": [self.cast(self._by_slot(k)) for k in self.read_kernel],
            "read_bias": wide(self._by_slot(self.read_bias)),
        }

    def cast(self, kernel: Tensor) -> Tensor:
        return ops.cast(kernel, self.compute_dtype)

    def cast_rows(self, kernel: Tensor, count: int) -> list[Tensor]:
        """Splits a kernel after `count` rows, in the compute dtype.

        A split is better than two slices: the gradient of each slice would be
        a whole kernel, padded with zeros.
        """
        return ops.split(self.cast(kernel), [count], axis=0)

    def _by_slot(self, x):
        # (..., groups * slots) -> (..., slots * groups)
        shape = (*x.shape[:-1], self.num_groups, self.group_size)
        x = ops.swapaxes(ops.reshape(x, shape), -1, -2)
        return ops.reshape(x, (*shape[:-2], -1))

    def memory_by_slot(self, memory: Tensor) -> Tensor:
        """`(..., groups * slots)` -> `(..., slots, groups)`."""
        *leading, _ = ops.shape(memory)
        shape = (*leading, self.num_groups, self.group_size)
        return ops.swapaxes(ops.reshape(memory, shape), -1, -2)

    def memory_by_group(self, memory: Tensor) -> Tensor:
        """`(batch, slots, groups)` -> `(batch, groups * slots)`."""
        memory = ops.swapaxes(memory, 1, 2)
        return ops.reshape(memory, (-1, self.num_groups * self.group_size))

    def input_products(self, sequence: Tensor) -> Tensor:
        """Returns the input's part of the write, with biases, for all steps.

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

    def run_memory_loop(
        self,
        loop: Callable[..., Loop],
        sequence: Tensor,
        states: States,
        mask: Tensor | None,
        training: bool,
        zoneout: Zoneout,
    ) -> tuple[Tensor, States]:
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

    def get_config(self) -> Config:
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
