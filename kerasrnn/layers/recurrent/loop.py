"""A step of a cell, run over time, forward and back.

The step is written once, forward. With automatic differentiation of the loop
each step would add to the gradient of every weight, which takes a matrix
product, and reads and writes the whole gradient. Here the loop back through
time differentiates one step after the other, with its matrix products
replaced by their saved results, so that it only finds the gradients of these
results. One product over all steps then gives each kernel's gradient.

All sequences are `(time, batch, ...)`.
"""

import dataclasses

import keras
from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.recurrent import products
from kerasrnn.layers.recurrent.products import Fixed
from kerasrnn.layers.recurrent.products import Kernel
from kerasrnn.layers.recurrent.products import Product
from kerasrnn.layers.recurrent.products import wide
from kerasrnn.layers.recurrent.weights_of_step import WeightsOfStep


def run_loop(
    step,
    given,
    states,
    dtype,
    masks=(),
    skipped=None,
    zoneout=None,
    training=False,
    every=1,
):
    """Runs a step over time, with a gradient as described above.

    Args:
        step: Function `(states, given, product) -> new states`, as the
            method of that name of a `RecurrentCell`.
        given: Nest of sequences, of which a step gets one place; of `Fixed`
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
        every: Of how many states the values after every step are returned.

    Returns:
        A list of `every` sequences of states, and the list of the last
        states.
    """
    loop = _Loop(step, given, states, dtype, masks, skipped, zoneout, every)
    if keras.backend.backend() == "torch":
        # A loop of Python, which PyTorch differentiates.
        return loop.forward(*loop.operands)

    @ops.custom_gradient
    def run(*operands):
        kept = None
        if training:
            results, kept = loop.forward_and_keep(*operands)
        else:
            results = loop.forward(*operands)

        def gradient(*upstream):
            upstream = keras.tree.flatten(upstream)
            return _gradients(loop, operands, upstream, kept)

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
        self, step, given, states, dtype, masks, skipped, zoneout, every
    ):
        self.step = step
        self.given = given
        self.dtype = dtype
        self.masks = masks
        self.skipped = skipped
        self.zoneout = zoneout or [None] * len(states)
        self.every = every
        self.leaves = keras.tree.flatten(given)
        kinds = [_kind(leaf) for leaf in self.leaves]
        self.sequences, self.noise, self.fixed = (
            [place for place, kind in enumerate(kinds) if kind == wanted]
            for wanted in ("sequence", "noise", "fixed")
        )
        over_time = [self.leaves[x] for x in self.sequences + self.noise]
        _check_given(over_time, states)
        self.time = ops.shape(over_time[0])[0]
        sequences = [self.leaves[place] for place in self.sequences]
        fixed = [
            ops.convert_to_tensor(products.value_of(self.leaves[place]))
            for place in self.fixed
        ]

        looking = _Look(dtype, masks)
        given = self.given_at(0, [x[0] for x in sequences], fixed)
        with WeightsOfStep() as weights:
            new = self.step(list(states), given, looking)
        _check_states(new, states)
        self.variables = weights.read
        self.places = looking.places
        self.operands = (
            sequences,
            fixed + [wide(variable.value) for variable in self.variables],
            looking.parts(),
            list(states),
        )

    def given_at(self, index, sequences, fixed):
        """Returns what a step gets, from its places of the sequences."""
        leaves = list(self.leaves)
        for place, x in zip(self.sequences, sequences, strict=True):
            leaves[place] = x
        for place in self.noise:
            leaves[place] = leaves[place][index]
        for place, x in zip(self.fixed, fixed, strict=False):
            leaves[place] = x
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
        if isinstance(share, float):
            new = new + share * (old - new)
        elif share is not None:
            new = ops.where(share[index], old, new)
        if self.skipped is None:
            return new
        ones = [1] * (len(new.shape) - 1)
        here = ops.reshape(self.skipped[index], (-1, *ones))
        return ops.where(here, old, new)

    def forward(self, *operands):
        """Returns the sequences of states, and the last states."""
        last, sequences = self._scan(
            operands, lambda new, results: new[: self.every]
        )
        return sequences, last

    def forward_and_keep(self, *operands):
        """As `forward`, with the states and products after every step."""
        last, kept = self._scan(operands, lambda new, results: (new, results))
        return (kept[0][: self.every], last), kept

    def _scan(self, operands, keep):
        sequences, fixed, kernels, states = operands

        def step(states, index):
            product = _Save(self, kernels)
            here = [x[index] for x in sequences]
            new = self.advance(index, states, here, fixed, product)
            return new, keep(new, product.results)

        return _backend.scan(step, list(states), self.time)


