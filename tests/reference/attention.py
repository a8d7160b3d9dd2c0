"""Attention of a set of queries to a memory, in NumPy.

Shapes: `query` is `(batch, queries, query_dim)`, `memory` is
`(batch, positions, memory_dim)`, `mask` is `(batch, positions)`, true where the
memory counts, or `None`. Scores are `(batch, queries, positions)`.
"""

import numpy as np
from keras import ops


def masked_softmax(scores, mask):
    """Softmax over the unmasked positions; the others get exactly 0.

    `scores` is `(batch, ..., positions)`, and so is the result. A row whose
    positions are all masked is all zeros.
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
    positions = memory.shape[1]
    scores = np.zeros((batch, queries, positions))
    for b in range(batch):
        for i in range(queries):
            for j in range(positions):
                scores[b, i, j] = score(query[b, i], memory[b, j])
    return scores


def dot_scores(query, keys):
    """q . k, with `keys` `(batch, positions, query_dim)`."""
    return _pairwise(lambda q, k: q @ k, query, keys)


def scaled_dot_scores(query, keys):
    """q . k / sqrt(d), with `keys` `(batch, positions, d)`."""
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
    coverage=None,
    coverage_kernel=0,
):
    """v . tanh(W_q q + b_q + W_k k + b_k + W_c C) + b_v.

    `query_kernel` is `(query_dim, units)`, `memory_kernel` is
    `(memory_dim, units)`, `score_kernel` has `units` entries, as have
    `coverage_kernel` and the first two biases; `score_bias` has one.
    `coverage` is `(batch, positions)`, the same for every query.
    """
    query, memory = (np.asarray(x, dtype="float64") for x in (query, memory))
    batch, queries, _ = query.shape
    positions = memory.shape[1]
    if coverage is None:
        coverage = np.zeros((batch, positions))
    scores = np.zeros((batch, queries, positions))
    for b, i, j in np.ndindex(scores.shape):
        hidden = np.tanh(
            query[b, i] @ query_kernel
            + query_bias
            + memory[b, j] @ memory_kernel
            + memory_bias
            + coverage[b, j] * np.reshape(coverage_kernel, -1)
        )
        scores[b, i, j] = (
            np.reshape(score_kernel, -1) @ hidden + np.reshape(score_bias, -1)
        ).item()
    return scores


def normalized(kernel, gain):
    """g v / |v|."""
    return gain * kernel / np.sqrt(np.sum(kernel**2))


def attend(scores, memory, mask):
    """Weights a = softmax(scores), context c = sum_j a_j memory_j.

    Returns the context `(batch, queries, memory_dim)` and the weights
    `(batch, queries, positions)`.
    """
    memory = np.asarray(memory, dtype="float64")
    weights = masked_softmax(scores, mask)
    batch, queries, positions = weights.shape
    context = np.zeros((batch, queries, memory.shape[-1]))
    for b in range(batch):
        for i in range(queries):
            for j in range(positions):
                context[b, i] += weights[b, i, j] * memory[b, j]
    return context, weights


def multi_head_attend(
    query, memory, mask, query_kernel, key_kernel, value_kernel, output_kernel
):
    """Scaled dot attention per head on projections, then one projection.

    `query_kernel` is `(query_dim, heads, head_dim)`, `key_kernel` and
    `value_kernel` are `(memory_dim, heads, head_dim)`, `output_kernel` is
    `(heads, head_dim, units)`. Returns the output `(batch, queries, units)`
    and the weights `(batch, heads, queries, positions)`.
    """
    query = np.asarray(query, dtype="float64")
    memory = np.asarray(memory, dtype="float64")
    _, heads, head_dim = query_kernel.shape
    contexts, weights = [], []
    for n in range(heads):
        q = query @ query_kernel[:, n]  # (batch, queries, head_dim)
        k = memory @ key_kernel[:, n]  # (batch, positions, head_dim)
        v = memory @ value_kernel[:, n]  # (batch, positions, head_dim)
        scores = dot_scores(q, k) / np.sqrt(head_dim)
        context_n, weights_n = attend(scores, v, mask)
        contexts.append(context_n)
        weights.append(weights_n)
    concatenated = np.concatenate(contexts, axis=-1)
    units = output_kernel.shape[-1]
    # The heads lie one after another in the rows, as in the concatenation.
    output = concatenated @ np.reshape(output_kernel, (-1, units))
    return output, np.stack(weights, axis=1)


def multi_scale_attend(
    query,
    memory,
    mask,
    spans,
    blocks,
    query_kernel,
    key_kernel,
    value_kernel,
    output_kernel,
):
    """Multi-head attention whose head `n` attends to blocks of `spans[n]`.

    The kernels are those of `multi_head_attend`. The blocks of a row are
    counted back from its last position that counts, and at most `blocks` of
    them are seen. Key and value of a block are the means of those of its
    positions that count, and these share its weight.
    """
    mask = np.ones(memory.shape[:2], bool) if mask is None else mask
    _, heads, head_dim = query_kernel.shape
    contexts = np.zeros((*query.shape[:2], heads, head_dim))
    weights = np.zeros((len(query), heads, query.shape[1], memory.shape[1]))
    for b, n in np.ndindex(len(query), heads):
        real = np.flatnonzero(mask[b])
        if not len(real):
            continue
        ends = range(real[-1], -1, -spans[n])[:blocks]
        pools = [[i for i in real if 0 <= end - i < spans[n]] for end in ends]
        pools = [pool for pool in pools if pool]
        for t in range(query.shape[1]):
            means = np.array([memory[b, pool].mean(axis=0) for pool in pools])
            q = query[b, t] @ query_kernel[:, n]
            scores = means @ key_kernel[:, n] @ q
            exps = np.exp(scores / np.sqrt(head_dim))
            alphas = exps / exps.sum()
            contexts[b, t, n] = alphas @ means @ value_kernel[:, n]
            for alpha, pool in zip(alphas, pools, strict=True):
                weights[b, n, t, pool] = alpha / len(pool)
    return np.einsum("bthd,hdu->btu", contexts, output_kernel), weights


def contexts(weights, memory):
    """c = sum_j a_j memory_j over the last axis of the weights."""
    return np.einsum("bij,bjd->bid", weights, np.asarray(memory, "float64"))


def unmasked(mask, batch, positions):
    """Of each row the positions that count, in their order."""
    if mask is None:
        mask = np.ones((batch, positions))
    return [np.flatnonzero(row) for row in mask]


def local_attend(scores, memory, mask, centers, radius, gaussian):
    """Softmax of the positions within a radius, perhaps times a Gaussian.

    `centers(b, i, count)` is the position that query `i` of row `b` looks at,
    of `count` positions that are not masked. They are counted from 0.
    """
    weights = np.zeros(scores.shape)
    rows = unmasked(mask, *scores.shape[::2])
    for b, i in np.ndindex(scores.shape[:2]):
        center = centers(b, i, len(rows[b]))
        near = [
            (s, position)
            for s, position in enumerate(rows[b])
            if abs(s - center) <= radius
        ]
        total = sum(np.exp(scores[b, i, position]) for _, position in near)
        for s, position in near:
            weights[b, i, position] = np.exp(scores[b, i, position]) / total
            if gaussian:
                deviation = radius / 2
                weights[b, i, position] *= np.exp(
                    -((s - center) ** 2) / (2 * deviation**2)
                )
    return contexts(weights, memory), weights


def predicted_centers(query, hidden_kernel, position_kernel):
    """p_t = S sigmoid(v . tanh(W q)), for `local_attend`."""

    def center(b, i, count):
        hidden = np.tanh(query[b, i] @ hidden_kernel)
        return count / (1 + np.exp(-(hidden @ position_kernel).item()))

    return center


def step_centers(b, i, count):
    """p_t = t, but for the steps that find no such position, for the same."""
    return min(i, count - 1)


def location_attend(query, memory, mask, kernel):
    """Softmax of `W q`, of which each position in its order has a row."""
    shape = (*query.shape[:2], memory.shape[1])
    weights = np.zeros(shape)
    rows = unmasked(mask, *shape[::2])
    for b, i in np.ndindex(shape[:2]):
        positions = rows[b][: len(kernel)]
        exps = np.exp(kernel[: len(positions)] @ query[b, i])
        weights[b, i, positions] = exps / exps.sum()
    return contexts(weights, memory), weights


def coverage_attend(query, memory, mask, fertility=None, **kernels):
    """Additive attention step by step, with what was covered in the score.

    `fertility` is `(batch, positions)`; without it, what is covered is the sum
    of the weights. `kernels` are those of `additive_scores`.
    """
    covered = np.zeros(memory.shape[:2])
    steps = []
    for i in range(query.shape[1]):
        scores = additive_scores(
            query[:, i : i + 1],
            memory,
            coverage=covered,
            **kernels,
        )
        weights = masked_softmax(scores, mask)[:, 0]
        covered += weights if fertility is None else weights / fertility
        steps.append(weights)
    weights = np.stack(steps, axis=1)
    return contexts(weights, memory), weights


def monotonic_weights(stops, mask):
    """The probability that step `i` stops at each position.

    `stops` is `(batch, steps, positions)`, the probabilities to stop there.
    Equation 9 of Raffel et al. 2017, as it stands: from each position `k` at
    which the step before may have stopped, past all positions before `j`.
    """
    stops = np.array(stops, dtype="float64")
    if mask is not None:
        stops *= np.asarray(mask)[:, None]
    weights = np.zeros(stops.shape)
    before = np.zeros((stops.shape[0], stops.shape[2]))
    before[:, 0] = 1
    for i in range(stops.shape[1]):
        for b, j in np.ndindex(before.shape):
            weights[b, i, j] = stops[b, i, j] * sum(
                before[b, k] * np.prod(1 - stops[b, i, k:j])
                for k in range(j + 1)
            )
        before = weights[:, i]
    return weights


# The same, with the weights of the layers that they check.


def attend_as(mechanism, query, memory, mask=None, training=False):
    """Context and weights of an attention mechanism of the package.

    The queries are steps, one after another. What stands at masked positions is
    not read, and in training nothing may be random.
    """
    query, memory = (np.asarray(x, "float64") for x in (query, memory))
    if mask is not None:
        memory = np.where(np.asarray(mask)[..., None], memory, 0)
    name = type(mechanism).__name__
    if name in _BY_CLASS:
        return _BY_CLASS[name](mechanism, query, memory, mask)
    scores = scores_of(mechanism, query, memory)
    if name == "MonotonicAttention":
        scores = scores + _value(mechanism.bias)
        stops = _sigmoid(scores) if training else scores > 0
        weights = monotonic_weights(stops, mask)
        return contexts(weights, memory), weights
    return attend(scores, memory, mask)


def scores_of(mechanism, query, memory):
    """The scores of a mechanism, `(batch, queries, positions)`."""
    name = type(mechanism).__name__
    if name == "DotAttention":
        return dot_scores(query, memory)
    if name == "ScaledDotAttention":
        return scaled_dot_scores(query, memory)
    if name == "GeneralAttention":
        scores = general_scores(query, memory, _value(mechanism.kernel))
        return scores * (_value(mechanism.scale) if mechanism.use_scale else 1)
    return additive_scores(query, memory, **_additive(mechanism))


def _value(weight):
    return np.array(ops.convert_to_numpy(weight.value), "float64")


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _additive(mechanism):
    """The weights of an additive score by their names in the oracle."""
    found = {}
    for part in ("query", "memory", "score"):
        dense = getattr(mechanism, f"{part}_projection")
        found[f"{part}_kernel"] = _value(dense.kernel)
        if dense.use_bias:
            found[f"{part}_bias"] = _value(dense.bias)
    if mechanism.normalize:
        found["score_kernel"] = normalized(
            found["score_kernel"], _value(mechanism.gain)
        )
    return found


def _multi_head(mechanism, query, memory, mask):
    context, by_head = multi_head_attend(
        query, memory, mask, *_by_head(mechanism)
    )
    return context, by_head.mean(axis=1)


def _multi_scale(mechanism, query, memory, mask):
    context, by_head = multi_scale_attend(
        query,
        memory,
        mask,
        mechanism.spans,
        mechanism.blocks,
        *_by_head(mechanism),
    )
    return context, by_head.mean(axis=1)


def _by_head(mechanism):
    """The kernels of multi-head attention, with an axis for the heads."""
    heads = (mechanism.num_heads, mechanism.head_dim)
    *kernels, output = (_value(weight) for weight in mechanism.weights)
    kernels = [kernel.reshape((len(kernel), *heads)) for kernel in kernels]
    return [*kernels, output.reshape((*heads, -1))]


def _local(mechanism, query, memory, mask):
    predictive = mechanism.alignment == "predictive"
    if predictive:
        centers = predicted_centers(
            query,
            _value(mechanism.hidden_kernel),
            _value(mechanism.position_kernel),
        )
    else:
        centers = step_centers
    scores = scores_of(mechanism.attention, query, memory)
    return local_attend(
        scores, memory, mask, centers, mechanism.radius, gaussian=predictive
    )


def _location(mechanism, query, memory, mask):
    kernel = _value(mechanism.kernel)
    return location_attend(query, memory, mask, kernel)


def _coverage(mechanism, query, memory, mask):
    fertility = None
    if mechanism.fertility is not None:
        logits = memory @ _value(mechanism.fertility_kernel)
        fertility = mechanism.fertility * _sigmoid(logits[..., 0])
    return coverage_attend(
        query,
        memory,
        mask,
        fertility,
        coverage_kernel=_value(mechanism.coverage_kernel),
        **_additive(mechanism),
    )


_BY_CLASS = {
    "MultiHeadDotAttention": _multi_head,
    "MultiScaleAttention": _multi_scale,
    "LocalAttention": _local,
    "LocationAttention": _location,
    "CoverageAttention": _coverage,
}
