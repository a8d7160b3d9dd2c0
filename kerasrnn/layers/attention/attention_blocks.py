"""Blocks of attention and a feed-forward layer as recurrent cells."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers.attention.dot_attention import dot_score
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.attention.multi_head_attention import MultiHeadDotAttention
from kerasrnn.layers.attention.window_cell import WindowCell
from kerasrnn.layers.attention.window_cell import attend_to_windows
from kerasrnn.layers.attention.window_cell import padded
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.loop import cells
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

    A subclass sets `attention` and `branches`, the number of dropout masks, and
    overrides `project` and `attend`. With an inner cell, it also overrides
    `run_inner` and `step_inner`.

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

    def run_inner(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        return sequence, states

    def step_inner(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        """Computes one step of the inner cell, of `(batch, input_dim)`."""
        return inputs, states

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        _, inner, cache = self.unpack(states)
        hidden, inner = self.step_inner(inputs, inner, training)
        hidden = ops.expand_dims(hidden, 1)
        cache = self.extended(cache, hidden)
        output = ops.squeeze(self.attend(hidden, cache, training), 1)
        return output, self.pack(output, inner, [x[:, 1:] for x in cache])

    # `FastRNN` looks for `run` in the class that defines `call`.
    run = WindowCell.run

    def context(self, queries: Tensor, cache: list[Tensor]) -> Tensor:
        """Attends to the memory, and to the step of each query itself."""
        memory, filled = (padded(x, 0, 1) for x in cache)
        return attend_to_windows(
            self.attention, queries, [memory, memory, filled], self.memory + 1
        )

    def drop(self, x: Tensor, branch: int, training: bool = False) -> Tensor:
        """Applies the dropout of a branch to a tensor `(batch, ..., units)`."""
        if not training or not self.dropout:
            return x
        masks = ops.cast(self._draw_masks(ops.shape(x)[0]), x.dtype)
        mask = ops.split(masks, self.branches, axis=-1)[branch]
        return x * (mask if len(x.shape) == 2 else ops.expand_dims(mask, 1))

    def _draw_masks(self, rows):
        """Draws the masks of all branches, if this batch has none yet."""
        ones = ops.ones((rows, self.branches * self.units), self.compute_dtype)
        return DropoutRNNCell.get_dropout_mask(self, ones)

    def get_dropout_mask(self, step_input: Tensor) -> None:
        super().get_dropout_mask(step_input)
        self._draw_masks(ops.shape(step_input)[0])

    def reset_dropout_mask(self) -> None:
        super().reset_dropout_mask()
        DropoutRNNCell.reset_dropout_mask(self)


class MemoryMultiHeadAttention(MultiHeadDotAttention):
    """`MultiHeadDotAttention` that projects the queries instead of the keys.

        (W_q q) . (W_k k) = (W_k' W_q q) . k
        sum_i alpha_i W_v v_i = W_v sum_i alpha_i v_i

    The result is the same, but a memory that grows by a few positions at a time
    need not be projected again.
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
        """Splits the last axis into heads."""
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

    Only the query is multiplied by a matrix. The gates of keys and values are
    vectors, the same for all positions, so they are applied to query and
    context.
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
        of_query, of_key, _ = ops.unstack(
            ops.cast(ops.sigmoid(self.gates), query.dtype)
        )
        query = query * (of_query * of_key / query.shape[-1] ** 0.5)
        return dot_score(query, keys)

    def read(
        self, weights: Tensor, values: Tensor, noise: dict[str, Tensor]
    ) -> Tensor:
        gate = self.value_gate(ops.sigmoid(self.gates[2:]))
        content, opening = ops.split(gate, 2, axis=-1)
        gate = ops.sigmoid(opening) * ops.tanh(content)
        return gate * super().read(weights, values, noise)


@keras.saving.register_keras_serializable("kerasrnn")
class SHACell(AttentionBlockCell):
    """A block of the single-headed attention RNN (Merity 2019).

    Around any `cell` with the state `s`, with `LN` for layer normalization:

        h_t, s_t = cell(LN(x_t), s_{t-1})
        m_t = LN(h_t)
        a_t = LN(h_t) + attend(LN(h_t), [m_{t-memory} ... m_t])
        y_t = LN(a_t) + boom(LN(a_t))
        boom(z) = sum_j gelu(W_j z + b_j)        for j = 1 ... boom

    Each `LN` has its own weights, except that the two `LN(h_t)` in the third
    line share theirs. Attention has a single head and does not project keys and
    values: it has a matrix for the query, and a gate for each component of
    query, key and value. The cell encodes the order, so there are no positional
    embeddings, and a longer `memory` may be tried after training. `FastRNN`
    runs the cell first, and then all steps attend at once. A text that is
    processed in windows gives the same outputs as the whole text.

    Args:
        cell: Any Keras recurrent cell, such as `RHNCell(300, depth=5)`.
        boom: Positive integer, the width of the feed-forward layer divided by
            that of the output.
        memory: Positive integer, number of earlier steps to attend to.
        kernel_initializer: Initializer of all kernels except those of `cell`.
            `None` means normal with the standard deviation `0.1 / sqrt(units)`,
            as in the author's code. With such small weights, attention and
            feed-forward layer initially add almost nothing.
        dropout: Float in `[0, 1)`, rate of the variational dropout (Gal &
            Ghahramani 2016) of the outputs of the cell, the attention and the
            feed-forward layer: one mask for all steps.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype` (by
            default that of `cell`).

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The previous states, structured like those of
            `get_initial_state`: the output, the states of `cell`, the memory,
            and flags of its filled positions, each of shape `(batch, size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, as wide as that of `cell`, and
        the new states.

    Masking: `keras.layers.RNN` skips masked steps, and they do not enter the
    memory.

    Raises:
        ValueError: when `cell` is not a recurrent cell, `boom` or `memory` is
            not a positive integer, or `dropout` is not in `[0, 1)`.

    Example:

    >>> cell = SHACell(RHNCell(8, depth=3), memory=64)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Merity, 2019](https://arxiv.org/abs/1911.11423), following his code,
        where one of four blocks has attention.
    """

    branches = 3

    def __init__(
        self,
        cell: keras.layers.Layer,
        boom: int = 4,
        memory: int = 128,
        kernel_initializer: Initializer = None,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        options = cells.options_of(cell, "SHACell", kwargs)
        super().__init__(
            cells.output_size(cell), memory, dropout, seed, **options
        )
        self.add_cell(cell)
        self.boom = positive_integer("boom", boom)
        if kernel_initializer is None:
            kernel_initializer = keras.initializers.RandomNormal(
                stddev=0.1 / self.units**0.5
            )
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        options = {"dtype": self.dtype_policy}
        self.norms = {
            name: keras.layers.LayerNormalization(
                epsilon=1e-5, name=f"{name}_norm", **options
            )
            for name in ("input", "memory", "query", "residual", "boom")
        }
        self.attention = GatedAttention(self.kernel_initializer, **options)
        self.boom_layer = keras.layers.Dense(
            self.boom * self.units,
            "gelu",
            kernel_initializer=self.kernel_initializer,
            name="boom",
            **options,
        )

    def build(self, input_shape: Shape) -> None:
        self.cell_input_size = input_shape[-1]
        shape = (None, None, self.units)
        for name, norm in self.norms.items():
            norm.build((None, *input_shape) if name == "input" else shape)
        self._rnn.build((None, *input_shape))
        self.attention.build(shape, shape)
        self.boom_layer.build((None, self.units))

    def run_inner(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        hidden, states = self._rnn.carry_on(
            self.norms["input"](sequence), states, mask, training
        )
        return self.drop(hidden, 0, training), states

    def step_inner(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        inputs = self.norms["input"](ops.expand_dims(inputs, 1))[:, 0]
        hidden, states = cells.step(self.cell, inputs, states, training)
        return self.drop(hidden, 0, training), states

    def project(self, hidden: Tensor) -> list[Tensor]:
        return [self.norms["memory"](hidden)]

    def attend(
        self, hidden: Tensor, cache: list[Tensor], training: bool = False
    ) -> Tensor:
        """Returns the outputs of the last steps in the cache."""
        query = self.norms["query"](hidden)
        hidden = query + self.drop(self.context(query, cache), 1, training)
        wide = over_last(self.boom_layer, self.norms["boom"](hidden))
        added = sum(ops.split(wide, self.boom, axis=-1))
        return self.norms["residual"](hidden) + self.drop(added, 2, training)


@keras.saving.register_keras_serializable("kerasrnn")
class TransformerCell(AttentionBlockCell):
    """A causal transformer block that can be stacked on recurrent cells.

    A step attends to itself and to the `memory` steps before it:

        m_t = LayerNorm(x_t)
        a_t = x_t + attend(m_t, [m_{t-memory} ... m_t])
        y_t = a_t + W_2 gelu(W_1 LayerNorm(a_t) + b_1) + b_2

    It is a recurrent cell whose state is this memory, so `FastRNN`,
    `StackedRNNCells` and `LanguageModel` accept it like any other cell, alone
    or stacked with others. `FastRNN` computes all steps in one call, without a
    loop. Every step attends to the same number of earlier steps, and a text
    that is processed in windows gives the same outputs as the whole text. As in
    Transformer-XL, no gradient flows into the memory of an earlier window, but
    the projections learn from it.

    There are no positional embeddings, because the recurrent cells below encode
    the order. So the weights do not depend on `memory`, and a longer one may be
    tried after training.

    Args:
        units: Positive integer, width of input and output.
        num_heads: Positive integer, number of heads, each of width
            `units // num_heads`.
        hidden_dim: Positive integer, width of the hidden layer; `None` for
            four times `units`.
        memory: Positive integer, number of earlier steps to attend to.
        dropout: Float in `[0, 1)`, rate of the variational dropout (Gal &
            Ghahramani 2016) of the outputs of attention and feed-forward layer:
            one mask for all steps.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, units)`.
        states: The previous states, structured like those of
            `get_initial_state`: the output, the memory, and flags of its filled
            positions, each of shape `(batch, size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps, and they do not enter the
    memory.

    Raises:
        ValueError: when a size is not a positive integer, `dropout` is not in
            `[0, 1)`, or the input is not `units` wide.

    Example, two blocks on top of a recurrent highway network:

    >>> cells = [RHNCell(8, depth=3), TransformerCell(8), TransformerCell(8)]
    >>> FastRNN(cells, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), with
        normalization before each part as in [Radford et al.,
        2019](https://openai.com/index/better-language-models/); the memory is
        from Transformer-XL, [Dai et al.,
        2019](https://arxiv.org/abs/1901.02860). Keras Hub's
        `TransformerDecoder` is not used, because its cache is for inference
        only and has one position for all rows of a batch.
    """

    branches = 2

    def __init__(
        self,
        units: int,
        num_heads: int = 4,
        hidden_dim: int | None = None,
        memory: int = 128,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(units, memory, dropout, seed, **kwargs)
        self.num_heads = positive_integer("num_heads", num_heads)
        if hidden_dim is None:
            hidden_dim = 4 * self.units
        self.hidden_dim = positive_integer("hidden_dim", hidden_dim)
        options = {"dtype": self.dtype_policy}
        self.attention_norm, self.feedforward_norm = (
            keras.layers.LayerNormalization(epsilon=1e-5, name=name, **options)
            for name in ("attention_norm", "feedforward_norm")
        )
        self.attention = MemoryMultiHeadAttention(
            self.num_heads, max(1, self.units // self.num_heads), **options
        )
        self.hidden_layer = keras.layers.Dense(
            self.hidden_dim, "gelu", name="hidden_layer", **options
        )
        self.output_layer = keras.layers.Dense(
            self.units, name="output_layer", **options
        )

    def build(self, input_shape: Shape) -> None:
        if input_shape[-1] != self.units:
            raise ValueError(
                "A TransformerCell adds its output to its input, so the input "
                f"must have the width `units`. Received: units={self.units} "
                f"and an input of width {input_shape[-1]}."
            )
        shape = (None, None, self.units)
        self.attention_norm.build(shape)
        self.attention.build(shape, shape)
        self.feedforward_norm.build(shape)
        self.hidden_layer.build((None, self.units))
        self.output_layer.build((None, self.hidden_dim))

    def project(self, hidden: Tensor) -> list[Tensor]:
        return [self.attention_norm(hidden)]

    def attend(
        self, hidden: Tensor, cache: list[Tensor], training: bool = False
    ) -> Tensor:
        """Returns the outputs of the last steps in the cache."""
        context = self.context(cache[0][:, self.memory :], cache)
        hidden = hidden + self.drop(context, 0, training)
        added = over_last(self.hidden_layer, self.feedforward_norm(hidden))
        added = over_last(self.output_layer, added)
        return hidden + self.drop(added, 1, training)