def _check_given(over_time, states):
    """Raises `ValueError` unless all have the axes of time and batch."""
    if not over_time:
        raise ValueError(
            "`given` must return a tensor made of its inputs, from which the "
            "loop has its length. Received: none, or `Fixed` ones only"
        )
    batch = states[0].shape[0]
    axes = {(None, batch), tuple(over_time[0].shape[:2])}
    for x in over_time:
        if len(x.shape) < 2 or not all(
            None in pair or pair[0] == pair[1]
            for expected in axes
            for pair in zip(x.shape[:2], expected, strict=True)
        ):
            raise ValueError(
                "`given` must return tensors `(time, batch, ...)`. One that is "
                "the same at every step, or made of weights, is returned as "
                f"`Fixed(...)` or `Kernel(...)`. Received: shape {x.shape}"
            )


def _check_states(new, states):
    """Raises `ValueError` unless there are new states like the old."""
    shapes = [tuple(x.shape) for x in states]
    found = new
    if isinstance(new, (list, tuple)):
        found = [tuple(getattr(x, "shape", ())) for x in new]
    if not isinstance(found, list) or [x[1:] for x in found] != [
        x[1:] for x in shapes
    ]:
        raise ValueError(
            "`step` must return the list of new states, and no output. "
            f"Expected: shapes {shapes}. Received: {found}"
        )


def _kind(leaf):
    """Returns what a leaf of `given` is to a loop."""
    if isinstance(leaf, Fixed):
        return "fixed"
    # A step reads a variable as any other weight of the cell.
    passed_on = isinstance(leaf, (Kernel, keras.Variable))
    if passed_on or not hasattr(leaf, "dtype"):
        return None
    dtype = keras.backend.standardize_dtype(leaf.dtype)
    return "sequence" if keras.backend.is_float_dtype(dtype) else "noise"


class _Look(Product):
    """Only finds the kernels of the products.

    `places` maps the kernels of a product, and the number of its masks, to
    their indices among the parts.
    """

    def __init__(self, dtype, masks):
        super().__init__(dtype, masks)
        self.places = {}
        self.found = []

    def multiply(self, x, kernels, masks):
        key = (len(masks), *map(id, kernels))
        if key not in self.places:
            first = sum(count for _, count in self.found)
            self.places[key] = range(first, first + len(masks))
            self.found.append((kernels, len(masks)))
        width = sum(kernel.shape[-1] for kernel in kernels)
        zeros = wide(ops.zeros_like(x[:, :1]))
        return zeros + ops.zeros((width,), zeros.dtype)

    def parts(self):
        """Returns the kernels, joined and then split for the masks."""
        return [
            part
            for kernels, count in self.found
            for part in products.shares(
                products.join(map(self.cast, kernels)), count
            )
        ]


class _Save(Product):
    """Multiplies by the kernels of a loop, and saves the results."""

    def __init__(self, loop, kernels):
        super().__init__(loop.dtype, loop.masks)
        self.places = loop.places
        self.kernels = kernels
        self.results = []

    def __call__(self, x, kernel, plus=None, drop=False):
        self.results.append(super().__call__(x, kernel, plus, drop))
        return self.results[-1]

    def multiply(self, x, kernels, masks):
        places = self.places[len(masks), *map(id, kernels)]
        return products.join(
            products.multiply(x, self.kernels[place], mask)
            for place, mask in zip(places, masks, strict=True)
        )


