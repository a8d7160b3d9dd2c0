"""The loop over the steps of a cell.

A cell only defines its forward step. `back_through_time.py` has the gradient of
the whole loop. All sequences have the shape `(time, batch, ...)`.
"""

import collections

import keras
from keras import ops

from kerasrnn.arguments import same_shape
from kerasrnn.layers import _backend
from kerasrnn.layers.loop import products
from kerasrnn.layers.loop.back_through_time import gradients
from kerasrnn.layers.loop.products import Fixed
from kerasrnn.layers.loop.products import Kernel
from kerasrnn.layers.loop.products import Product
from kerasrnn.layers.precision import is_float
from kerasrnn.layers.precision import wide
from kerasrnn.tensors import gather
from kerasrnn.tensors import where_unmasked

# Distance between the seeds of two consecutive steps.
_SEEDS_APART = 40503


def run_loop(
    step,
    given,
    states,
    dtype,
    mask=None,
    skipped=None,
    training=False,
    num_returned=1,
    unroll=False,
):
    """Runs a step over time, with a custom gradient.

    Args:
        step: Function `(states, given, product) -> new states`, such as
            `RecurrentCell.step`.
        given: Nest of sequences (a step gets one entry of each), `Fixed`
            tensors and kernels. Anything else, such as an integer, is passed to
            the step unchanged. There must be at least one sequence.
        states: List of tensors `(batch, ...)`, the initial states.
        dtype: The dtype of the products.
        mask: The dropout mask of the state; `None` for no dropout.
        skipped: Booleans `(time, batch)`, true where a step keeps the old
            states; `None` if no step is skipped.
        training: Whether a gradient is likely to be needed. If so, what it
            needs is kept; otherwise it is recomputed on demand.
        num_returned: Integer, number of states, from the first on, that are
            returned for every step. The final states are always returned.
        unroll: Whether to write out all steps, one after another.

    Returns:
        A list of `num_returned` sequences of states, and the list of the final
        states.
    """
    loop = _Loop(
        step, given, states, dtype, mask, skipped, num_returned, unroll
    )
    if unroll or keras.backend.backend() == "torch":
        # A Python loop, which the backend differentiates.
        return loop.forward(loop.operands)[0]

    @_backend.custom_gradient
    def run(*operands):
        results, kept = loop.forward(operands, keep=training)

        def gradient(upstream):
            return gradients(loop, operands, upstream, kept)

        return results, gradient

    return run(*loop.operands)


