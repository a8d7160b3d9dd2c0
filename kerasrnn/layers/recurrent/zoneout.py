"""Zoneout around any recurrent cell."""

import inspect
import math
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import rate
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop import running
from kerasrnn.layers.loop.zoned_out import zoned_out
from kerasrnn.layers.precision import wide
from kerasrnn.layers.recurrent.cell_dropout import ForwardsDropoutMasks
from kerasrnn.layers.recurrent.recurrent_cell import RecurrentCell
from kerasrnn.saving import Configured
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class ZoneoutCell(Configured, ForwardsDropoutMasks, keras.layers.Layer):
    """Zoneout: random units of a cell's states keep their old values.

    With `s'_t` the new states of the cell, and a rate `z` for each of them
    (Krueger et al. 2017):

        s_t = d_t * s_{t-1} + (1 - d_t) * s'_t     in training, d ~ Bernoulli(z)
        s_t = z s_{t-1} + (1 - z) s'_t             in inference

    with independent noise for each unit, row and step. The output of a
    `RecurrentCell` is read from its states after zoneout. If the output of
    another cell equals one of its states, it is that state after zoneout; any
    other output is left as it is.

    `FastRNN(ZoneoutCell(cell))` draws the noise of all steps before the loop
    if the cell is a `RecurrentCell`, as most cells of this package are, or has
    a `run` that takes `zoneout`. Other cells run in the loop of
    `keras.layers.RNN`, where a cell can neither count steps nor draw random
    numbers on every backend. There the seed of a step's noise is made from the
    seed of the batch and the bits of the step's inputs and states, so two steps
    have the same noise if all of these are equal.

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
        super().__init__(**kwargs)
        if hasattr(cell, "cells"):
            raise ValueError(
                "ZoneoutCell expects `cell` to be a single cell: for a stack, "
                f"wrap each of its cells. Received: cell={cell!r}"
            )
        if hasattr(cell, "cache_shapes"):
            raise ValueError(
                "ZoneoutCell cannot keep parts of a window of earlier steps: "
                "wrap the cell inside, as in SelfAttentionCell(ZoneoutCell("
                f"cell)). Received: cell={cell!r}"
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
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self._sequence_seed = None
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

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        output, new = cells.step(self.cell, inputs, states, training)
        before, after = map(keras.tree.flatten, (states, new))
        zoned = list(after)
        seed = self._step_seed(inputs, before) if training else None
        for index, share in enumerate(self._rates):
            if not share:
                continue
            new = after[index]
            old = ops.cast(before[index], new.dtype)
            if training:
                share = self._noise(ops.shape(new), share, seed, index)
            zoned[index] = zoned_out(new, old, share)
        # The cell inside may have another dtype than the loop carries.
        zoned = running.as_carried(zoned, before, self.compute_dtype)
        output = self._read_out(output, inputs, after, zoned)
        return output, keras.tree.pack_sequence_as(states, zoned)

    def _read_out(self, output, inputs, after, zoned):
        """Returns the output after zoneout of the states."""
        if isinstance(self.cell, RecurrentCell):
            output = self.cell.read_out(zoned, wide(inputs))
            return ops.cast(output, self.compute_dtype)
        for state, kept in zip(after, zoned, strict=True):
            if output.shape == state.shape:
                state = ops.cast(state, output.dtype)
                kept = ops.cast(kept, output.dtype)
                output = ops.where(ops.all(output == state), kept, output)
        return output

    @property
    def slow_because(self) -> str | None:
        reason = running.slow_because(self.cell)
        if reason is None and not self._takes_zoneout():
            return f"`run` of {type(self.cell).__name__} takes no `zoneout`"
        return reason

    def _takes_zoneout(self):
        return "zoneout" in inspect.signature(self.cell.run).parameters

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        last_only: bool = False,
    ) -> tuple[Tensor, States]:
        """Runs over a sequence `(time, batch, input_dim)`; see `FastRNN`."""
        zoneout = [share or None for share in self._rates]
        if training:
            seed = self._seed_of_sequence()
            time = ops.shape(sequence)[0]
            zoneout = [
                share
                and self._noise((time, *ops.shape(state)), share, seed, index)
                for index, (share, state) in enumerate(
                    zip(zoneout, states, strict=True)
                )
            ]
        return self.cell.run(
            sequence,
            states,
            mask=mask,
            training=training,
            zoneout=zoneout,
            last_only=last_only,
        )

    def _noise(self, shape, share, seed, index):
        """Returns where state number `index` keeps its old values."""
        noise = keras.random.uniform(shape, seed=_Seed(seed, index))
        return noise < share

    def _seed_of_sequence(self):
        if self._sequence_seed is None:
            self._sequence_seed = self.seed_generator.next()
        return self._sequence_seed

    def _step_seed(self, inputs, states):
        """Mixes the seed of the sequence with the bits of inputs and states."""
        mixed = ops.cast(0, "int32")
        for x in (inputs, *states):
            bits = ops.view(ops.cast(x, "float32"), "int32")
            bits = ops.reshape(bits, (-1, math.prod(bits.shape[1:])))
            # Odd factors distinguish positions; overflow wraps around.
            factors = 2 * ops.arange(bits.shape[-1], dtype="int32") + 12345
            rows = 2 * ops.arange(ops.shape(bits)[0], dtype="int32") + 1
            mixed = mixed * 31 + ops.sum(
                bits * factors * ops.expand_dims(rows, 1)
            )
        seed = self._seed_of_sequence()
        return seed + ops.cast(mixed, seed.dtype)

    def get_recurrent_dropout_mask(self, step_input: Tensor) -> None:
        self._seed_of_sequence()

    def reset_recurrent_dropout_mask(self) -> None:
        self._sequence_seed = None


class _Seed(keras.random.SeedGenerator):
    """A generator of one given seed, for use inside a loop.

    Others count in a variable, which not every backend can assign in a loop.
    """

    def __init__(self, seed, index):
        self._seed = seed + index

    def next(self, ordered=True):
        return self._seed
