"""Loops over time whose gradients are written by hand.

With automatic differentiation a loop adds to the gradient of every weight at
every step, which takes a matrix product, and reads and writes the whole
gradient. Here the loop backward through time only computes the gradients of the
preactivations. One product over all steps then gives each weight's gradient.
"""

import abc

import keras
from keras import ops


class Loop(abc.ABC):
    """Base class of the loops: a step's equations, forward and backward.

    Each loop defines what `saved` and `emitted` are, two nests of tensors;
    `gradients` gets those of all steps, `(time, batch, ...)`.

    Args:
        state_mask: Dropout mask of the state, `(batch, units)`, the same at
            every step, or `None`.
    """

    def __init__(self, state_mask=None):
        self.state_mask = state_mask

    def dropped(self, state):
        """Applies the dropout mask to the state, or to its gradient."""
        return state if self.state_mask is None else state * self.state_mask

    @abc.abstractmethod
    def step(self, states, given):
        """Computes one step: `(states, given) -> (states, saved)`.

        `given` is the input's part of the step's preactivations,
        `(batch, width)`; the first of the states is the output.
        """

    @abc.abstractmethod
    def transpose(self):
        """Prepares for `step_back`, before its loop."""

    @abc.abstractmethod
    def step_back(self, grads, saved):
        """Computes one step backward: `(grads, saved) -> (grads, emitted)`.

        `grads` are the gradients of the states.
        """

    @abc.abstractmethod
    def gradients(self, saved, emitted):
        """Returns the gradients of `given`, and of the weights by name."""


def scan_and_save(step, state, sequences, reverse=False, blank=None):
    """Runs a loop whose steps save tensors besides its state.

    Args:
        step: Function `(state, inputs) -> (state, saved)`.
        state: Nest of tensors `(batch, ...)`, the state to start from.
        sequences: Nest of tensors `(time, batch, ...)`.
        reverse: Whether to run from the last step to the first.
        blank: Zeros in the shapes of what a step saves. Not needed if all
            these shapes are known, except for the batch size.

    Returns:
        The final state and what was saved, a nest of `(time, batch, ...)`.
    """
    if blank is None:
        blank = _blank(step, state, sequences)

    # A place is read by an index that NumPy does not take.
    sequences = keras.tree.map_structure(ops.convert_to_tensor, sequences)

    # On TensorFlow, `keras.ops.scan` requires a step's output to have the
    # structure of its carry, so what is saved is part of the carry, written
    # and never read. It also fails on several sequences of unknown length, so
    # it scans over indices; `x[index]` on the first axis does not copy.
    def body(carry, index):
        inputs = keras.tree.map_structure(lambda x: x[index], sequences)
        carry = step(carry[0], inputs)
        return carry, carry

    time = ops.shape(keras.tree.flatten(sequences)[0])[0]
    (state, _), (_, saved) = ops.scan(
        body, (state, blank), ops.arange(time), reverse=reverse
    )
    return state, saved


def _blank(step, state, sequences):
    """Returns zeros in the shapes of what a step saves."""
    batch_size = ops.shape(keras.tree.flatten(state)[0])[0]
    # An additional step, of which only the shapes are used: a graph never
    # computes it.
    _, saved = step(state, keras.tree.map_structure(lambda x: x[0], sequences))
    return keras.tree.map_structure(
        lambda x: ops.zeros((batch_size, *x.shape[1:]), x.dtype), saved
    )