class _Recall(Product):
    """Recalls the results of the products, each with its gradient.

    Args:
        loop: The `_Loop`.
        turned: For each kernel the function `x -> x K'`.
        here: The states, results, sequences and fixed tensors of a step.
    """

    def __init__(self, loop, turned, states, results, sequences, fixed):
        super().__init__(loop.dtype, loop.masks)
        self.places = loop.places
        self.turned = turned
        self.results = results
        self.states = {id(x): place for place, x in enumerate(states)}
        self.added = {
            id(x): (kind, place)
            for kind, xs in enumerate((sequences, fixed))
            for place, x in enumerate(xs)
        }
        self.uses = []
        self.inputs = []

    def __call__(self, x, kernel, plus=None, drop=False):
        masks = self.masks_of(drop, x)
        plus = products.value_of(plus)
        use = _Use(
            self.places[len(masks), *map(id, products.as_list(kernel))],
            masks,
            self.states.get(id(x)),
            self.added.get(id(plus)),
        )
        result = self.results[len(self.uses)]
        self.uses.append(use)
        if not use.is_state:
            self.inputs.append(ops.cast(x, self.dtype))
        # A part of `given` gets the sum of the gradients after the loop.
        has_gradient = use.added is None and hasattr(plus, "shape")
        added = [plus] if has_gradient else []

        @ops.custom_gradient
        def recall(x, result, *added):
            def gradient(grads):
                back = sum(
                    wide(self.turned[place](ops.cast(part, self.dtype)))
                    if mask is None
                    else wide(self.turned[place](ops.cast(part, self.dtype)))
                    * mask
                    for place, mask, part in use.parts(grads)
                )
                more = [
                    ops.cast(products.summed_to(grads, y.shape), y.dtype)
                    for y in added
                ]
                return ops.cast(back, x.dtype), grads, *more

            return result, gradient

        return recall(x, result, *added)


@dataclasses.dataclass
class _Use:
    """A product of a step.

    Attributes:
        places: Indices of its kernels.
        masks: As many masks, or `None` for no dropout.
        state: Index of the state that it multiplies; `None` for another tensor.
        added: What it adds: 0 and the index of a sequence, or 1 and that of a
            fixed tensor; `None` for another tensor, or for nothing.
    """

    places: range
    masks: list
    state: int | None
    added: tuple[int, int] | None

    @property
    def is_state(self):
        """Whether it multiplies a state."""
        return self.state is not None

    def parts(self, grads):
        """Yields index, mask and share of the gradients for each kernel."""
        parts = products.shares(grads, len(self.masks))
        return zip(self.places, self.masks, parts, strict=True)


def _gradients(loop, operands, upstream, kept):
    """Returns the gradients of the operands.

    The gradients of these are left to the backend: a loop that recalls its
    products cannot be differentiated once more.
    """
    nest = (operands, upstream)
    if kept is None:
        _, kept = loop.forward_and_keep(*operands)

    def forward(*operands_):
        return keras.tree.flatten(loop.forward(*_as(operands, operands_))), ()

    def slow(*arguments):
        operands, upstream = _as(nest, arguments)
        return _all_gradients(forward, _flat(operands), upstream), ()

    @ops.custom_gradient
    def fast(arguments, kept):
        def gradient(*cotangents):
            cotangents = keras.tree.flatten(cotangents)
            grads = _all_gradients(slow, arguments, cotangents)
            return grads, keras.tree.map_structure(ops.zeros_like, kept)

        operands, upstream = _as(nest, arguments)
        return _Back(loop, operands, upstream, kept).run(), gradient

    return _as(operands, fast(_flat(nest), kept))


