"""The oracles of attention, with the weights of the layers they check."""

import numpy as np
from keras import ops

from tests.reference import attention


def attend(mechanism, query, memory, mask=None, training=False):
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
        weights = attention.monotonic_weights(stops, mask)
        return attention.contexts(weights, memory), weights
    return attention.attend(scores, memory, mask)


def scores_of(mechanism, query, memory):
    """The scores of a mechanism, `(batch, queries, positions)`."""
    name = type(mechanism).__name__
    if name == "DotAttention":
        return attention.dot_scores(query, memory)
    if name == "ScaledDotAttention":
        return attention.scaled_dot_scores(query, memory)
    if name == "GeneralAttention":
        scores = attention.general_scores(
            query, memory, _value(mechanism.kernel)
        )
        return scores * (_value(mechanism.scale) if mechanism.use_scale else 1)
    return attention.additive_scores(query, memory, **_additive(mechanism))


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
        found["score_kernel"] = attention.normalized(
            found["score_kernel"], _value(mechanism.gain)
        )
    return found


def _multi_head(mechanism, query, memory, mask):
    context, by_head = attention.multi_head_attend(
        query, memory, mask, *_by_head(mechanism)
    )
    return context, by_head.mean(axis=1)


def _multi_scale(mechanism, query, memory, mask):
    context, by_head = attention.multi_scale_attend(
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
        centers = attention.predicted_centers(
            query,
            _value(mechanism.hidden_kernel),
            _value(mechanism.position_kernel),
        )
    else:
        centers = attention.step_centers
    scores = scores_of(mechanism.attention, query, memory)
    return attention.local_attend(
        scores, memory, mask, centers, mechanism.radius, gaussian=predictive
    )


def _location(mechanism, query, memory, mask):
    kernel = _value(mechanism.kernel)
    return attention.location_attend(query, memory, mask, kernel)


def _coverage(mechanism, query, memory, mask):
    fertility = None
    if mechanism.fertility is not None:
        logits = memory @ _value(mechanism.fertility_kernel)
        fertility = mechanism.fertility * _sigmoid(logits[..., 0])
    return attention.coverage_attend(
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
