"""A transformer block as a recurrent cell, whose state is its memory."""

from typing import Unpack

import keras

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.attention_block_cell import AttentionBlockCell
from kerasrnn.layers.attention.attention_block_cell import (
    MemoryMultiHeadAttention,
)
from kerasrnn.layers.attention.projection import over_last
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class TransformerCell(AttentionBlockCell):
    """A causal transformer block that can be stacked on recurrent cells.

    A step attends to itself and to the `memory` steps before it:

        m_t = LayerNorm(x_t)
        a_t = x_t + attend(m_t, [m_{t-memory} ... m_t])
        y_t = a_t + W_2 gelu(W_1 LayerNorm(a_t) + b_1) + b_2

    It is a recurrent cell whose state is this memory, so `FastRNN`,
    `StackedRNNCells` and `LanguageModel` take it as any other cell, beside any
    other cell. `FastRNN` computes all steps in one call, without a loop. The
    memory is part of the state, so every step attends to the same number of
    earlier steps, and a text processed in windows has the outputs of the whole
    text. As in Transformer-XL, no gradient flows into the memory of an earlier
    window, but the projections learn from it.

    There are no positional embeddings: the recurrent cells below encode the
    order. So the weights do not depend on `memory`, and a longer one may be
    tried after training.

    Args:
        units: Positive integer, width of input and output.
        num_heads: Positive integer, number of heads, each of width
            `units // num_heads`.
        hidden_dim: Positive integer, width of the hidden layer; `None` for
            four times `units`.
        memory: Positive integer, number of earlier steps to attend to.
        dropout: Float in `[0, 1)`, rate of the variational dropout (Gal &
            Ghahramani 2016) of what attention and the feed-forward layer add:
            one mask for all steps.
        seed: Optional integer, seed of dropout.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        inputs: Tensor of shape `(batch, units)`.
        states: The previous states, as `get_initial_state` returns the first
            ones: the output, the memory, and which of its positions are filled,
            each of shape `(batch, size)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output of shape `(batch, units)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps, which do not enter the
    memory either.

    Raises:
        ValueError: when a size is not a positive integer, `dropout` is not in
            `[0, 1)`, or the input is not `units` wide.

    Example, a recurrent highway network below two blocks:

    >>> cells = [RHNCell(8, depth=3), TransformerCell(8), TransformerCell(8)]
    >>> FastRNN(cells, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), normalized
        before each part as by
        [Radford et al., 2019](https://openai.com/index/better-language-models/);
        the memory is that of Transformer-XL,
        [Dai et al., 2019](https://arxiv.org/abs/1901.02860). The
        `TransformerDecoder` of Keras Hub is not used: its cache is for
        inference, and has one position for all rows of a batch.
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
                "A TransformerCell adds to its input, which must be `units` "
                f"wide. Received: units={self.units} and an input of width "
                f"{input_shape[-1]}."
            )
        shape = (None, None, self.units)
        self.attention_norm.build(shape)
        self.attention.build(shape, shape)
        self.feedforward_norm.build(shape)
        self.hidden_layer.build((None, self.units))
        self.output_layer.build((None, self.hidden_dim))

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
        return inputs, states

    def normalize(self, hidden: Tensor) -> Tensor:
        return self.attention_norm(hidden)

    def attend(
        self, hidden: Tensor, cache: list[Tensor], training: bool = False
    ) -> Tensor:
        """Returns the outputs of the steps that are last in the cache."""
        context = self.context(cache[0][:, self.memory :], cache)
        hidden = hidden + self.drop(context, 0, training)
        added = over_last(self.hidden_layer, self.feedforward_norm(hidden))
        added = over_last(self.output_layer, added)
        return hidden + self.drop(added, 1, training)
