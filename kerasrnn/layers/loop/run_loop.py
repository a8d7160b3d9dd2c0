"""A step of a cell, run over time.

The step is written once, forward; `back_through_time.py` has the gradient of
the whole loop. All sequences are `(time, batch, ...)`.
"""

import keras
from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.loop import products
from kerasrnn.layers.loop.back_through_time import gradients
from kerasrnn.layers.loop.checks import check_given
from kerasrnn.layers.loop.checks import check_products
from kerasrnn.layers.loop.checks import check_states
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Kernel
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.loop.weights_of_step import WeightsOfStep
from kerasrnn.layers.loop.zoned_out import zoned_out
from kerasrnn.layers.precision import is_float
from kerasrnn.layers.precision import wide
from kerasrnn.tensors import where_unmasked


def run_loop(
    step,
    given,
    states,
    dtype,
    masks=(),
    skipped=None,
    zoneout=None,
    training=False,
    num_returned=1,
):
    """Runs a step over time, with a gradient of its own.

    Args:
        step: Function `(states, given, product) -> new states`, as the
            method of that name of a `RecurrentCell`.
        given: Nest of sequences, of which a step gets one entry; of `Fixed`
            tensors and of kernels; and of anything else, such as an integer,
            which a step gets as it is. It holds one sequence or more.
        states: List of tensors `(batch, ...)`, the states to start from.
        dtype: The dtype of the products.
        masks: The dropout masks of the state: one, or one for each gate; none
            for no dropout.
        skipped: Booleans `(time, batch)`, true where a step leaves the states
            as they are; `None` for no such steps.
        zoneout: What each state keeps of its old value: booleans
            `(time, batch, width)`, true where a unit keeps it; a float, the
            share that all units keep; or `None`. `None` for no zoneout.
        training: Whether a gradient is likely to be asked for. If so, what it
            needs is kept; otherwise it is computed once more when needed.
        num_returned: Integer, how many of the states, from the first on, are
            returned after every step; the last states are always returned.

    Returns:
        A list of `num_returned` sequences of states, and the list of the last
        states.
    """
    loop = _Loop(
        step, given, states, dtype, masks, skipped, zoneout, num_returned
    )
    if keras.backend.backend() == "torch":
        # A loop of Python, which PyTorch differentiates.
        return loop.forward(*loop.operands)

    @_backend.custom_gradient
    def run(*operands):
        kept = None
        if training:
            results, kept = loop.forward_and_keep(*operands)
        else:
            results = loop.forward(*operands)

        def gradient(upstream):
            return gradients(loop, operands, upstream, kept)

        return results, gradient

    return run(*loop.operands)


