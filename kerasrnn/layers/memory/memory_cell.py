"""The base class of cells with a matrix memory for each head."""

import abc
import math
from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.memory.matrix_memory import matrix_memory
from kerasrnn.layers.memory.matrix_memory import matrix_memory_step
from kerasrnn.layers.precision import wide
from kerasrnn.saving import Configured
from kerasrnn.tensors import gather
from kerasrnn.tensors import unmasked_first
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor

EPSILON = 1e-5  # of the normalization


class MatrixMemoryCell(Configured, keras.layers.Layer):
    """Base class of cells that write and read a matrix memory per head.

    One product with the input gives queries, keys and values (which may pass a
    short convolution over time), the output gate, and the decisions how much to
    write. In `writes`, a subclass turns the decisions into arguments of
    `matrix_memory`. The value read is normalized for each head, gated, and
    projected to the output. `FastRNN` computes many steps at once.

    Args:
        units: Positive integer, width of the output.
        heads: Positive integer, number of memories.
        key_dim, value_dim: Positive integers, number of rows and columns of
            each memory.
        conv_width: Integer, kernel size in steps of the convolution of queries,
            keys and values; 0 for no convolution.
        kernel_initializer: Initializer of both kernels.
        **kwargs: Base layer arguments, such as `name` and `dtype`.
    """

    # How many numbers per head decide how much is written.
    decisions = 2
    # Whether all heads have the same queries and keys.
    shares_keys = False
    # Whether the convolution has a bias.
    conv_has_bias = False
    # Whether the memory has a normalizing column and a scale.
    normalizes = False
    # The activation of the output gate.
    _gate = staticmethod(ops.silu)

    def __init__(
        self,
        units: int,
        heads: int,
        key_dim: int | None,
        value_dim: int | None,
        conv_width: int,
        kernel_initializer: Initializer,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(autocast=False, **kwargs)
        self.units = self.output_size = positive_integer("units", units)
        self.heads = positive_integer("heads", heads)
        self.key_dim = optional_positive_integer("key_dim", key_dim)
        self.value_dim = optional_positive_integer("value_dim", value_dim)
        self.conv_width = integer("conv_width", conv_width, 0)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        key_dim, value_dim = self.head_dims
        self._key_heads = 1 if self.shares_keys else self.heads
        self._channels = 2 * self._key_heads * key_dim + self.heads * value_dim
        self._shape = (self.heads, key_dim, value_dim + self.normalizes)
        self.state_size = [self.units, math.prod(self._shape)]
        if self.normalizes:
            self.state_size.append(self.heads)
        if self.conv_width > 1:
            self.state_size.append((self.conv_width - 1) * self._channels)

    @property
    @abc.abstractmethod
    def head_dims(self) -> tuple[int, int]:
        """Numbers of rows and columns of a memory: given or default."""

    @abc.abstractmethod
    def writes(self, decisions: Tensor, values: Tensor) -> dict[str, Tensor]:
        """Returns `log_decay` and other arguments of `matrix_memory`.

        Args:
            decisions: Tensor of shape `(..., decisions, heads)`, in float32 or
                wider.
            values: Tensor of shape `(..., heads, value_dim)`.
        """

    def scaled(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Returns queries and keys as they enter the memory."""
        return q / self.head_dims[0] ** 0.5, k

    def gated(self, found: Tensor, values: Tensor, gate: Tensor) -> Tensor:
        """Normalizes what each head has read, and multiplies it by the gate."""
        found = ops.rms_normalization(found, self.gains, epsilon=EPSILON)
        return ops.reshape(found, ops.shape(gate)) * self._gate(gate)

    @property
    def norm_dim(self) -> int:
        """How many numbers are normalized together."""
        return self.head_dims[1]

    def build(self, input_shape: Shape) -> None:
        of_values = self.heads * self.head_dims[1]
        for name, shape in {
            "kernel": (input_shape[-1], self._channels),
            "gate_kernel": (input_shape[-1], of_values),
            "write_kernel": (input_shape[-1], self.decisions * self.heads),
            "output_kernel": (of_values, self.units),
        }.items():
            setattr(self, name, self._add(name, shape, self.kernel_initializer))
        self.gains = self._add("gains", (self.norm_dim,), "ones")
        if not self.conv_width:
            return
        # The default of a convolution of this width in PyTorch.
        bound = self.conv_width**-0.5
        uniform = keras.initializers.RandomUniform(-bound, bound)
        shape = (self.conv_width, self._channels)
        self.conv_kernel = self._add("conv_kernel", shape, uniform)
        if self.conv_has_bias:
            self.conv_bias = self._add("conv_bias", shape[1:], uniform)

    def _add(self, name: str, shape: Shape, initializer: Any) -> Any:
        return self.add_weight(
            shape=shape, initializer=initializer, name=name, autocast=False
        )

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        outputs, new = self._run(ops.expand_dims(inputs, 1), states, None)
        return outputs[:, 0], [
            ops.cast(x, old.dtype) for x, old in zip(new, states, strict=True)
        ]

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a sequence `(time, batch, input_dim)`; see `FastRNN`."""
        sequence = ops.swapaxes(sequence, 0, 1)
        if mask is None:
            outputs, states = self._run(sequence, states, None)
            return ops.swapaxes(outputs, 0, 1), states
        # Masked steps are moved to the end.
        seen = ops.transpose(mask[..., 0]) > 0
        sequence = gather(sequence, unmasked_first(seen))
        counts = ops.cumsum(ops.cast(seen, "int32"), axis=1)
        outputs, new = self._run(sequence, states, counts[:, -1])
        outputs = gather(outputs, ops.maximum(counts - 1, 0))
        return ops.swapaxes(outputs, 0, 1), [
            ops.where(counts[:, -1:] > 0, wide(x), wide(old))
            for x, old in zip(new, states, strict=True)
        ]

    def _run(self, sequence, states, lengths):
        """Runs over `(batch, time, input_dim)`, or its first `lengths` steps.

        A single step is computed by `matrix_memory_step`.
        """
        sequence = ops.cast(sequence, self.compute_dtype)
        batch, time = ops.shape(sequence)[:2]
        _, memory, *rest = map(wide, states)
        state = [ops.reshape(memory, (batch, *self._shape))]
        state += rest[: self.normalizes]
        history = rest[self.normalizes :]

        joined, history = self._convolved(sequence, history, lengths)
        key_dim, value_dim = self.head_dims
        keys = self._key_heads * key_dim
        q, k, v = (
            ops.reshape(x, (batch, time, heads, size))
            for x, heads, size in zip(
                ops.split(joined, [keys, 2 * keys], axis=-1),
                (self._key_heads, self._key_heads, self.heads),
                (key_dim, key_dim, value_dim),
                strict=True,
            )
        )
        q, k = self.scaled(q, k)
        decisions = wide(self._product(sequence, self.write_kernel))
        decisions = ops.reshape(
            decisions, (batch, time, self.decisions, self.heads)
        )
        given = {"q": q, "k": k, "v": v, **self.writes(decisions, v)}
        if isinstance(time, int) and time == 1:
            given = {name: x[:, 0] for name, x in given.items()}
            found, state = matrix_memory_step(**given, state=state)
            found = ops.expand_dims(found, 1)
        else:
            seen = (
                None
                if lengths is None
                else ops.arange(time) < ops.expand_dims(lengths, 1)
            )
            found, state = matrix_memory(
                **given, initial_state=state, mask=seen
            )
        gate = wide(self._product(sequence, self.gate_kernel))
        found = ops.cast(self.gated(found, v, gate), self.compute_dtype)
        outputs = self._product(found, self.output_kernel)
        last = outputs[:, -1]
        if lengths is not None:
            index = ops.expand_dims(ops.maximum(lengths - 1, 0), 1)
            last = gather(outputs, index)[:, 0]
        memory = ops.reshape(state[0], (batch, math.prod(self._shape)))
        return outputs, [last, memory, *state[1:], *history]

    def _convolved(self, sequence, history, lengths):
        """Returns queries, keys and values, and the history to keep."""
        joined = wide(self._product(sequence, self.kernel))
        if not self.conv_width:
            return joined, []
        batch, time = ops.shape(sequence)[:2]
        width = self.conv_width - 1
        if width:
            before = ops.reshape(history[0], (batch, width, self._channels))
            joined = ops.concatenate([before, joined], axis=1)
        kernel = ops.expand_dims(self.conv_kernel, -1)
        convolved = ops.depthwise_conv(joined, kernel)
        if self.conv_has_bias:
            convolved = convolved + self.conv_bias
        convolved = ops.silu(convolved)
        if not width:
            return convolved, []
        if lengths is None:
            kept = joined[:, -width:]
        else:
            steps = ops.arange(width, dtype="int32")
            kept = gather(joined, ops.expand_dims(lengths, 1) + steps)
        return convolved, [ops.reshape(kept, (batch, width * self._channels))]

    def _product(self, x, kernel):
        return ops.matmul(x, ops.cast(kernel, self.compute_dtype))