class _Back:
    """The loop back through time.

    Args:
        loop: The `_Loop`.
        operands: Its operands.
        upstream: The gradients of what `loop.forward` returned, as a flat list.
        kept: What `loop.forward_and_keep` kept.
    """

    def __init__(self, loop, operands, upstream, kept):
        self.loop = loop
        self.operands = operands
        self.sequences, self.fixed, kernels, self.states = operands
        self.upstream = upstream[: loop.every]
        self.last_grads = list(upstream[loop.every :])
        self.after, self.results = kept
        self.turned = [products.times_transposed(kernel) for kernel in kernels]
        # What a step turns out to use, when it is differentiated first.
        self.uses = None
        self.is_read = [True] * len(self.sequences)

    def run(self):
        """Returns the gradients of the operands, as a flat list."""
        zeros = [ops.zeros_like(x) for x in self.fixed]
        (states, fixed), (results, inputs, read) = _backend.scan(
            self.step, (self.last_grads, zeros), self.loop.time, reverse=True
        )
        inputs, read = iter(inputs), iter(read)
        sequences = [next(read) if x else None for x in self.is_read]
        kernels = [None] * len(self.turned)
        for use, grads in zip(self.uses, results, strict=True):
            multiplied = None if use.is_state else next(inputs)
            for place, mask, part in use.parts(grads):
                gradient = self.of_kernel(use, multiplied, mask, part)
                kernels[place] = _sum(kernels[place], gradient)
            if use.added is not None:
                kind, place = use.added
                found = (sequences, fixed)[kind]
                like = (self.sequences, self.fixed)[kind][place]
                grads = products.summed_to(grads, like.shape)
                found[place] = _sum(found[place], grads)
        grads = _flat([sequences, fixed, kernels, states])
        return _zeros_for_none(grads, _flat(self.operands))

    def step(self, carry, index):
        """Differentiates a step.

        The carry holds the gradients of its new states, and those of the fixed
        tensors so far. Returns them for the step before, and the gradients of
        the products, what these multiplied, and the gradients of sequences.
        """
        grads, totals = carry
        grads = list(grads)
        for place, upstream in enumerate(self.upstream):
            grads[place] = grads[place] + upstream[index]
        here = [
            self.before(index),
            [x[index] for x in self.results],
            [
                self.sequence_at(place, index)
                for place in range(len(self.is_read))
            ],
            self.fixed,
        ]

        def advance(*arguments):
            states, _, sequences, fixed = given = _as(here, arguments)
            product = _Recall(self.loop, self.turned, *given)
            new = self.loop.advance(index, states, sequences, fixed, product)
            self.uses = product.uses
            return new, product.inputs

        found, inputs = _backend.gradients(advance, _flat(here), grads)
        states, results, sequences, fixed = _as(here, found)
        self.is_read = [x is not None for x in sequences]
        results = [ops.cast(x, self.loop.dtype) for x in results]
        read = [x for x in sequences if x is not None]
        totals = list(map(_sum, totals, fixed))
        states = _zeros_for_none(states, grads)
        return (states, totals), (results, inputs, read)

    def before(self, index):
        """Returns the states before a step."""
        return [
            ops.where(index > 0, x[ops.maximum(index - 1, 0)], first)
            for first, x in zip(self.states, self.after, strict=True)
        ]

    def sequence_at(self, place, index):
        """Returns a step's place of a sequence.

        If it is only added to a product, which is recalled, the sequence need
        not be kept: any tensor of the same shape will do.
        """
        x = self.sequences[place]
        rest = x.shape[2:]
        if self.is_read[place] or None in rest:
            return x[index]
        return ops.zeros((ops.shape(self.states[0])[0], *rest), x.dtype)

    def of_kernel(self, use, multiplied, mask, grads):
        """Returns the gradient of a kernel, in one product over all steps."""

        def gradient(x, grads):
            x = x if mask is None else x * mask
            return products.kernel_gradient(x, grads)

        if not use.is_state:
            return gradient(multiplied, grads)
        first = ops.expand_dims(self.states[use.state], 0)
        later = gradient(self.after[use.state][:-1], grads[1:])
        return later + gradient(first, grads[:1])


def _all_gradients(function, arguments, cotangents):
    grads, _ = _backend.gradients(function, arguments, cotangents)
    return _zeros_for_none(grads, arguments)


def _zeros_for_none(grads, like):
    return [
        ops.zeros_like(x) if grad is None else ops.cast(grad, x.dtype)
        for grad, x in zip(grads, like, strict=True)
    ]


def _sum(x, y):
    """Adds two tensors, each of which may be `None`."""
    if x is None or y is None:
        return y if x is None else x
    return x + y


def _flat(nest):
    return keras.tree.flatten(nest)


def _as(nest, flat):
    return keras.tree.pack_sequence_as(nest, list(flat))
