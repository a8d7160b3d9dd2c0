"""The base class of the cells that are a block of attention and a layer."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers.attention.dot_attention import dot_score
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.multi_head_attention import MultiHeadDotAttention
from kerasrnn.layers.attention.projection import over_last
from kerasrnn.layers.attention.window_cell import WindowCell
from kerasrnn.layers.attention.window_cell import attend_to_windows_and_own
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.layers.recurrent._keras import DropoutRNNCell
from kerasrnn.saving import Configured
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class AttentionBlockCell(Configured, KeepsQuantization, WindowCell):
    """Base class of blocks of attention and a feed-forward layer.

    A step attends to itself and to the `memory` steps before it. As in
    Transformer-XL, the memory holds hidden states rather than keys and values.
    This halves its size, and lets the projections learn from earlier windows.

    A subclass sets `attention` and `branches`, the number of dropout masks,
    and overrides `normalize`, `attend`, `run_inner` and `step_inner`.

    Args:
        units: Positive integer, width of the output.
        memory: Positive integer, number of earlier steps to attend to.
        dropout: Float in `[0, 1)`, rate of the variational dropout of each
            branch: one mask for all steps.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.
    """

    attention: AttentionMechanism
    branches: int

    def __init__(
        self,
        units: int,
        memory: int,
        dropout: float,
        seed: int | None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.units = self.output_size = positive_integer("units", units)
        self.memory = self.window = positive_integer("memory", memory)
        self.dropout = rate("dropout", dropout)
        self.seed = seed
        if dropout:
            self.seed_generator = keras.random.SeedGenerator(seed)

    @property
    def cache_shapes(self) -> list[Shape]:
        return [(self.memory, self.units)]

    def normalize(self, hidden: Tensor) -> Tensor:
        """Returns what enters the memory, `(batch, time, units)`."""
        raise NotImplementedError

    def step_inner(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        """Computes one step of the inner cell, of `(batch, input_dim)`."""
        raise NotImplementedError

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        _, inner, cache = self.unpack(states)
        hidden, inner = self.step_inner(inputs, inner, training)
        hidden = ops.expand_dims(hidden, 1)
        cache = self.extended(cache, hidden)
        output = ops.squeeze(self.attend(hidden, cache, training), 1)
        return output, self.pack(output, inner, [x[:, 1:] for x in cache])

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a sequence `(time, batch, input_dim)`; see `FastRNN`."""
        return self.run_at_once(sequence, states, mask, training)

    def project(self, hidden: Tensor) -> list[Tensor]:
        """Returns what enters the memory."""
        return [self.normalize(hidden)]

    def context(self, queries: Tensor, cache: list[Tensor]) -> Tensor:
        """Attends to the memory, and to the step of each query itself."""
        memory, filled = cache
        return attend_to_windows_and_own(
            self.attention, queries, [memory, memory, filled], self.memory
        )

    def drop(self, x: Tensor, branch: int, training: bool = False) -> Tensor:
        """Applies the dropout of a branch to a tensor `(batch, ..., units)`."""
        if not training or not self.dropout:
            return x
        masks = self._draw_masks(ops.shape(x)[0])
        mask = ops.split(masks, self.branches, axis=-1)[branch]
        mask = ops.cast(mask, x.dtype)
        return x * (mask if len(x.shape) == 2 else ops.expand_dims(mask, 1))

    def _draw_masks(self, rows):
        """Draws the masks of all branches, unless this batch has some."""
        ones = ops.ones((rows, self.branches * self.units), self.compute_dtype)
        return DropoutRNNCell.get_dropout_mask(self, ones)

    def get_dropout_mask(self, step_input: Tensor) -> None:
        super().get_dropout_mask(step_input)
        self._draw_masks(ops.shape(step_input)[0])

    def reset_dropout_mask(self) -> None:
        super().reset_dropout_mask()
        DropoutRNNCell.reset_dropout_mask(self)


class MemoryMultiHeadAttention(MultiHeadDotAttention):
    """`MultiHeadDotAttention` that projects queries instead of keys.

        (W_q q) . (W_k k) = (W_k' W_q q) . k
        sum_i alpha_i W_v v_i = W_v sum_i alpha_i v_i

    The result is the same. A memory that grows by a few positions at a time is
    not projected again.
    """

    def keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        return memory, memory

    def projected_shapes(
        self, query_dim: int, memory_dim: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (memory_dim,), (memory_dim,)

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        query = over_last(self.query_kernel, query) / self.head_dim**0.5
        queries = [
            over_last(ops.transpose(kernel), q)
            for q, kernel in zip(
                self._parts(query), self._parts(self.key_kernel), strict=True
            )
        ]
        return self._of_heads(ops.stack(queries, 1), ops.swapaxes(keys, 1, 2))

    def read(
        self, weights: Tensor, values: Tensor, noise: dict[str, Tensor]
    ) -> Tensor:
        means = self._of_heads(ops.cast(weights, values.dtype), values)
        contexts = [
            over_last(kernel, means[:, head])
            for head, kernel in enumerate(self._parts(self.value_kernel))
        ]
        return over_last(self.output_kernel, ops.concatenate(contexts, -1))

    def _parts(self, x):
        """Splits the last axis between the heads."""
        return ops.split(x, self.num_heads, axis=-1)

    def _of_heads(self, x, matrix):
        """Multiplies all heads `(batch, heads, queries, dim)` by a matrix."""
        shape = ops.shape(x)
        flat = (shape[0], self.num_heads * shape[2], shape[3])
        flat = ops.matmul(ops.reshape(x, flat), matrix)
        return ops.reshape(flat, (*shape[:3], ops.shape(flat)[-1]))


class GatedAttention(AttentionMechanism):
    """The single-headed attention of SHA-RNN (Merity 2019).

        q' = sigmoid(g_q) * LayerNorm(W_q q + b_q)
        k'_i = sigmoid(g_k) * k_i
        v'_i = sigmoid(f) * tanh(c) * v_i    [c; f] = W_v sigmoid(g_v) + b_v
        score(q, k_i) = q' . k'_i / sqrt(dim)
        context = sum_i alpha_i v'_i

    Only the query passes a matrix. The gates of keys and values are vectors,
    the same for all positions, so they are applied to query and context.
    """

    def __init__(
        self,
        kernel_initializer: Initializer,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(dropout, seed, **kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        width = memory_shape[-1]
        self.query_projection, self.value_gate = (
            keras.layers.Dense(
                units,
                kernel_initializer=reseeded(self.kernel_initializer, units),
                dtype=self.dtype_policy,
            )
            for units in (width, 2 * width)
        )
        self.query_projection.build((None, query_shape[-1]))
        self.value_gate.build((None, width))
        self.query_norm = keras.layers.LayerNormalization(
            epsilon=1e-5, dtype=self.dtype_policy
        )
        self.query_norm.build((None, None, width))
        self.gates = self.add_weight(
            shape=(3, width), initializer="zeros", name="gates"
        )

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        query = self.query_norm(over_last(self.query_projection, query))
        gates = ops.cast(ops.sigmoid(self.gates), query.dtype)
        of_query, of_key, _ = ops.unstack(gates)
        query = query * (of_query * of_key / query.shape[-1] ** 0.5)
        return dot_score(query, keys)

    def read(
        self, weights: Tensor, values: Tensor, noise: dict[str, Tensor]
    ) -> Tensor:
        gate = self.value_gate(ops.sigmoid(self.gates[2:]))
        content, opening = ops.split(gate, 2, axis=-1)
        gate = ops.sigmoid(opening) * ops.tanh(content)
        return gate * super().read(weights, values, noise)
