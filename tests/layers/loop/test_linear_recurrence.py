import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers.loop.linear_recurrence import linear_scan
from tests import helpers

LENGTHS = [0, 1, 15, 16, 17, 50]


def recurrence(a, b, start, reverse=False):
    """The same, step by step."""
    h, found = start, []
    steps = range(len(a))
    for step in reversed(steps) if reverse else steps:
        h = a[step] * h + b[step]
        found.append(h)
    return found[::-1] if reverse else found


def coefficients(time):
    arrays = [helpers.random(time, 2, 3, seed=seed) for seed in range(2)]
    return [1 / (1 + np.exp(-arrays[0])), arrays[1], helpers.random(2, 3)]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("time", LENGTHS)
def test_a_scan_is_the_recurrence(time, reverse):
    arrays = coefficients(time)
    found = linear_scan(*map(ops.convert_to_tensor, arrays), reverse)
    expected = np.reshape(recurrence(*arrays, reverse), (time, 2, 3))
    helpers.assert_close(found, expected)


def of_all(function, arrays, stacks=False):
    """Gradients of the sum of the cubes, and of the sum of their squares."""

    def cubes(*arrays):
        found = function(*arrays)
        return ops.sum((ops.stack(found) if stacks else found) ** 3)

    arrays = list(map(ops.convert_to_tensor, arrays))
    if keras.backend.backend() == "jax":
        import jax

        def first(arrays):
            return jax.grad(lambda x: cubes(*x))(arrays)

        def squares(arrays):
            return sum(ops.sum(x**2) for x in first(arrays))

        return jax.jit(lambda x: (first(x), jax.grad(squares)(x)))(arrays)
    if keras.backend.backend() == "torch":
        import torch

        for x in arrays:
            x.requires_grad_()
        first = torch.autograd.grad(cubes(*arrays), arrays, create_graph=True)
        total = sum(ops.sum(x**2) for x in first)
        return first, torch.autograd.grad(total, arrays)
    import tensorflow as tf

    def run(arrays):
        with tf.GradientTape() as outer:
            outer.watch(arrays)
            with tf.GradientTape() as inner:
                inner.watch(arrays)
                total = cubes(*arrays)
            first = inner.gradient(total, arrays)
            total = sum(ops.sum(x**2) for x in first)
        return first, outer.gradient(total, arrays)

    # A scan has loops, which are others in a graph.
    return run(arrays) if stacks else tf.function(run)(arrays)


@pytest.mark.parametrize("time", helpers.one_now([17, 1]))
def test_two_derivatives_of_a_scan(time):
    arrays = coefficients(time)
    expected = of_all(recurrence, arrays, stacks=True)
    helpers.assert_close(of_all(linear_scan, arrays), expected, 1e-4, 1e-3)
