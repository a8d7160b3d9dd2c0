"""Zoneout around any recurrent cell."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import rate
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.run_loop import WeightsOfStep
from kerasrnn.layers.recurrent.recurrent_cell import ForwardsDropoutMasks
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.layers.recurrent.recurrent_cell import defines_step
from kerasrnn.saving import build_once
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class ZoneoutCell(ForwardsDropoutMasks, RecurrentCell):
    """Zoneout: random units of a cell's states keep their old values.

    With the new states `s'_t` of the cell and a rate `z` for each state
    (Krueger et al. 2017):

        s_t = d_t * s_{t-1} + (1 - d_t) * s'_t     in training, d ~ Bernoulli(z)
        s_t = z s_{t-1} + (1 - z) s'_t             in inference

    The noise `d` is independent for each unit, row and step. The output of a
    `RecurrentCell` is computed from its states after zoneout. For any other
    cell, an output that is one of its states is replaced by that state after
    zoneout; any other output is not changed.

    Around a `RecurrentCell`, `FastRNN(ZoneoutCell(cell))` is as fast as the
    cell. On JAX, cells in `keras.layers.RNN` cannot draw random numbers: use
    `FastRNN` to train there.

    Args:
        cell: A recurrent cell. For a stack, wrap each of its cells.
        rates: Float in `[0, 1)`, or a list with one for each state of the cell.
            For the `h` and `c` of an LSTM, the paper has 0.05 and 0.5 (language
            model of characters).
        seed: Optional integer, seed of the noise.
        **kwargs: Base layer arguments, such as `name` and `dtype` (by
            default that of `cell`).

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The states of `cell`.
        training: Whether to behave as in training.

    Returns:
        The output of shape `(batch, output_size)`, and the new states.

    Masking: `FastRNN` and `keras.layers.RNN` skip masked steps.

    Raises:
        ValueError: when `cell` is a stack, attends to a window of earlier steps
            or is not a recurrent cell, when a rate is not in `[0, 1)`, or when
            the number of rates is not that of the states.

    Example:

    >>> cell = ZoneoutCell(FastLSTMCell(8), rates=[0.05, 0.5])
    >>> FastRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Krueger et al., 2017](https://arxiv.org/abs/1606.01305).
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        rates: float | list[float] | tuple[float, ...] = 0.1,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            seed=seed, **cells.options_of(cell, "ZoneoutCell", kwargs)
        )
        if hasattr(cell, "cells") or hasattr(cell, "cache_shapes"):
            raise ValueError(
                "ZoneoutCell expects `cell` to be a single cell. For a stack, "
                "wrap each of its cells. For a cell that attends to a window "
                "of earlier steps, wrap the inner cell, as in "
                f"SelfAttentionCell(ZoneoutCell(cell)). Received: cell={cell!r}"
            )
        self.cell = cell
        self.rates = rates
        sizes = cells.flat_state_sizes(cell)
        if not isinstance(rates, (list, tuple)):
            rates = [rates] * len(sizes)
        if len(rates) != len(sizes):
            raise ValueError(
                "`rates` must be a single rate or a list with one for each "
                f"state. Expected: {len(sizes)} rates. Received: "
                f"rates={rates!r}"
            )
        self._rates = [float(rate("rates", x)) for x in rates]
        self.state_size = cells.state_sizes(cell)
        self.output_size = cells.output_size(cell)

    def build(self, input_shape: Shape) -> None:
        build_once(self.cell, input_shape)

    def get_initial_state(
        self, batch_size: int | Tensor | None = None
    ) -> States:
        """Returns the initial states of the cell."""
        return cells.initial_state(self.cell, batch_size)

    @property
    def _has_a_step(self):
        same = self.cell.compute_dtype == self.compute_dtype
        return defines_step(self.cell) and same

    @property
    def slow_because(self) -> str | None:
        """Why the cell runs step by step; see `FastRNN.slow_because`."""
        if self._has_a_step:
            return None
        return (
            cells.slow_because(self.cell)
            or "the inner cell has another dtype or defines no `step`"
        )

    def masks(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor | None, Tensor | None]:
        return self.cell.masks(inputs, states, training)

    def prepare(
        self, inputs: Tensor, mask: Tensor | None, training: bool
    ) -> Nest:
        given = self.cell.prepare(inputs, mask, training)
        with WeightsOfStep():
            return given, self._noise(inputs) if training else []

    def step(self, states: States, given: Nest, product: Product) -> States:
        given, noise = given
        return self._zoned(
            states, self.cell.step(states, given, product), noise
        )

    def read_out(self, states: States, inputs: Tensor) -> Tensor:
        return self.cell.read_out(states, inputs)

    @property
    def outputs_more(self) -> bool:
        return self.cell.outputs_more

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        if self._has_a_step:
            return super().call(inputs, states, training)
        output, new = cells.step(self.cell, inputs, states, training)
        before, after = map(keras.tree.flatten, (states, new))
        zoned = self._zoned(
            before, after, self._noise(inputs) if training else []
        )
        for state, kept in zip(after, zoned, strict=True):
            if output.shape == state.shape:
                state = ops.cast(state, output.dtype)
                kept = ops.cast(kept, output.dtype)
                output = ops.where(ops.all(output == state), kept, output)
        # The dtype of the inner cell may differ from that of the loop's states.
        zoned = cells.as_carried(zoned, before, self.compute_dtype)
        return output, keras.tree.pack_sequence_as(states, zoned)

    def _noise(self, inputs):
        """Draws, for all steps, which units of each state keep old values."""
        shape = ops.shape(inputs)[:-1]
        if not self._has_a_step:
            shape = shape[:1]
        return [
            keras.random.uniform(
                (*shape[:-1], *cells.shape_of(size, shape[-1])),
                seed=self.seed_generator,
            )
            < share
            for size, share in zip(
                cells.flat_state_sizes(self.cell), self._rates, strict=True
            )
        ]

    def _zoned(self, before, after, noise):
        """Returns the states after a step, mixed with the old ones.

        Without noise, the mixture is the expected value.
        """
        before = [
            ops.cast(old, new.dtype)
            for old, new in zip(before, after, strict=True)
        ]
        if noise:
            return list(map(ops.where, noise, before, after))
        return [
            new + share * (old - new)
            for share, old, new in zip(self._rates, before, after, strict=True)
        ]
