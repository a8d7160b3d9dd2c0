"""Step functions over toy models, and how to search them."""

import numpy as np
from keras import ops

from kerasrnn.decoding import Hypotheses

PAD, END, A, B = range(4)
START = 4


def table_step(ids, states, memory):
    """Reads tables `(tokens, tokens)` of transitions, one for each sentence.

    Where it looks, it says by the token that it reads.
    """
    rows = ops.arange(ops.shape(ids)[0])
    size = memory.shape[-1]
    flat = ops.reshape(memory, (-1, size))
    logits = ops.take(flat, rows * size + ids, axis=0)
    return logits, states, ops.softmax(logits[:, :3])


def run(search, tables, step=table_step, states=None, **kwargs):
    """Searches all tables at once; returns `Hypotheses` of arrays."""
    tables = ops.convert_to_tensor(np.asarray(tables, "float32"))
    if states is None:
        states = ops.zeros((tables.shape[0], 1))
    found = search(step, states, tables, **kwargs)
    return Hypotheses(
        *(None if x is None else ops.convert_to_numpy(x) for x in found)
    )


def random_tables(count, size, seed=0):
    logits = np.random.default_rng(seed).normal(size=(count, size, size)) * 2
    logits[:, :, PAD] = -60.0
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def tokens(ids):
    """The written tokens of one hypothesis, without padding."""
    ids = [int(i) for i in ids]
    if END in ids:
        return tuple(ids[: ids.index(END) + 1])
    return tuple(i for i in ids if i != PAD)
