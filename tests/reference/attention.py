"""Attention of a set of queries to a memory, in NumPy.

Shapes: `query` is `(batch, queries, query_dim)`, `memory` is
`(batch, places, memory_dim)`, `mask` is `(batch, places)`, true where the
memory counts, or `None`. Scores are `(batch, queries, places)`.
"""

import numpy as np


def masked_softmax(scores, mask):
    """Softmax over the unmasked places; the others get exactly 0.

    `scores` is `(batch, ..., places)`, and so is the result. A row whose
    places are all masked is all zeros.
    """
    scores = np.asarray(scores, dtype="float64")
    weights = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        batch = row[0]
        if mask is None:
            keep = np.ones(scores.shape[-1], dtype=bool)
        else:
            keep = np.asarray(mask[batch], dtype=bool)
        if keep.any():
            kept = scores[row][keep]
            exps = np.exp(kept - kept.max())
            weights[row][keep] = exps / exps.sum()
    return weights


def _pairwise(score, query, memory):
    """`score(q, k)` of every query vector with every memory vector."""
    query = np.asarray(query, dtype="float64")
    memory = np.asarray(memory, dtype="float64")
    batch, queries, _ = query.shape
    places = memory.shape[1]
    scores = np.zeros((batch, queries, places))
    for b in range(batch):
        for i in range(queries):
            for j in range(places):
                scores[b, i, j] = score(query[b, i], memory[b, j])
    return scores


def dot_scores(query, keys):
    """q . k, with `keys` `(batch, places, query_dim)`."""
    return _pairwise(lambda q, k: q @ k, query, keys)


def scaled_dot_scores(query, keys):
    """q . k / sqrt(d), with `keys` `(batch, places, d)`."""
    return _pairwise(lambda q, k: q @ k / np.sqrt(len(k)), query, keys)


def general_scores(query, memory, kernel):
    """q W k, with `kernel` `(query_dim, memory_dim)`."""
    kernel = np.asarray(kernel, dtype="float64")
    return _pairwise(lambda q, k: q @ kernel @ k, query, memory)


def additive_scores(
    query,
    memory,
    query_kernel,
    memory_kernel,
    score_kernel,
    query_bias=0,
    memory_bias=0,
    score_bias=0,
):
    """v . tanh(W_q q + b_q + W_k k + b_k) + b_v.

    `query_kernel` is `(query_dim, units)`, `memory_kernel` is
    `(memory_dim, units)`, `score_kernel` has `units` entries, as have the
    first two biases; `score_bias` has one.
    """
    query_kernel = np.asarray(query_kernel, dtype="float64")
    memory_kernel = np.asarray(memory_kernel, dtype="float64")
    score_kernel = np.asarray(score_kernel, dtype="float64").reshape(-1)
    score_bias = np.asarray(score_bias, dtype="float64").item()

    def score(q, k):
        hidden = np.tanh(
            q @ query_kernel + query_bias + k @ memory_kernel + memory_bias
        )
        return score_kernel @ hidden + score_bias

    return _pairwise(score, query, memory)


def attend(scores, memory, mask):
    """Weights a = softmax(scores), context c = sum_j a_j memory_j.

    Returns the context `(batch, queries, memory_dim)` and the weights
    `(batch, queries, places)`.
    """
    memory = np.asarray(memory, dtype="float64")
    weights = masked_softmax(scores, mask)
    batch, queries, places = weights.shape
    context = np.zeros((batch, queries, memory.shape[-1]))
    for b in range(batch):
        for i in range(queries):
            for j in range(places):
                context[b, i] += weights[b, i, j] * memory[b, j]
    return context, weights


def multi_head_attend(
    query, memory, mask, query_kernel, key_kernel, value_kernel, output_kernel
):
    """Scaled dot attention per head on projections, then one projection.

    `query_kernel` is `(query_dim, heads, head_dim)`, `key_kernel` and
    `value_kernel` are `(memory_dim, heads, head_dim)`, `output_kernel` is
    `(heads, head_dim, units)`. Returns the output `(batch, queries, units)`
    and the weights `(batch, heads, queries, places)`.
    """
    query = np.asarray(query, dtype="float64")
    memory = np.asarray(memory, dtype="float64")
    _, heads, head_dim = query_kernel.shape
    contexts, weights = [], []
    for n in range(heads):
        q = query @ query_kernel[:, n]  # (batch, queries, head_dim)
        k = memory @ key_kernel[:, n]  # (batch, places, head_dim)
        v = memory @ value_kernel[:, n]  # (batch, places, head_dim)
        scores = dot_scores(q, k) / np.sqrt(head_dim)
        context_n, weights_n = attend(scores, v, mask)
        contexts.append(context_n)
        weights.append(weights_n)
    concatenated = np.concatenate(contexts, axis=-1)
    units = output_kernel.shape[-1]
    # The heads lie one after another in the rows, as in the concatenation.
    output = concatenated @ np.reshape(output_kernel, (-1, units))
    return output, np.stack(weights, axis=1)