def run_loop(make_loop, products, states, weights, mask=None, zoneout=None):
    """Runs a loop over time, with a hand-written gradient.

    Args:
        make_loop: Function of the weights that returns a `Loop`.
        products: Tensor of shape `(time, batch, width)`, the products with the
            input, which the steps get as `given`.
        states: Tuple of tensors `(batch, ...)`, the states to start from; the
            first is the output of a step.
        weights: Dictionary of tensors or of lists of them.
        mask: Tensor of shape `(time, batch, 1)`, 0 where a step is skipped,
            or `None`.
        zoneout: What each state keeps of the step before, see `Kept`, or
            `None`.

    Returns:
        A tuple: the outputs of all steps, `(time, batch, units)`, and the
        last of the other states.
    """
    kept = Kept(states, mask, zoneout)

    @ops.custom_gradient
    def run(products, states, weights):
        loop = make_loop(weights)

        def step(states, inputs):
            given, here = inputs
            new, saved = loop.step(states, given)
            new = kept.blend(new, states, here)
            return new, (new[0], saved)

        last, (outputs, saved) = scan_and_save(
            step, states, (products, kept.sequences)
        )

        def gradient(*upstream):
            upstream, *last_grads = keras.tree.flatten(upstream)
            loop.transpose()

            def step_back(grads, inputs):
                upstream, saved, here = inputs
                grads = (grads[0] + upstream, *grads[1:])
                grads, through = kept.blend_back(grads, here)
                grads, emitted = loop.step_back(grads, saved)
                return kept.add(grads, through), emitted

            grads, emitted = scan_and_save(
                step_back,
                (ops.zeros_like(states[0]), *last_grads),
                (upstream, saved, kept.sequences),
                reverse=True,
            )
            products_grad, weights_grad = loop.gradients(saved, emitted)
            weights_grad = {name: weights_grad[name] for name in weights}
            return (
                products_grad,
                grads,
                keras.tree.map_structure(
                    lambda gradient, weight: ops.cast(gradient, weight.dtype),
                    weights_grad,
                    weights,
                ),
            )

        return (outputs, *last[1:]), gradient

    return run(products, states, weights)


class Kept:
    """What the states keep of the step before, by masking and by zoneout.

    Args:
        states: Tuple of tensors `(batch, ...)`.
        mask: Tensor of shape `(time, batch, 1)`, 0 where a step is skipped,
            or `None`.
        zoneout: `None`, or for each state one of: a boolean tensor
            `(time, batch, width)`, true where a unit keeps its old value; a
            float, the share of its old value that each unit keeps; `None`.
    """

    def __init__(self, states, mask=None, zoneout=None):
        zoneout = zoneout or [None] * len(states)
        self.rates = [x if isinstance(x, float) else None for x in zoneout]
        noise = [None if isinstance(x, float) else x for x in zoneout]
        self.places = [
            _joined(state, mask, units)
            for state, units in zip(states, noise, strict=True)
        ]
        # Booleans `(time, batch, ...)`, over which the loop runs.
        self.sequences = [x for x in self.places if x is not None]

    def _by_state(self, states, here):
        here = iter(here)
        for state, places, rate in zip(
            states, self.places, self.rates, strict=True
        ):
            yield state, None if places is None else next(here), rate

    def blend(self, new, old, here):
        """Returns the new states, with the old values where they are kept."""
        blended = []
        for (state, keeps, rate), before in zip(
            self._by_state(new, here), old, strict=True
        ):
            if rate is not None:
                state = state + rate * (before - state)
            if keeps is not None:
                state = ops.where(keeps, before, state)
            blended.append(state)
        return tuple(blended)

    def blend_back(self, grads, here):
        """Returns the gradients of `new` and `old`, from those of `blend`."""
        new, old = [], []
        for grad, keeps, rate in self._by_state(grads, here):
            through = None
            if keeps is not None:
                through = ops.where(keeps, grad, 0.0)
                grad = ops.where(keeps, 0.0, grad)
            if rate is not None:
                through = rate * grad + (0.0 if through is None else through)
                grad = (1.0 - rate) * grad
            new.append(grad)
            old.append(through)
        return tuple(new), old

    def add(self, grads, through):
        """Adds the gradients of `old`, where there are any."""
        return tuple(
            grad if more is None else grad + more
            for grad, more in zip(grads, through, strict=True)
        )


def _joined(state, mask, noise):
    """Returns where a state keeps its old value: booleans, or `None`."""
    rank = len(state.shape)
    joined = None
    if noise is not None:
        shape = (ops.shape(noise)[0], *ops.shape(state))
        joined = ops.reshape(noise, shape)
    if mask is not None:
        skipped = ops.equal(mask, 0)
        shape = (*ops.shape(mask), *[1] * (rank - 2))
        skipped = ops.reshape(skipped, shape)
        joined = skipped if joined is None else ops.logical_or(joined, skipped)
    return joined
