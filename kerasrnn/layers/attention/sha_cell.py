"""The block of SHA-RNN, around any recurrent cell."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.attention_block_cell import AttentionBlockCell
from kerasrnn.layers.attention.attention_block_cell import GatedAttention
from kerasrnn.layers.attention.projection import over_last
from kerasrnn.layers.loop import cells
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class SHACell(AttentionBlockCell):
    """A block of the single-headed attention RNN (Merity 2019).

    Around any `cell`, whose state is `s`, with `LN` for layer normalization:

        h_t, s_t = cell(LN(x_t), s_{t-1})
        m_t = LN(h_t)
        a_t = LN(h_t) + attend(LN(h_t), [m_{t-memory} ... m_t])
        y_t = LN(a_t) + boom(LN(a_t))
        boom(z) = sum_j gelu(W_j z + b_j)        for j = 1 ... boom

    Each `LN` has its own weights, except that the two `LN(h_t)` in the third
    line share theirs. Attention has a single head, without a projection of keys
    and values: a matrix for the query, and a gate for each component of query,
    key and value. There are no positional embeddings, since the cell encodes
    the order, so a longer `memory` may be tried after training. `FastRNN` runs
    the cell first, then all steps attend at once. A text processed in windows
    has the outputs of the whole text.

    Args:
        cell: Any Keras recurrent cell, such as `RHNCell(300, depth=5)`.
        boom: Positive integer, how many times as wide as the output the
            feed-forward layer is.
        memory: Positive integer, number of earlier steps to attend to.
        kernel_initializer: Initializer of all kernels but those of `cell`;
            `None` for a normal one of the standard deviation
            `0.1 / sqrt(units)`, as in the author's code. With such small
            weights, attention and feed-forward layer add almost nothing at
            first.
        dropout: Float in `[0, 1)`, rate of the variational dropout (Gal &
            Ghahramani 2016) of what the cell, attention and the feed-forward
            layer return: one mask for all steps.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype` (by
            default that of `cell`).

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The previous states, as `get_initial_state` returns the first
            ones: the output, the states of `cell`, the memory, and which of
            its positions are filled, each of shape `(batch, size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, as wide as that of `cell`, and
        the new states.

    Masking: `keras.layers.RNN` skips masked steps, which do not enter the
    memory either.

    Raises:
        ValueError: when `cell` is not a recurrent cell, `boom` or `memory` is
            not a positive integer, or `dropout` is not in `[0, 1)`.

    Example:

    >>> cell = SHACell(RHNCell(8, depth=3), memory=64)
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Merity, 2019](https://arxiv.org/abs/1911.11423), as in his code,
        which has attention in one of four blocks.
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
        cells.check_cell(cell, "SHACell")
        kwargs.setdefault("dtype", cells.policy(cell))
        super().__init__(
            cells.output_size(cell), memory, dropout, seed, **kwargs
        )
        self.add_cell(cell)
        self.boom = positive_integer("boom", boom)
        if kernel_initializer is None:
            kernel_initializer = keras.initializers.RandomNormal(
                stddev=0.1 / self.units**0.5
            )
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        options = {"dtype": self.dtype_policy}
        names = ("input", "memory", "query", "residual", "boom")
        self.norms = {
            name: keras.layers.LayerNormalization(
                epsilon=1e-5, name=f"{name}_norm", **options
            )
            for name in names
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
        sequence = self.norms["input"](sequence)
        hidden, states = super().run_inner(sequence, states, mask, training)
        return self.drop(hidden, 0, training), states

    def step_inner(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        inputs = self.norms["input"](ops.expand_dims(inputs, 1))[:, 0]
        hidden, states = cells.step(self.cell, inputs, states, training)
        return self.drop(hidden, 0, training), states

    def normalize(self, hidden: Tensor) -> Tensor:
        return self.norms["memory"](hidden)

    def attend(
        self, hidden: Tensor, cache: list[Tensor], training: bool = False
    ) -> Tensor:
        """Returns the outputs of the steps that are last in the cache."""
        query = self.norms["query"](hidden)
        context = self.context(query, cache)
        hidden = query + self.drop(context, 1, training)
        wide = over_last(self.boom_layer, self.norms["boom"](hidden))
        added = sum(ops.split(wide, self.boom, axis=-1))
        return self.norms["residual"](hidden) + self.drop(added, 2, training)
