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
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Nest
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class ZoneoutCell(ForwardsDropoutMasks, RecurrentCell):
    """Zoneout: random units of a cell's states keep their old values.

    With `s'_t` the new states of the cell, and a rate `z` for each of them
    (Krueger et al. 2017):

        s_t = d_t * s_{t-1} + (1 - d_t) * s'_t     in training, d ~ Bernoulli(z)
        s_t = z s_{t-1} + (1 - z) s'_t             in inference

    with independent noise for each unit, row and step. The output of a
    `RecurrentCell` is read from its states after zoneout. If the output of
    another cell equals one of its states, it is that state after zoneout; any
    other output is left as it is.

    Around a `RecurrentCell`, `FastRNN(ZoneoutCell(cell))` is as fast as the
    cell. In `keras.layers.RNN`, no cell can draw random numbers on JAX: train
    it in `FastRNN` there.

    Args:
        cell: A recurrent cell. To zone out a stack, wrap each of its cells.
        rates: Float in `[0, 1)`, or a list of them, one for each state of the
            cell: for an LSTM those of `h` and `c`, which the paper sets to
            0.05 and 0.5 for characters.
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
        ValueError: when `cell` is a stack, has a window of earlier steps or
            is not a recurrent cell, a rate is not in `[0, 1)`, or there is not
            one rate for each state.

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
        cells.check_cell(cell, "ZoneoutCell")
        kwargs.setdefault("dtype", cells.policy(cell))
        super().__init__(seed=seed, **kwargs)
        if hasattr(cell, "cells") or hasattr(cell, "cache_shapes"):
            raise ValueError(
                "ZoneoutCell expects `cell` to be a single cell: for a stack, "
                "wrap each of its cells; to attend to a window of earlier "
                "steps, wrap the cell inside, as in "
                "SelfAttentionCell(ZoneoutCell(cell)). "
                f"Received: cell={cell!r}"
            )
        self.cell = cell
        self.rates = rates
        sizes = cells.flat_state_sizes(cell)
        if not isinstance(rates, (list, tuple)):
            rates = [rates] * len(sizes)
        if len(rates) != len(sizes):
            raise ValueError(
                "`rates` must be one rate, or one for each state. Expected: "
                f"{len(sizes)} rates. Received: rates={rates!r}"
            )
        self._rates = [float(rate("rates", x)) for x in rates]
        self.state_size = cells.state_sizes(cell)
        self.output_size = cells.output_size(cell)

    def build(self, input_shape: Shape) -> None:
        if not self.cell.built:
            self.cell.build(input_shape)

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
        """Why the cell is slow, as of `FastRNN`."""
        if self._has_a_step:
            return None
        reason = cells.slow_because(self.cell)
        return reason or "the cell inside has another dtype, or is not a step"

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
        noise = self._noise(inputs) if training else []
        zoned = self._zoned(before, after, noise)
        for state, kept in zip(after, zoned, strict=True):
            if output.shape == state.shape:
                state = ops.cast(state, output.dtype)
                kept = ops.cast(kept, output.dtype)
                output = ops.where(ops.all(output == state), kept, output)
        # The cell inside may have another dtype than the loop carries.
        zoned = cells.as_carried(zoned, before, self.compute_dtype)
        return output, keras.tree.pack_sequence_as(states, zoned)

    def _noise(self, inputs):
        """Draws where each state keeps its old values, for all steps."""
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
        """Returns the states after a step, of which the old ones keep a share.

        Without noise, that is the one that is expected.
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
