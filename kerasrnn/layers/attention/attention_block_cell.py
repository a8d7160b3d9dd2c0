"""The base class of the cells that are a block of attention and a layer."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.configured import Configured
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.sliding_window import attend_to_windows_and_own
from kerasrnn.layers.attention.window_cell import WindowCell
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.layers.recurrent._keras import DropoutRNNCell
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
