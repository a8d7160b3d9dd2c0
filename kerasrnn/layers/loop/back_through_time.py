"""The gradient of a loop over time.

With automatic differentiation, each step of the loop would add to the gradient
of every weight. This takes a matrix product, and reads and writes the whole
gradient. Here, the backward loop differentiates one step after the other with
its matrix products replaced by their saved results. So it only computes the
gradients of these results. One product over all steps then gives the gradient
of each kernel.
"""

import dataclasses

import keras
from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.loop import products
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.precision import wide

_flat = keras.tree.flatten
_as = keras.tree.pack_sequence_as


def gradients(loop, operands, upstream, kept):
    """Returns the gradients of the operands of a loop.

    Second derivatives are left to the backend, because a loop that recalls its
    products cannot be differentiated again.

    Args:
        loop: The `_Loop` of `run_loop.py`, with `operands`, `advance` and so
            on.
        operands: Its operands.
        upstream: The gradients of the states that `loop.forward` returned, as a
            flat list.
        kept: What it kept; empty if nothing.
    """
    nest = (operands, upstream)
    if not kept:
        _, kept = loop.forward(operands, keep=True)

    def forward(*operands_):
        return _flat(loop.forward(_as(operands, operands_))[0]), ()

    def slow(*arguments):
        operands, upstream = _as(nest, arguments)
        return _all_gradients(forward, _flat(operands), upstream), ()

    @_backend.custom_gradient
    def fast(arguments, kept):
        def gradient(cotangents):
            grads = _all_gradients(slow, arguments, cotangents)
            return grads, keras.tree.map_structure(ops.zeros_like, kept)

        operands, upstream = _as(nest, arguments)
        return _Back(loop, operands, upstream, kept).run(), gradient

    return _as(operands, fast(_flat(nest), kept))


class _Back:
    """The backward loop.

    Args:
        loop: The `_Loop`.
        operands: Its operands.
        upstream, kept: As in `gradients`.
    """

    def __init__(self, loop, operands, upstream, kept):
        self.loop = loop
        self.operands = operands
        self.sequences, self.fixed, self.kernels, self.states = operands
        self.upstream = upstream[: loop.num_returned]
        self.last_grads = list(upstream[loop.num_returned :])
        self.before, self.results = kept
        self.turned = list(map(products.times_transposed, self.kernels))
        # Found out when the first step is differentiated.
        self.uses = None
        self.is_read = [True] * len(self.sequences)

    def run(self):
        """Returns the gradients of the operands, as a flat list."""
        zeros = list(map(ops.zeros_like, self.fixed))
        (states, fixed), (results, inputs, read) = _backend.scan(
            self.step, (self.last_grads, zeros), self.loop.time, reverse=True
        )
        inputs, read = iter(inputs), iter(read)
        sequences = [next(read) if x else None for x in self.is_read]
        kernels = [None] * len(self.turned)
        for use, grads in zip(self.uses, results, strict=True):
            x = next(inputs) if use.state is None else self.before[use.state]
            gradient = products.kernel_gradient(
                _dropped(x, use.mask), grads, self.kernels[use.number].shape
            )
            kernels[use.number] = _sum(kernels[use.number], gradient)
            if use.added is not None:
                kind, number = use.added
                found = (sequences, fixed)[kind]
                like = (self.sequences, self.fixed)[kind][number]
                grads = products.summed_to(grads, like.shape)
                found[number] = _sum(found[number], grads)
        grads = _flat([sequences, fixed, kernels, states])
        return _zeros_for_none(grads, _flat(self.operands))

    def step(self, carry, index):
        """Differentiates a step.

        The carry holds the gradients of the new states, and those of the fixed
        tensors summed so far. The method returns the carry for the previous
        step, and the gradients of the products, their inputs, and the gradients
        of the sequences.
        """
        grads, totals = carry
        grads = list(grads)
        for number, upstream in enumerate(self.upstream):
            grads[number] = grads[number] + upstream[index]
        here = [
            [x[index] for x in self.before],
            [x[index] for x in self.results],
            [
                self.sequence_at(number, index)
                for number in range(len(self.is_read))
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
        # A product has no gradient if it is only compared, for example.
        results = _zeros_for_none(results, here[1], self.loop.dtype)
        read = [x for x in sequences if x is not None]
        totals = list(map(_sum, totals, fixed))
        states = _zeros_for_none(states, grads)
        return (states, totals), (results, inputs, read)

    def sequence_at(self, number, index):
        """Returns the entry of a sequence for a step.

        If it is only added to a product, whose result is recalled, the sequence
        need not be kept, and zeros of its shape are returned.
        """
        x = self.sequences[number]
        rest = x.shape[2:]
        if self.is_read[number] or None in rest:
            return x[index]
        return ops.zeros((ops.shape(self.states[0])[0], *rest), x.dtype)


class _Recall(Product):
    """The `product` of the backward loop: returns the saved results.

    Args:
        loop: The `_Loop`.
        turned: For each kernel, the function `x -> x K'`.
        here: The states, results, sequences and fixed tensors of a step.
    """

    def __init__(self, loop, turned, states, results, sequences, fixed):
        super().__init__(loop.dtype, loop.mask)
        self.numbers = loop.numbers
        self.turned = turned
        self.results = results
        self.states = {id(x): number for number, x in enumerate(states)}
        self.added = {
            id(x): (kind, number)
            for kind, xs in enumerate((sequences, fixed))
            for number, x in enumerate(xs)
        }
        self.uses = []
        self.inputs = []

    def __call__(self, x, kernel, plus=None, drop=False):
        plus = products.value_of(plus)
        use = _Use(
            self.numbers[len(self.uses)],
            self.mask if drop else None,
            self.states.get(id(x)),
            self.added.get(id(plus)),
        )
        result = self.results[len(self.uses)]
        self.uses.append(use)
        if use.state is None:
            self.inputs.append(ops.cast(x, self.dtype))
        # The gradient of a part of `given` is summed up after the loop.
        has_gradient = use.added is None and hasattr(plus, "shape")
        added = [plus] if has_gradient else []

        @_backend.custom_gradient
        def recall(x, result, *added):
            def gradient(grads):
                (grads,) = grads
                back = self.turned[use.number](ops.cast(grads, self.dtype))
                back = _dropped(back, use.mask)
                more = [
                    ops.cast(products.summed_to(grads, y.shape), y.dtype)
                    for y in added
                ]
                return ops.cast(back, x.dtype), grads, *more

            return result, gradient

        return recall(x, result, *added)


@dataclasses.dataclass
class _Use:
    """A matrix product of a step.

    Attributes:
        number: Index of its kernel.
        mask: The dropout mask of its input; `None` for no dropout.
        state: Index of the state that is its input; `None` for another tensor.
        added: What is added to it: `(0, index)` of a sequence or `(1, index)`
            of a fixed tensor; `None` for another tensor or for nothing.
    """

    number: int
    mask: object
    state: int | None
    added: tuple[int, int] | None


def _dropped(x, mask):
    """Returns `x` after dropout, in float32 or wider; `x` without a mask."""
    return x if mask is None else wide(x) * mask


def _all_gradients(function, arguments, cotangents):
    grads, _ = _backend.gradients(function, arguments, cotangents)
    return _zeros_for_none(grads, arguments)


def _zeros_for_none(grads, like, dtype=None):
    return [
        ops.cast(ops.zeros_like(x) if grad is None else grad, dtype or x.dtype)
        for grad, x in zip(grads, like, strict=True)
    ]


def _sum(x, y):
    """Adds two tensors, each of which may be `None`."""
    if x is None or y is None:
        return y if x is None else x
    return x + y
