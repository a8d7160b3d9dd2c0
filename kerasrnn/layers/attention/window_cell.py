"""The base class of the cells that attend to a window of their past."""

import math
from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.gathering import gather
from kerasrnn.gathering import unmasked_first
from kerasrnn.layers.loop import cells
from kerasrnn.layers.recurrent.cell_dropout import ForwardsDropoutMasks
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class WindowCell(ForwardsDropoutMasks, keras.layers.Layer):
    """Base class of the cells that attend to a window of their past.

    The states are the output, those of the inner `cell`, if there is one, and
    the cache: what is attended to at each position of the window, such as keys
    and values, and last the flags of the positions that are filled. Each state
    has the shape `(batch, size)`.

    A subclass sets `output_size` and `window`, the number of positions, calls
    `add_cell` if there is one, and overrides `cache_shapes`, `project` and
    `attend`. Its `run` may be `run_at_once`.
    """

    output_size: int
    window: int
    cell_input_size: int

    def __init__(self, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        # PyTorch would find one of the class before that of the layer.
        self.cell: Any = None

    def add_cell(self, cell: keras.layers.Layer) -> None:
        """Sets the inner cell, and creates the layer that runs it."""
        cells.check_vectors(cell, type(self).__name__)
        self.cell = cell
        self._rnn = FastRNN(cell, return_sequences=True)

    @property
    def cache_shapes(self) -> list[Shape]:
        """Shapes of all in the cache of a row but the flags."""
        raise NotImplementedError

    def project(self, hidden: Tensor) -> list[Tensor]:
        """Returns what the cache gets of hidden `(batch, time, dim)`."""
        raise NotImplementedError

    def attend(
        self, hidden: Tensor, cache: list[Tensor], training: bool = False
    ) -> Tensor:
        """Returns the outputs `(batch, time, output_size)`.

        Args:
            hidden: Tensor of shape `(batch, time, dim)`.
            cache: The positions of the window before the first step, followed
                by those of these steps.
            training: Whether to behave as in training.
        """
        raise NotImplementedError

    @property
    def _shapes(self):
        return [*self.cache_shapes, (self.window, 1)]

    @property
    def state_size(self) -> list[int]:
        inner = [] if self.cell is None else cells.flat_state_sizes(self.cell)
        return [self.output_size, *inner, *map(math.prod, self._shapes)]

    def get_initial_state(
        self, batch_size: int | Tensor | None = None
    ) -> States:
        """Returns the initial states: those of the cell, otherwise zeros."""
        inner = []
        if self.cell is not None:
            inner = cells.initial_state(self.cell, batch_size)
            inner = keras.tree.flatten(inner)
        zeros = [
            ops.zeros((batch_size, size), self.compute_dtype)
            for size in self.state_size
        ]
        return [zeros[0], *inner, *zeros[1 + len(inner) :]]

    def run_inner(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs the inner cell over a sequence `(batch, time, input_dim)`."""
        return self._rnn.carry_on(sequence, states, mask, training)

    def run_at_once(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a sequence `(time, batch, input_dim)`; see `FastRNN`.

        The inner cell runs first, then all steps attend at once.
        """
        output, inner, cache = self.unpack(states)
        sequence = ops.swapaxes(sequence, 0, 1)
        if mask is not None:
            mask = ops.swapaxes(mask[..., 0], 0, 1) > 0
        hidden, inner = self.run_inner(sequence, inner, mask, training)
        if mask is not None:
            hidden = gather(hidden, unmasked_first(mask))
        cache = self.extended(cache, hidden)
        outputs = self.attend(hidden, cache, training)
        if mask is None:
            cache = [x[..., -self.window :, :] for x in cache]
        else:
            first = ops.cast(ops.expand_dims(output, 1), outputs.dtype)
            outputs = ops.concatenate([first, outputs], axis=1)
            # How many unmasked steps there are up to each step, with it.
            counts = ops.cumsum(ops.cast(mask, "int32"), axis=1)
            outputs = gather(outputs, counts)
            last = counts[:, -1:] + ops.arange(self.window, dtype="int32")
            cache = [gather(x, last, axis=-2) for x in cache]
        states = self.pack(outputs[:, -1], inner, cache)
        return ops.swapaxes(outputs, 0, 1), states

    def extended(self, cache: list[Tensor], hidden: Tensor) -> list[Tensor]:
        """Returns a cache, followed by the positions of some steps."""
        new = [*self.project(hidden), ops.ones_like(hidden[..., :1])]
        return [
            ops.concatenate([ops.cast(x, y.dtype), y], axis=-2)
            for x, y in zip(cache, new, strict=True)
        ]

    def unpack(self, states: States) -> tuple[Tensor, States, list[Tensor]]:
        """Splits the states: the output, those of the cell, the cache."""
        count = len(self._shapes)
        output, *inner = states[:-count]
        if self.cell is not None:
            sizes = cells.state_sizes(self.cell)
            inner = keras.tree.pack_sequence_as(sizes, inner)
        cache = [
            ops.reshape(flat, (-1, *shape))
            for flat, shape in zip(states[-count:], self._shapes, strict=True)
        ]
        return output, inner, cache

    def pack(
        self, output: Tensor, inner: States, cache: list[Tensor]
    ) -> States:
        """Returns the states as one list, which `unpack` takes apart."""
        # A loop over windows needs the static batch size, if there is one.
        batch_size = ops.shape(output)[0]
        flat = [
            ops.reshape(x, (batch_size, math.prod(shape)))
            for x, shape in zip(cache, self._shapes, strict=True)
        ]
        return [output, *keras.tree.flatten(inner), *flat]

    def first_input(self, step_input: Tensor) -> Tensor:
        shape = (ops.shape(step_input)[0], self.cell_input_size)
        return ops.zeros(shape, self.compute_dtype)
