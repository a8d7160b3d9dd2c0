"""Step functions over toy models, and how to search them."""

import numpy as np
from keras import ops

from kerasrnn.decoding import tile_memory

PAD, END, A, B = range(4)
START = 4


def table_step(ids, states, memory):
    """Reads tables `(tokens, tokens)` of transitions, one for each sentence.

    Where it looks, it says by the token that it reads.
    """
    tables = tile_memory(memory, ids)
    logits = ops.take_along_axis(tables, ids[:, None, None], axis=1)[:, 0]
    return logits, states, ops.softmax(logits[:, :3])


def sharpening_step(ids, states, memory):
    """Surer at every step, so that no two ways to go score the same."""
    logits, _, weights = table_step(ids, (), memory)
    return logits * (1.0 + 0.1 * states), states + 1, weights


def sharpening_function(table):
    """What `sharpening_step` knows of one sentence, as a function."""

    def log_probs(prefix):
        logits = table[prefix[-1]] * (1.0 + 0.1 * (len(prefix) - 1))
        return logits - np.log(np.exp(logits).sum())

    return log_probs


def tree_step(ids, states, memory):
    """Reads, for each sentence, a number for every token behind every prefix.

    A prefix is numbered: the root is 0, and the children of `i`, one for each
    of `n` tokens, are `n * i + 1`, `n * i + 2`, ... The state is the prefix
    of the token that is read, -1 before the start token.
    """
    logits, looks = memory
    sentences, _, size = logits.shape
    nodes = ops.where(states < 0, 0, states * size + 1 + ids[:, None])
    positions = ops.reshape(nodes, (sentences, -1, 1))
    logits, looks = (
        ops.take_along_axis(x, ops.minimum(positions, x.shape[1] - 1), axis=1)
        for x in (logits, looks)
    )
    looks = ops.reshape(looks, (-1, looks.shape[2]))
    return ops.reshape(logits, (-1, size)), nodes, looks


def tree_functions(logits, looks):
    """What `tree_step` knows of one sentence, as functions of a prefix."""
    size = logits.shape[1]
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))

    def node(prefix):
        place = 0
        for token in prefix[1:]:
            place = place * size + 1 + token
        return place

    return (
        lambda prefix: log_probs[node(prefix)],
        lambda prefix: looks[node(prefix)],
    )


def random_trees(count, size, length, positions=3, seed=0):
    """Logits and alignments behind every prefix of up to `length` tokens."""
    generator = np.random.default_rng(seed)
    nodes = sum(size**i for i in range(length))
    logits = generator.normal(size=(count, nodes, size)) * 1.5
    looks = generator.dirichlet(np.ones(positions), size=(count, nodes))
    return logits.astype("float32"), looks.astype("float32")


def search_trees(search, trees, **kwargs):
    """Searches all trees at once; returns `Hypotheses` of arrays."""
    states = ops.full((len(trees[0]), 1), -1, dtype="int32")
    memory = tuple(ops.convert_to_tensor(x) for x in trees)
    return as_arrays(search(tree_step, states, memory, **kwargs))


def run(search, tables, step=table_step, states=None, **kwargs):
    """Searches all tables at once; returns `Hypotheses` of arrays."""
    tables = ops.convert_to_tensor(np.asarray(tables, "float32"))
    if states is None:
        states = ops.zeros((tables.shape[0], 1))
    return as_arrays(search(step, states, tables, **kwargs))


def as_arrays(found):
    return type(found)(
        *(None if x is None else ops.convert_to_numpy(x) for x in found)
    )


def random_tables(count, size, seed=0):
    logits = np.random.default_rng(seed).normal(size=(count, size, size)) * 2
    logits[:, :, [PAD, START]] = -60.0
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def tokens(ids):
    """The written tokens of one hypothesis, without padding."""
    ids = [int(i) for i in ids]
    if END in ids:
        return tuple(ids[: ids.index(END) + 1])
    return tuple(i for i in ids if i != PAD)