class _Loop:
    """A step and its operands; see `run_loop` for the arguments.

    The `operands` are everything that has a gradient, in four lists: the
    sequences, the fixed tensors, the kernels that the step multiplies by, and
    the initial states. The fixed tensors include the variables that the step
    reads.
    """

    def __init__(
        self, step, given, states, dtype, mask, skipped, num_returned, unroll
    ):
        self.step = step
        self.given = given
        self.dtype = dtype
        self.mask = mask
        self.skipped = skipped
        self.num_returned = num_returned
        self.unroll = unroll
        self.leaves = keras.tree.flatten(given)
        numbers = collections.defaultdict(list)
        for number, leaf in enumerate(self.leaves):
            numbers[_kind(leaf)].append(number)
        self.sequences = numbers["sequence"]
        self.discrete, self.fixed = numbers["discrete"], numbers["fixed"]
        over_time = [self.leaves[x] for x in self.sequences + self.discrete]
        _check_given(over_time, states)
        self.time = ops.shape(over_time[0])[0]
        sequences = [self.leaves[number] for number in self.sequences]
        fixed = [
            products.fixed_value(self.leaves[number], dtype)
            for number in self.fixed
        ]

        looking = _Look(dtype, mask)
        weights = WeightsOfStep()
        new = self._new_states(
            0, states, [x[0] for x in sequences], fixed, looking, weights
        )
        _check_states(new, states)
        self.variables = list(map(id, weights.read))
        self.seeds = weights.seeds
        self.numbers, self.results = looking.numbers, looking.results
        self.operands = (
            sequences,
            fixed + [weights.state_mapping[key] for key in self.variables],
            [products.joined(kernels, dtype) for kernels in looking.kernels],
            list(states),
        )

    def _new_states(self, index, states, sequences, fixed, product, weights):
        """Computes a step from its entries of the sequences."""
        leaves = list(self.leaves)
        for number, x in zip(self.sequences, sequences, strict=True):
            leaves[number] = x
        for number in self.discrete:
            leaves[number] = leaves[number][index]
        for number, x in zip(self.fixed, fixed, strict=False):
            leaves[number] = x
        given = keras.tree.pack_sequence_as(self.given, leaves)
        token = products.OF_THE_LOOP.set(product)
        try:
            with weights:
                return self.step(list(states), given, product)
        finally:
            products.OF_THE_LOOP.reset(token)

    def advance(self, index, states, sequences, fixed, product):
        """Returns the states after a step; the old ones if it is skipped."""
        values = fixed[len(self.fixed) :]
        weights = WeightsOfStep(
            dict(zip(self.variables, values, strict=True)), self.seeds, index
        )
        new = self._new_states(
            index, states, sequences, fixed, product, weights
        )
        new = [ops.cast(x, y.dtype) for x, y in zip(new, states, strict=True)]
        if self.skipped is None:
            return new
        skipped = self.skipped[index]
        return [
            where_unmasked(skipped, old, x)
            for x, old in zip(new, states, strict=True)
        ]

    def forward(self, operands, keep=False):
        """Runs over time.

        Args:
            operands: Values of the `operands`.
            keep: Whether to keep what the gradient needs.

        Returns:
            The sequences of states and the final states, a tuple; and what is
            kept: the states before each step, and the results of its products.
        """
        sequences, fixed, kernels, states = operands

        def saved(old, new, results):
            return [new[: self.num_returned], *([old, results] if keep else [])]

        def read(index):
            return [x[index] for x in sequences]

        def step(states, index, here):
            product = _Save(self, kernels)
            new = self.advance(index, states, here, fixed, product)
            product.check_count(len(product.results))
            return new, saved(states, new, product.results)

        if self.unroll:
            last, found = _backend.unrolled(
                lambda states, index: step(states, index, read(index)),
                list(states),
                self.time,
            )
        else:
            like = saved(states, list(states), self.results)
            last, found = _backend.scan_reading(
                read, step, list(states), self.time, like
            )
        return (found[0], last), found[1:]


def _kind(leaf):
    """Returns how a loop treats a leaf of `given`.

    Integers and booleans, such as noise, are sequences without a gradient.
    """
    if isinstance(leaf, Fixed):
        return "fixed"
    # Variables are read like any other weight of the cell.
    if isinstance(leaf, (Kernel, keras.Variable)) or not hasattr(leaf, "dtype"):
        return None
    return "sequence" if is_float(leaf) else "discrete"


