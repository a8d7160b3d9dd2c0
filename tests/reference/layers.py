"""The oracles, with the weights of the layers they check."""

import numpy as np

from tests.reference import attention
from tests.reference import cells


def weights_of(layer):
    """The weights of a layer, in float64."""
    return [np.asarray(w, "float64") for w in layer.get_weights()]


def attend(mechanism, query, memory, mask=None):
    """Context and weights of an attention mechanism of the package."""
    weights = weights_of(mechanism)
    name = type(mechanism).__name__
    if name == "MultiHeadDotAttention":
        heads = (mechanism.num_heads, mechanism.head_dim)
        kernels = [w.reshape((len(w), *heads)) for w in weights[:3]]
        output = weights[3].reshape((*heads, -1))
        context, by_head = attention.multi_head_attend(
            query, memory, mask, *kernels, output
        )
        return context, by_head.mean(axis=1)
    if name == "BahdanauAttention":
        # A bias, where there is one, comes behind its kernel.
        each = 2 if mechanism.use_bias else 1
        weights = [*weights[::each], *(weights[1::2] if each == 2 else [])]
    score = {
        "DotAttention": attention.dot_scores,
        "ScaledDotAttention": attention.scaled_dot_scores,
        "GeneralAttention": attention.general_scores,
        "BahdanauAttention": attention.additive_scores,
    }[name]
    return attention.attend(score(query, memory, *weights), memory, mask)


def step_of(cell):
    """`step(x, state) -> state` of a Keras cell.

    A state begins with the output: `h`, `(h, c)`, or for stacked GRUs the
    `h` of the last of them first.
    """
    if hasattr(cell, "cells"):
        steps = [step_of(inner) for inner in cell.cells]

        def stacked(x, states):
            new = []
            for step, state in zip(steps, reversed(states), strict=True):
                x = step(x, state)
                new.insert(0, x)
            return tuple(new)

        return stacked
    weights = weights_of(cell)
    if type(cell).__name__ == "LSTMCell":
        return lambda x, state: cells.lstm_step(x, *state, *weights)
    return lambda x, h: cells.gru_step(
        x, h, *weights, reset_after=cell.reset_after
    )
