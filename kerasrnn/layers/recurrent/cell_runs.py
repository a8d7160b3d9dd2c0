"""Runs the equations of a recurrent cell: one step, or a whole sequence."""

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager

import keras
from keras import ops

from kerasrnn.layers.loop import running
from kerasrnn.layers.loop.cells import output_size
from kerasrnn.layers.loop.checks import check_attributes
from kerasrnn.layers.loop.in_blocks import run_in_blocks
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.products import fixed_value
from kerasrnn.layers.loop.run_loop import run_loop
from kerasrnn.layers.loop.weights_of_step import WeightsOfStep
from kerasrnn.layers.precision import wide
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.layers.recurrent.cell_dropout import dropped
from kerasrnn.typing import Nest
from kerasrnn.typing import States
from kerasrnn.typing import Tensor
from kerasrnn.typing import Zoneout


class CellRuns:
    """The part of `RecurrentCell` that runs its equations.

    `given`, `step` and `read_out` are run for one step, by `keras.layers.RNN`
    and decoders (`call`) or in a loop around the cell (`advance`), and over a
    whole sequence (`run`).
    """

    compute_dtype: str
    given: Callable[[Tensor], Nest]
    step: Callable[[States, Nest, Product], States]
    read_out: Callable[[States, Tensor], Tensor]
    masks: Callable[..., tuple[list[Tensor], list[Tensor]]]
    all_built: Callable[[], AbstractContextManager[None]]
    _outputs_more: bool

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        inputs = ops.cast(inputs, self.compute_dtype)
        before = keras.tree.flatten(states)
        # In a loop around the cell the states stay in float32 or wider.
        carried = wide_dtype(self.compute_dtype)
        flat = [ops.cast(state, carried) for state in before]
        masks = self.masks(inputs, flat, training)
        product = Product(self.compute_dtype)
        output, new = self.advance(inputs, flat, product, masks)
        new = running.as_carried(new, before, self.compute_dtype)
        output = ops.cast(output, self.compute_dtype)
        return output, keras.tree.pack_sequence_as(states, new)

    def advance(
        self,
        inputs: Tensor,
        states: States,
        product: Product,
        masks: tuple[list[Tensor], list[Tensor]],
    ) -> tuple[Tensor, States]:
        """Computes one step, alone or in a loop whose product is given.

        Args:
            inputs: Tensor of shape `(batch, input_dim)`.
            states: List of tensors `(batch, width)`, in float32 or wider.
            product: What multiplies by the kernels.
            masks: What the method `masks` returned.

        Returns:
            The output and the list of new states, in float32 or wider.
        """
        of_inputs, of_states = masks
        product = product.with_masks(of_states)
        with self.all_built():
            given = self._prepare(inputs, of_inputs)
            with WeightsOfStep():
                given = keras.tree.map_structure(self._bare, given)
                new = self.step(states, given, product)
                return self.read_out(new, wide(inputs)), new

    def run(
        self,
        sequence: Tensor,
        states: States,
        mask: Tensor | None = None,
        training: bool = False,
        last_only: bool = False,
        zoneout: Zoneout = None,
    ) -> tuple[Tensor, States]:
        """Runs over a whole sequence; see `FastRNN`.

        Args:
            sequence: Tensor of shape `(time, batch, input_dim)`.
            states: List of tensors `(batch, width)`, in float32 or wider.
            mask: Optional tensor of shape `(time, batch, 1)`, 1 where a step
                counts and 0 where it is skipped.
            training: Whether to apply dropout.
            last_only: Whether only the last output is wanted, as a sequence of
                one step.
            zoneout: What each state keeps of the step before: noise of shape
                `(time, batch, width)`, a share, or `None`; see `ZoneoutCell`.

        Returns:
            The outputs of shape `(time, batch, output_size)`, and the last
            states.
        """
        skipped = None if mask is None else ops.equal(mask[..., 0], 0)
        options = {
            "training": training,
            "last_only": last_only,
            "zoneout": zoneout,
        }
        with self.all_built():
            if training or (skipped is not None and self._outputs_more):
                return self._run(states, sequence, skipped, **options)
            return run_in_blocks(
                functools.partial(self._run, **options),
                states,
                sequence,
                skipped,
                output_size(self),
                last_only,
            )

    def _prepare(self, inputs, masks):
        before = dict(vars(self))
        with WeightsOfStep(may_draw=True):
            given = self.given(dropped(inputs, masks))
        check_attributes(before, vars(self))
        return given

    def _run(
        self, states, sequence, skipped=None, *, training, last_only, zoneout
    ):
        """Runs over a sequence, whose products are computed in one call."""
        of_inputs, of_states = self.masks(sequence, states, training)
        given = self._prepare(sequence, of_inputs)
        repeats = skipped is not None and self._outputs_more
        num_returned = len(states) if self._outputs_more else 1
        if last_only and not repeats:
            num_returned = 0
        after, last = run_loop(
            self.step,
            given,
            states,
            self.compute_dtype,
            of_states,
            skipped,
            zoneout,
            training,
            num_returned,
        )
        if not num_returned:
            sequence = sequence[-1:]
            after = [ops.expand_dims(state, 0) for state in last]
        with WeightsOfStep():
            outputs = self.read_out(after, wide(sequence))
        return running.repeated(outputs, skipped) if repeats else outputs, last

    def _bare(self, leaf):
        fixed = isinstance(leaf, Fixed)
        return fixed_value(leaf, self.compute_dtype) if fixed else leaf
