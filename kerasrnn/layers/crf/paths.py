"""Paths through a chain: their scores, and the best ones.

For chains see `chain.py`.
"""

from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.crf.chain import NEVER
from kerasrnn.layers.crf.chain import at_tag
from kerasrnn.layers.crf.chain import maximum
from kerasrnn.layers.crf.chain import scan_back
from kerasrnn.tensors import largest
from kerasrnn.tensors import unmasked_first


def path_score(emissions, tags, mask, transitions, end):
    """Returns the scores of given paths.

    Args:
        emissions: Tensor of shape `(time, batch, tags + 1)`, below infinity.
        tags: Integers of shape `(time, batch)`.
        mask: Booleans of that shape, false where a step is skipped.
        transitions: Tensor of shape `(tags + 1, tags + 1)`.
        end: Tensor of shape `(tags + 1,)`.

    Returns:
        Tensor of shape `(batch,)`. It is NaN where a tag does not exist.
    """
    width = transitions.shape[0]
    exists = (tags >= 0) & (tags < width - 1)
    known = ops.all(exists | ~mask, axis=0)
    tags = ops.where(exists, tags, 0)
    # What is not chosen may be minus infinity.
    chosen = at_tag(tags, width) & mask[..., None]
    emitted = ops.sum(ops.where(chosen, emissions, 0.0), axis=(0, 2))

    tags, lengths = _without_gaps(tags, mask)
    start = ops.full_like(tags[:1], width - 1)
    before = ops.concatenate([start, tags[:-1]])
    moves = ops.take(ops.reshape(transitions, (-1,)), before * width + tags)
    positions = ops.arange(ops.shape(tags)[0], dtype="int32")
    here = ops.where(positions[:, None] < lengths, moves, 0.0)

    # With the start before them, the last tag of a row is that of its length.
    after = ops.concatenate([start, tags])
    last = ops.take_along_axis(after, lengths[None], axis=0)[0]
    score = emitted + ops.sum(here, axis=0) + ops.take(end, last)
    return ops.where(known, score, float("nan"))


def _without_gaps(tags, mask):
    """Returns the tags with the unmasked ones first, and their numbers."""
    lengths = ops.sum(ops.cast(mask, "int32"), axis=0)
    return ops.take_along_axis(tags, unmasked_first(mask, 0), axis=0), lengths


def best_path(emissions, mask, transitions, end):
    """Returns the best paths, by the Viterbi algorithm, and their scores.

    Going back through time, what each tag came from is found anew, for the one
    tag of the path: to remember it for all tags would take longer.

    Args:
        emissions: Tensor of shape `(time, batch, tags + 1)`, below infinity.
        mask: Booleans of shape `(time, batch)`, false where a step is skipped.
        transitions: Tensor of shape `(tags + 1, tags + 1)`.
        end: Tensor of shape `(tags + 1,)`.

    Returns:
        Integers of shape `(time, batch)`, 0 where a step is skipped, and a
        tensor of shape `(batch,)`.
    """
    time = ops.shape(emissions)[0]
    arriving = ops.transpose(transitions)

    def forward(old, index):
        new = maximum(old[:, None, :] + arriving, axis=-1) + emissions[index]
        return ops.where(mask[index][:, None], new, old), old

    def backward(tag, index):
        # In 8 bits nothing would be left of weights beside `NEVER`.
        scores = before[index] + _backend.rows(arriving, tag)
        here = mask[index]
        old = _index_of_maximum(scores)
        return ops.where(here, old, tag), ops.where(here, tag, 0)

    start = ops.full_like(emissions[0, :, :-1], NEVER)
    start = ops.pad(start, [[0, 0], [0, 1]])
    last, before = _backend.scan(forward, start, time)
    scores = last + end
    tag = _index_of_maximum(scores)
    _, tags = scan_back(backward, tag, time)
    return tags, maximum(scores, axis=-1)


def _index_of_maximum(scores):
    """Where the largest score is, of equal ones the first.

    `argmax` of floats looks at their bits, which LiteRT cannot.
    """
    is_best = ops.equal(scores, maximum(scores, axis=-1, keepdims=True))
    return ops.cast(ops.argmax(ops.cast(is_best, "int32"), axis=-1), "int32")


def best_paths(emissions, mask, transitions, end, *, count):
    """Returns the `count` best paths, and their scores, the best ones first.

    Args:
        emissions, mask, transitions, end: As of `best_path`.
        count: Positive integer.

    Returns:
        Integers of shape `(time, batch, count)`, and a tensor of shape
        `(batch, count)`. Where there are fewer paths, the tags of the others
        are 0, and their scores minus infinity.
    """
    time = ops.shape(emissions)[0]
    width = transitions.shape[0]
    arriving = ops.repeat(ops.transpose(transitions), count, axis=1)

    # A state is a tag and one of the best paths to it, as one number.
    def forward(old, index):
        scores = old[:, None, :] + arriving
        new, origins = largest(scores, count)
        new = new + emissions[index][..., None]
        new = ops.reshape(new, (-1, width * count))
        origins = ops.reshape(origins, (-1, width * count))
        return ops.where(mask[index][:, None], new, old), origins

    def backward(state, index):
        here = mask[index][:, None]
        old = ops.take_along_axis(origins[index], state, axis=-1)
        tag = ops.where(here, state // count, 0)
        return ops.where(here, old, state), tag

    start = ops.full_like(emissions[0, :, :1], NEVER)
    start = ops.repeat(start, width * count, axis=-1)
    is_start = ops.arange(width * count) == (width - 1) * count
    start = ops.where(is_start, 0.0, start)
    last, origins = _backend.scan(forward, start, time)
    scores, state = largest(last + ops.repeat(end, count), count)
    _, tags = scan_back(backward, state, time)
    exists = scores > NEVER / 2
    tags = ops.where(exists, tags, 0)
    return tags, ops.where(exists, scores, float("-inf"))
