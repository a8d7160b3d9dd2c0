"""Blocks that attend to a memory of their own steps, in NumPy.

Shapes: `sequence` is `(batch, time, width)`, kernels are `(inputs, outputs)`.
Nothing precedes the sequence. `memory` is the number of earlier steps that a
step sees besides itself. `norms` are pairs of a scale and an offset. `masks`
are those of dropout, a factor for each branch.
"""

import math

import numpy as np

from tests.reference.attention import attend
from tests.reference.attention import multi_head_attend
from tests.reference.attention import scaled_dot_scores


def layer_norm(x, scale, offset):
    """(x - mean) / sqrt(variance + 1e-5) * scale + offset."""
    centered = x - x.mean(axis=-1, keepdims=True)
    variance = np.mean(centered**2, axis=-1, keepdims=True)
    return centered / np.sqrt(variance + 1e-5) * scale + offset


def gelu(x):
    """x P(z < x) of a standard normal z."""
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step_by_step(attend_fn, queries, positions, memory):
    """`attend_fn(query, seen)` of each step; it sees itself and `memory`."""
    contexts = [
        attend_fn(
            queries[:, t : t + 1], positions[:, max(0, t - memory) : t + 1]
        )
        for t in range(queries.shape[1])
    ]
    return np.concatenate(contexts, axis=1)


def transformer(sequence, memory, norms, heads, hidden, output, masks=(1, 1)):
    """A transformer block that is normalized before each part.

    `heads` are the four kernels of `multi_head_attend`; `hidden` and `output`
    are the kernel and bias of the feed-forward layers.
    """
    positions = layer_norm(sequence, *norms[0])
    a = sequence + masks[0] * step_by_step(
        lambda query, seen: multi_head_attend(query, seen, None, *heads)[0],
        positions,
        positions,
        memory,
    )
    wide = gelu(layer_norm(a, *norms[1]) @ hidden[0] + hidden[1])
    return a + masks[1] * (wide @ output[0] + output[1])


def sha_attend(query, seen, query_layer, query_norm, value_layer, gates):
    """Single-headed attention with gates for query, keys and values."""
    of_query, of_key, of_value = sigmoid(gates)
    query = layer_norm(query @ query_layer[0] + query_layer[1], *query_norm)
    content, opening = np.split(of_value @ value_layer[0] + value_layer[1], 2)
    values = sigmoid(opening) * np.tanh(content) * seen
    scores = scaled_dot_scores(of_query * query, of_key * seen)
    return attend(scores, values, None)[0]


def sha(hidden, memory, norms, boom, *attention, masks=(1, 1, 1)):
    """The block of SHA-RNN, above the outputs `hidden` of its cell.

    `norms` are those of memory, query, residual and boom layer, `boom` is the
    kernel and bias of that layer, `attention` the rest of `sha_attend`.
    """
    hidden = masks[0] * hidden
    query = layer_norm(hidden, *norms[1])
    a = query + masks[1] * step_by_step(
        lambda query, seen: sha_attend(query, seen, *attention),
        query,
        layer_norm(hidden, *norms[0]),
        memory,
    )
    wide = gelu(layer_norm(a, *norms[3]) @ boom[0] + boom[1])
    chunks = np.split(wide, wide.shape[-1] // hidden.shape[-1], axis=-1)
    return layer_norm(a, *norms[2]) + masks[2] * sum(chunks)
