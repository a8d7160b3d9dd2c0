"""A conditional random field by its definition: all paths, one by one.

A sequence is one row: `emissions` is `(time, tags)`, `mask` is `(time,)`, true
where a step is part of it. `weights` are the transitions `(tags, tags)`, the
start and the end, both `(tags,)`.
"""

import itertools

import numpy as np


def score(tags, emissions, mask, weights):
    """start[y_1] + sum_t U[t, y_t] + sum_t A[y_{t-1}, y_t] + end[y_n].

    Over the unmasked steps only; 0 if there are none.
    """
    transitions, start, end = (np.asarray(x, "float64") for x in weights)
    steps = np.flatnonzero(mask)
    path = [tags[t] for t in steps]
    if not path:
        return 0.0
    total = start[path[0]] + end[path[-1]]
    total += sum(float(emissions[t, tags[t]]) for t in steps)
    return total + sum(transitions[a, b] for a, b in itertools.pairwise(path))


def all_paths(emissions, mask, weights):
    """Every path, 0 at masked steps, and its score, the best one first."""
    choices = [range(emissions.shape[1]) if real else [0] for real in mask]
    paths = [
        (tags, score(tags, emissions, mask, weights))
        for tags in itertools.product(*choices)
    ]
    return sorted(paths, key=lambda pair: -pair[1])


def log_partition(emissions, mask, weights):
    """log sum_y exp(score(y))."""
    scores = [s for _, s in all_paths(emissions, mask, weights)]
    return np.logaddexp.reduce(scores)


def marginals(emissions, mask, weights):
    """p(y_t = k), `(time, tags)`, 0 at masked steps."""
    log_z = log_partition(emissions, mask, weights)
    found = np.zeros(emissions.shape)
    for tags, s in all_paths(emissions, mask, weights):
        for t in np.flatnonzero(mask):
            found[t, tags[t]] += np.exp(s - log_z)
    return found


def loss(tags, emissions, mask, weights):
    """-log p(y)."""
    log_z = log_partition(emissions, mask, weights)
    return log_z - score(tags, emissions, mask, weights)