class _Loop:
    """A step and all that it needs; see `run_loop` for the arguments.

    What has a gradient is in four lists, the `operands`: the sequences, the
    fixed tensors, the kernels, and the states to start from. The fixed tensors
    include the variables that the step reads; the kernels are those that it
    multiplies by, each split for the gates if these have masks of their own.
    """

    def __init__(
        self, step, given, states, dtype, masks, skipped, zoneout, num_returned
    ):
        self.step = step
        self.given = given
        self.dtype = dtype
        self.masks = masks
        self.skipped = skipped
        self.zoneout = zoneout or [None] * len(states)
        self.num_returned = num_returned
        self.leaves = keras.tree.flatten(given)
        kinds = [_kind(leaf) for leaf in self.leaves]
        self.sequences, self.noise, self.fixed = (
            [number for number, kind in enumerate(kinds) if kind == wanted]
            for wanted in ("sequence", "noise", "fixed")
        )
        over_time = [self.leaves[x] for x in self.sequences + self.noise]
        check_given(over_time, states)
        self.time = ops.shape(over_time[0])[0]
        sequences = [self.leaves[number] for number in self.sequences]
        fixed = [
            products.fixed_value(self.leaves[number], dtype)
            for number in self.fixed
        ]

        looking = _Look(dtype, masks)
        given = self.given_at(0, [x[0] for x in sequences], fixed)
        with WeightsOfStep() as weights:
            new = self.step(list(states), given, looking)
        check_states(new, states)
        self.variables = weights.read
        self.numbers = looking.numbers
        self.operands = (
            sequences,
            fixed + [wide(variable.value) for variable in self.variables],
            looking.parts(),
            list(states),
        )

    def given_at(self, index, sequences, fixed):
        """Returns what a step gets, from its entries of the sequences."""
        leaves = list(self.leaves)
        for number, x in zip(self.sequences, sequences, strict=True):
            leaves[number] = x
        for number in self.noise:
            leaves[number] = leaves[number][index]
        for number, x in zip(self.fixed, fixed, strict=False):
            leaves[number] = x
        return keras.tree.pack_sequence_as(self.given, leaves)

    def advance(self, index, states, sequences, fixed, product):
        """Returns the states after a step: the old ones, if it is skipped."""
        given = self.given_at(index, sequences, fixed)
        values = fixed[len(self.fixed) :]
        with WeightsOfStep(zip(self.variables, values, strict=True)):
            new = self.step(list(states), given, product)
        return [
            self._kept(ops.cast(x, old.dtype), old, index, share)
            for x, old, share in zip(new, states, self.zoneout, strict=True)
        ]

    def _kept(self, new, old, index, share):
        """Returns a new state, or the old one where that is kept."""
        if share is not None and not isinstance(share, float):
            share = share[index]
        new = zoned_out(new, old, share)
        if self.skipped is None:
            return new
        return where_unmasked(self.skipped[index], old, new)

    def forward(self, *operands):
        """Returns the sequences of states, and the last states."""
        last, sequences = self._scan(
            operands, lambda old, new, results: new[: self.num_returned]
        )
        return sequences, last

    def forward_and_keep(self, *operands):
        """As `forward`, with what the gradient needs of every step.

        The states before it, and the results of the products.
        """
        last, (sequences, *kept) = self._scan(
            operands,
            lambda old, new, results: (new[: self.num_returned], old, results),
        )
        return (sequences, last), kept

    def _scan(self, operands, keep):
        sequences, fixed, kernels, states = operands
        widths = [kernel.shape[-1] for kernel in kernels]
        kernels = list(map(_backend.spaced, kernels))

        def read(index):
            return [x[index] for x in sequences]

        def step(states, index, here):
            product = _Save(self, kernels, widths)
            new = self.advance(index, states, here, fixed, product)
            check_products(product.results, self.numbers)
            return new, keep(states, new, product.results)

        return _backend.scan_reading(read, step, list(states), self.time)


def _kind(leaf):
    """Returns what a leaf of `given` is to a loop."""
    if isinstance(leaf, Fixed):
        return "fixed"
    # A step reads a variable as any other weight of the cell.
    passed_on = isinstance(leaf, (Kernel, keras.Variable))
    if passed_on or not hasattr(leaf, "dtype"):
        return None
    return "sequence" if is_float(leaf) else "noise"


class _Look(Product):
    """Only finds the kernels of the products.

    The products of a step are known by their order. `numbers` lists, for each
    of them, the indices of its kernels among the parts.
    """

    def __init__(self, dtype, masks):
        super().__init__(dtype, masks)
        self.numbers = []
        self.found = {}

    def multiply(self, x, kernels, masks):
        key = (len(masks), *map(id, kernels))
        if key not in self.found:
            first = sum(count for _, count, _ in self.found.values())
            numbers = range(first, first + len(masks))
            self.found[key] = kernels, len(masks), numbers
        self.numbers.append(self.found[key][-1])
        width = sum(kernel.shape[-1] for kernel in kernels)
        zeros = wide(ops.zeros_like(x[..., :1]))
        return zeros + ops.zeros((width,), zeros.dtype)

    def parts(self):
        """Returns the kernels, joined and then split for the masks."""
        return [
            part
            for kernels, count, _ in self.found.values()
            for part in products.shares(
                products.join(map(self.cast, kernels)), count
            )
        ]


class _Save(Product):
    """Multiplies by the kernels of a loop, and saves the results.

    Args:
        loop: The `_Loop`.
        kernels: Its kernels, perhaps with more columns than are theirs.
        widths: How many columns are.
    """

    def __init__(self, loop, kernels, widths):
        super().__init__(loop.dtype, loop.masks)
        self.numbers = loop.numbers
        self.kernels, self.widths = kernels, widths
        self.results = []

    def __call__(self, x, kernel, plus=None, drop=False):
        self.results.append(super().__call__(x, kernel, plus, drop))
        return self.results[-1]

    def multiply(self, x, kernels, masks):
        if len(self.results) >= len(self.numbers):
            check_products([*self.results, None], self.numbers)
        numbers = self.numbers[len(self.results)]
        return products.join(
            products.multiply(
                x, self.kernels[number], mask, self.widths[number]
            )
            for number, mask in zip(numbers, masks, strict=True)
        )