class _Look(Product):
    """A `product` for a trial step: records the kernels, returns zeros.

    Products are identified by their order in the step. `numbers` lists, for
    each product, the index of its kernel among `kernels`.
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.numbers, self.kernels = [], []
        self.found = {}

    def multiply(self, x, kernel):
        kernels = products.as_list(kernel)
        if not products.may_multiply(kernels):
            raise TypeError(
                "`product` expects a weight of the cell. If a kernel is "
                "computed from weights, compute it before the loop and return "
                "`Kernel(...)` from `given`. Received: kernels of the types "
                f"{', '.join(type(x).__name__ for x in kernels)}"
            )
        key = tuple(map(id, kernels))
        if key not in self.found:
            # The list keeps the kernels alive, so their ids stay valid.
            self.found[key] = len(self.kernels)
            self.kernels.append(kernels)
        self.numbers.append(self.found[key])
        zeros = wide(ops.zeros_like(x[..., :1]))
        width = sum(map(products.width_of, kernels))
        return zeros + ops.zeros((width,), zeros.dtype)


class _Save(Product):
    """Multiplies by the kernels of a loop, and saves the results.

    Args:
        loop: The `_Loop`.
        kernels: Its kernels.
    """

    def __init__(self, loop, kernels):
        super().__init__(loop.dtype, loop.mask)
        self.numbers, self.kernels = loop.numbers, kernels

    def multiply(self, x, kernel):
        count = len(self.results)
        if count >= len(self.numbers):
            self.check_count(count + 1)
        return products.multiply(x, self.kernels[self.numbers[count]])

    def check_count(self, count):
        """Raises `ValueError` unless a step has made all products."""
        if count != len(self.numbers):
            raise ValueError(
                "Every step must make the same products, none of them in a "
                f"branch of `ops.cond`. Expected: {len(self.numbers)} "
                f"products, as in the first step. Received: {count}"
            )


class WeightsOfStep(keras.StatelessScope):
    """A scope that gives variables other values, in float32 or wider.

    A loop with a custom gradient must get every weight as an argument. In this
    scope a step reads its variables as usual, and gets these arguments.

    A random generator keeps its counter in a variable, which a step of a loop
    cannot change. So in each step, forward and backward, it starts from a seed
    made from its first seed and the number of the step.

    Args:
        values: Dictionary from the `id` of a variable to its value in the
            scope. Other variables keep their values.
        seeds: The `seeds` of the first step; `None` outside of a loop.
        index: Number of the step.

    Attributes:
        read: List of the other variables that were read.
        seeds: Dictionary of the first seeds of the generators that were used.
            The generators have been advanced.
    """

    def __init__(self, values=None, seeds=None, index=None):
        super().__init__(initialize_variables=False)
        self.state_mapping = values or {}
        self.read = []
        self.in_a_loop = seeds is not None
        self.seeds = dict(seeds or {})
        for key, seed in self.seeds.items():
            move = ops.cast((index + 1) * _SEEDS_APART, seed.dtype)
            self.state_mapping[key] = seed + ops.stack([move, 0 * move])

    def get_current_value(self, variable):
        value = self.state_mapping.get(id(variable))
        if value is not None:
            return value
        if self.original_scope is not None:
            value = self.original_scope.get_current_value(variable)
        if not keras.backend.is_float_dtype(variable.dtype):
            return value
        if value is None:
            value = variable._value
        if value is None and self.original_scope is None:
            raise ValueError(
                "`build` of a cell must create all weights, and build all "
                "layers that a step uses. Received: a step that creates "
                f"{variable.path!r}"
            )
        if value is None:
            return None  # while layers are built to infer shapes
        value = wide(value)
        self.read.append(variable)
        self.state_mapping[id(variable)] = value
        return value

    def add_update(self, update):
        variable, value = update
        if self.in_a_loop and id(variable) in self.seeds:
            self.state_mapping[id(variable)] = value
            return
        if self.in_a_loop or variable.name != "seed_generator_state":
            raise ValueError(
                "A step cannot change a variable, except the state of a random "
                "generator. A cell that counts its steps must do so in a "
                f"state. Received: an update of {variable.path!r}"
            )
        self.__exit__()
        self.seeds.setdefault(id(variable), variable.value + 0)
        variable.assign(value)
        self.__enter__()


def repeated(outputs, skipped):
    """Replaces the output of each skipped step by the previous one, or 0.

    Args:
        outputs: Tensor of shape `(time, batch, ...)`.
        skipped: Boolean tensor of shape `(time, batch)`.
    """

    # The loop finds the index of that output, and needs no gradient: XLA cannot
    # differentiate a loop of unknown length.
    def step(found, index):
        found = ops.where(skipped[index], found, index + 1)
        return found, found

    found = ops.zeros_like(skipped[0], dtype="int32")
    found = _backend.scan(step, found, ops.shape(outputs)[0])[1]
    outputs = ops.concatenate([ops.zeros_like(outputs[:1]), outputs])
    outputs = gather(ops.swapaxes(outputs, 0, 1), ops.transpose(found))
    return ops.swapaxes(outputs, 0, 1)


def _check_given(over_time, states):
    """Raises `ValueError` unless all tensors have time and batch axes."""
    if not over_time:
        raise ValueError(
            "`given` must return at least one tensor computed from its inputs, "
            "which tells the loop its length. Received: none, or only `Fixed` "
            "tensors"
        )
    axes = over_time[0].shape[0], states[0].shape[0]
    for x in over_time:
        if not same_shape(x.shape[:2], axes):
            raise ValueError(
                "`given` must return tensors `(time, batch, ...)`. Wrap a "
                "tensor that is the same at every step in `Fixed(...)`, and a "
                "kernel computed from weights in `Kernel(...)`. Received: "
                f"shape {tuple(x.shape)}"
            )


def _check_states(new, states):
    """Raises `ValueError` unless the new states have the old shapes."""
    expected = [tuple(x.shape) for x in states]
    found = new
    if isinstance(new, (list, tuple)):
        found = [tuple(getattr(x, "shape", ())) for x in new]
    if found != expected and (
        not isinstance(found, list)
        or [x[1:] for x in found] != [x[1:] for x in expected]
    ):
        raise ValueError(
            "`step` must return only the list of new states. Expected: shapes "
            f"{expected}. Received: {found}"
        )
