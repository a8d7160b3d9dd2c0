"""The base class of cells that attend to a window of their past."""

import abc
import math
from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.layers.loop import cells
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.layers.recurrent.recurrent_cell import ForwardsDropoutMasks
from kerasrnn.tensors import gather
from kerasrnn.tensors import unmasked_first
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class WindowCell(ForwardsDropoutMasks, keras.layers.Layer):
    """Base class of cells that attend to a window of their past.

    The states are the output, the states of the inner `cell` (if there is one),
    and the cache: what each position of the window offers to attention, such as
    keys and values, followed by the flags of the filled positions. Each state
    has the shape `(batch, size)`.

    A subclass sets `output_size` and `window`, the number of positions, calls
    `add_cell` if it has an inner cell, and overrides `cache_shapes`, `project`
    and `attend`.
    """

    output_size: int
    window: int
    cell_input_size: int = 0

    def __init__(self, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        # PyTorch would find a class attribute before that of the layer.
        self.cell: Any = _NoCell()

    def add_cell(self, cell: keras.layers.Layer) -> None:
        """Sets the inner cell, and creates the layer that runs it."""
        cells.check_vectors(cell, type(self).__name__)
        self.cell = cell
        self._rnn = FastRNN(cell, return_sequences=True)

    @property
    @abc.abstractmethod
    def cache_shapes(self) -> list[Shape]:
        """Shapes of the entries in the cache of a row, without the flags."""

    @abc.abstractmethod
    def project(self, hidden: Tensor) -> list[Tensor]:
        """Returns the cache entries of hidden states `(batch, time, dim)`."""

    @abc.abstractmethod
    def attend(
        self, hidden: Tensor, cache: list[Tensor], training: bool = False
    ) -> Tensor:
        """Returns the outputs `(batch, time, output_size)`.

        Args:
            hidden: Tensor of shape `(batch, time, dim)`.
            cache: The positions of the window before the first step, followed
                by those of the given steps.
            training: Whether to behave as in training.
        """

    @property
    def _shapes(self):
        return [*self.cache_shapes, (self.window, 1)]

    @property
    def state_size(self) -> list[int]:
        return [
            self.output_size,
            *cells.flat_state_sizes(self.cell),
            *map(math.prod, self._shapes),
        ]

    def get_initial_state(
        self, batch_size: int | Tensor | None = None
    ) -> States:
        """Returns the initial states: those of the cell, and zeros."""
        inner = keras.tree.flatten(cells.initial_state(self.cell, batch_size))
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

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a sequence `(time, batch, input_dim)`; see `FastRNN`.

        The inner cell runs first, and then all steps attend at once.
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
            # The number of unmasked steps up to and including each step.
            counts = ops.cumsum(ops.cast(mask, "int32"), axis=1)
            outputs = gather(outputs, counts)
            last = counts[:, -1:] + ops.arange(self.window, dtype="int32")
            cache = [gather(x, last, axis=-2) for x in cache]
        states = self.pack(outputs[:, -1], inner, cache)
        return ops.swapaxes(outputs, 0, 1), states

    def extended(self, cache: list[Tensor], hidden: Tensor) -> list[Tensor]:
        """Returns a cache with the positions of new steps appended."""
        new = [*self.project(hidden), ops.ones_like(hidden[..., :1])]
        return [
            ops.concatenate([ops.cast(x, y.dtype), y], axis=-2)
            for x, y in zip(cache, new, strict=True)
        ]

    def unpack(self, states: States) -> tuple[Tensor, States, list[Tensor]]:
        """Splits states into the output, the cell's states and the cache."""
        count = len(self._shapes)
        output, *inner = states[:-count]
        inner = keras.tree.pack_sequence_as(cells.state_sizes(self.cell), inner)
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
        return ops.zeros(
            (ops.shape(step_input)[0], self.cell_input_size), self.compute_dtype
        )


class _NoCell:
    """Stands for the inner cell of a block without one; has no states."""

    state_size = ()


def attend_to_windows(attention, queries, cache, window):
    """Lets query `t` attend to the positions `t` to `t + window - 1`.

    The scores form a band, which is computed in blocks of queries with the
    positions that they see. Time and memory grow with `time * window * 3 / 2`,
    and windows are not copied for each query.

    Args:
        attention: An attention mechanism.
        queries: Tensor of shape `(batch, time, query_dim)`.
        cache: Keys, values, and flags that are 0 for empty positions, each with
            `window + time` positions: tensors `(batch, ..., positions, size)`.
        window: Integer, number of positions that a query sees.

    Returns:
        The contexts, of shape `(batch, time, context_dim)`.
    """
    batch_size, time = ops.shape(queries)[:2]
    block = max(1, window // 2)
    if isinstance(time, int) and time <= 3 * block:
        return _attend_to_band(attention, queries, cache, window)
    # ONNX rounds negative quotients up.
    blocks, seen = ((n + block - 1) // block for n in (time, window))
    queries = padded(queries, 0, blocks * block - time)
    queries = _blocks(queries, 0, blocks, block)
    cache = [
        _blocks(
            padded(x, seen * block - window, blocks * block - time),
            seen,
            blocks,
            block,
        )
        for x in cache
    ]
    context = _attend_to_band(attention, queries, cache, window)
    # A loop over windows needs the static batch size, if there is one.
    shape = (batch_size, blocks * block, context.shape[-1])
    return ops.reshape(context, shape)[:, :time]


def _attend_to_band(attention, queries, cache, window):
    """Lets each query attend to the `window` positions before it.

    The queries belong to the last positions.
    """
    keys, values, filled = cache
    count, total = ops.shape(queries)[1], ops.shape(filled)[1]
    ahead = total - count - window
    offset = ops.arange(total) - ahead - ops.expand_dims(ops.arange(count), 1)
    band = ops.logical_and(offset >= 0, offset < window)
    mask = ops.logical_and(band, ops.swapaxes(filled, 1, 2) > 0.5)
    context, *_ = attention.attend(queries, (keys, values), mask)
    return context


def padded(x, before, after):
    """Adds empty positions at both ends of the axis before the last."""
    return ops.pad(x, [(0, 0)] * (len(x.shape) - 2) + [(before, after), (0, 0)])


def _blocks(x, seen, blocks, block):
    """Splits positions into blocks, each preceded by the blocks it sees.

    Args:
        x: Tensor of shape `(batch, ..., (seen + blocks) * block, size)`.
        seen: Integer, number of preceding blocks that a block sees.
        blocks: Integer, number of blocks.
        block: Integer, number of positions in a block.

    Returns:
        Tensor of shape `(batch * blocks, ..., (seen + 1) * block, size)`.
    """
    axis = len(x.shape) - 2
    middle, size = x.shape[1:axis], x.shape[-1]
    x = ops.reshape(x, (-1, *middle, seen + blocks, block, size))
    # Blocks are gathered, because slices have a slow gradient.
    index = ops.expand_dims(ops.arange(blocks), 1) + ops.arange(seen + 1)
    x = ops.moveaxis(ops.take(x, index, axis=axis), axis, 1)
    return ops.reshape(x, (-1, *middle, (seen + 1) * block, size))
