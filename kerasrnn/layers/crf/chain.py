"""Linear chains: log-partition, marginals and best paths.

The last index is a start state, besides the tags. Its row of the transitions
holds the start weights, and no transition enters it. So a fully masked row
stays in it and needs no special case. Sequences have the shape
`(time, batch, ...)`.

The forward-backward algorithm works with probabilities, scaled to a sum of 1 in
each step: one matrix product per step and no logarithm. Probabilities below the
range of floats are lost. If they could matter, everything is computed again
with logarithms, which takes much longer.
"""

from keras import ops

from kerasrnn.arguments import check_mask
from kerasrnn.arguments import check_sequences
from kerasrnn.layers import _backend
from kerasrnn.layers.precision import wide
from kerasrnn.tensors import largest
from kerasrnn.tensors import unmasked_first

# The logarithm of the weight of a transition that does not exist.
NEVER = -1e30
# The weight of what a tag scheme forbids. No emission can make up for it.
FORBIDDEN = -1e4


def maximum(x, axis=None, keepdims=False):
    """Returns the maximum; minus infinity over an empty axis."""
    return ops.max(x, axis=axis, keepdims=keepdims, initial=float("-inf"))


def at_tag(tags, width):
    """Returns one-hot booleans `(..., width)` of tags.

    `keras.ops.one_hot` with booleans or several axes cannot be converted to
    ONNX.
    """
    return ops.equal(
        ops.cast(tags, "int32")[..., None], ops.arange(width, dtype="int32")
    )


def scan_back(step, carry, time):
    """Scans backwards, as `_backend.scan` does with `reverse`.

    In ONNX, a loop stacks its results in the order of computation, not by
    index, so the results are reversed here. Meant for small results.
    """
    last, found = _backend.scan(
        lambda carry, index: step(carry, time - 1 - index), carry, time
    )
    return last, ops.flip(found, axis=0)


def checked(emissions, mask):
    """Checks emissions and a mask, and prepares them for the recursions.

    Args:
        emissions: Tensor of shape `(batch, time, tags)`, of any dtype.
        mask: Booleans of shape `(batch, time)`, or `None`.

    Returns:
        The emissions in float32 or wider, 0 at masked steps; and a mask.

    Raises:
        ValueError: when there are no steps, emissions are ragged, or the mask
            has another length.
    """
    check_sequences(emissions)
    emissions = wide(ops.convert_to_tensor(emissions))
    if mask is None:
        return emissions, ops.ones(ops.shape(emissions)[:2], "bool")
    mask = ops.cast(mask, "bool")
    check_mask("mask", mask, emissions)
    return ops.where(mask[..., None], emissions, 0.0), mask


def chain(emissions, mask, transitions, start, end, allowed=None):
    """Returns the arguments of the functions below.

    Args:
        emissions, mask: What `checked` returned.
        transitions: Weights of shape `(tags, tags)`.
        start, end: Weights of shape `(tags,)`.
        allowed: Optional booleans with the shapes of `transitions`, `start` and
            `end`, false where a tag scheme forbids a move.

    Returns:
        Emissions of shape `(time, batch, tags + 1)`, a mask of shape
        `(time, batch)`, transitions of shape `(tags + 1, tags + 1)`, and ends
        of shape `(tags + 1,)`.
    """
    weights = [
        ops.cast(ops.convert_to_tensor(x), emissions.dtype)
        for x in (transitions, start, end)
    ]
    if allowed is not None:
        weights = [
            ops.where(ops.convert_to_tensor(here), x, FORBIDDEN)
            for here, x in zip(allowed, weights, strict=True)
        ]
    transitions, start, end = weights
    moves = ops.concatenate([transitions, start[None]])
    emissions = ops.transpose(emissions, (1, 0, 2))
    return (
        ops.pad(emissions, [[0, 0], [0, 0], [0, 1]]),
        ops.transpose(mask),
        ops.pad(moves, [[0, 0], [0, 1]], constant_values=NEVER),
        ops.pad(end, [[0, 1]]),
    )


# What is lost is smaller than 1e-37, so a sum above this value has lost none of
# its digits.
_SAFE = 1e-30


def log_partition(emissions, mask, transitions, end):
    """Returns the logarithm of the sum of `exp(score)` over all paths.

    Its gradients are the marginal probabilities of tags and transitions,
    computed by a recursion back through time.

    Args:
        emissions: Tensor of shape `(time, batch, tags + 1)`, below infinity.
        mask: Booleans of shape `(time, batch)`, false where a step is skipped.
        transitions: Tensor of shape `(tags + 1, tags + 1)`.
        end: Tensor of shape `(tags + 1,)`.

    Returns:
        Tensor of shape `(batch,)`, 0 for fully masked rows.
    """

    def run(emissions, mask, transitions, end):
        chain = emissions, mask, transitions, end
        log_sum, kept = _forward(chain)

        def gradient(upstream):
            (upstream,) = upstream
            shares, pairs, last = _backward(chain, kept, upstream)
            return (
                shares * (mask * upstream)[..., None],
                ops.zeros_like(mask),
                pairs,
                ops.sum(last * upstream[:, None], axis=0),
            )

        return log_sum, gradient

    run = _backend.custom_gradient(run, required=True)
    mask = ops.stop_gradient(ops.cast(mask, emissions.dtype))
    return run(emissions, mask, transitions, end)


def marginals(emissions, mask, transitions, end):
    """Returns the marginal probabilities, in the shape of the emissions.

    They are 0 at masked steps. For the arguments see `log_partition`.
    """
    mask = ops.cast(mask, emissions.dtype)
    chain = emissions, mask, transitions, end
    _, kept = _forward(chain)
    shares, *_ = _backward(chain, kept, ops.ones_like(mask[0]))
    return shares * mask[..., None]


def _forward(chain):
    """Returns the log-partition, and what `_backward` needs.

    This is a flag whether the probabilities were exact, and the probabilities
    (if exact) or their logarithms before each step and after the last one.
    """
    log_sum, before, last, exact = _forward_scaled(*chain)
    log_sum, before, last = ops.cond(
        exact,
        lambda: (log_sum, before, last),
        lambda: _forward_in_logs(*chain),
    )
    return log_sum, (exact, before, last)


def _backward(chain, kept, weights):
    """Returns the marginals of tags, of pairs of tags, and of last tags.

    Those of pairs are summed over all steps and, with the weights, over the
    rows of the batch.
    """
    exact, *kept = kept
    return ops.cond(
        exact,
        lambda: _backward_scaled(*chain, *kept, weights),
        lambda: _backward_in_logs(*chain, *kept, weights),
    )


def _start(emissions):
    """Returns the probabilities before the first step: the start state."""
    zeros = ops.zeros_like(emissions[0])
    return ops.concatenate([zeros[:, :-1], zeros[:, -1:] + 1], axis=-1)


def _scaled(x, axis=None):
    """Returns `exp(x)` scaled to a maximum of 1, and the log of the scale."""
    scale = maximum(x, axis=axis, keepdims=True)
    return ops.exp(x - scale), ops.squeeze(scale, axis=axis)


def _forward_scaled(emissions, mask, transitions, end):
    factors, scales = _scaled(emissions[..., :-1], axis=-1)
    factors = ops.pad(factors, [[0, 0], [0, 0], [0, 1]])
    moves, scale_of_moves = _scaled(transitions)
    ends, scale_of_ends = _scaled(end)
    real = mask[..., None] > 0

    def step(old, index):
        new = ops.matmul(old, moves) * factors[index]
        new = new / ops.sum(new, axis=-1, keepdims=True)
        return ops.where(real[index], new, old), old

    last, before = _backend.scan(
        step, _start(emissions), ops.shape(emissions)[0]
    )
    # Computing the sums of all steps again, in one product, takes less time
    # than saving them.
    reached = ops.matmul(before, moves)
    sums = ops.where(real[..., 0], ops.sum(reached * factors, axis=-1), 1.0)
    total = ops.sum(last * ends, axis=-1)
    exact = _is_exact(reached, real, before, transitions)
    exact = exact & ops.all(sums > _SAFE) & ops.all(total > _SAFE)
    steps = ops.log(sums) + mask * (scales + scale_of_moves)
    log_sum = ops.sum(steps, axis=0) + ops.log(total) + scale_of_ends
    # Exactly 0, without a rounding error, for fully masked rows.
    log_sum = ops.where(ops.any(mask > 0, axis=0), log_sum, 0.0)
    return log_sum, before, last, exact


def _is_exact(reached, real, before, transitions):
    """Whether no lost probability can matter.

    True if every tag that can follow is reached with a probability that has
    lost nothing. In the first step, these are the tags that a path can start
    with, and in later steps, those that can come second. If other tags can come
    third, which is rare, the loss is unknown and the result is false.
    """
    possible = transitions[:, :-1] > FORBIDDEN / 2

    def after(tags):
        return ops.any(possible[:-1] & tags[:, None], axis=0)

    first = possible[-1]
    second = after(first)
    follows = ops.where(before[..., -1:] > 0, first, second)
    safe = ops.all((reached[..., :-1] > _SAFE) | ~(follows & real))
    return safe & ops.all(second | ~after(second))


def _backward_scaled(emissions, mask, transitions, end, before, last, weights):
    moves, _ = _scaled(transitions)
    ends, _ = _scaled(end)
    turned = ops.transpose(moves)
    real = mask[..., None] > 0
    # Tags that are not reached have a marginal of 0.
    reached = ops.maximum(ops.matmul(before, moves), _SAFE)
    inverse = ops.where(real, 1.0 / reached, 0.0)

    def step(share, index):
        old = before[index] * ops.matmul(share * inverse[index], turned)
        return ops.where(real[index], old, share), share

    last = last * ends
    last = last / ops.sum(last, axis=-1, keepdims=True)
    _, shares = scan_back(step, last, ops.shape(emissions)[0])
    width = transitions.shape[0]
    pairs = ops.matmul(
        ops.transpose(ops.reshape(before, (-1, width))),
        ops.reshape(shares * inverse * weights[:, None], (-1, width)),
    )
    return shares, moves * pairs, last


def _forward_in_logs(emissions, mask, transitions, end):
    real = mask[..., None] > 0

    def step(old, index):
        new = _log_product(old, transitions) + emissions[index]
        return ops.where(real[index], new, old), old

    start = (1.0 - _start(emissions)) * NEVER
    last, before = _backend.scan(step, start, ops.shape(emissions)[0])
    return ops.logsumexp(last + end, axis=-1), before, last


def _log_product(logs, transitions):
    return ops.logsumexp(logs[..., None] + transitions, axis=-2)


def _backward_in_logs(emissions, mask, transitions, end, before, last, weights):
    def step(carry, index):
        share, pairs = carry
        old = before[index]
        reached = _log_product(old, transitions)
        # Distributes the marginal of each tag over the tags before it.
        parts = ops.exp(old[..., None] + transitions - reached[:, None, :])
        parts = parts * share[:, None, :]
        real = mask[index][:, None]
        here = ops.sum(parts * (real * weights[:, None])[..., None], axis=0)
        old = ops.where(real > 0, ops.sum(parts, axis=-1), share)
        return (old, pairs + here), share

    last = ops.softmax(last + end, axis=-1)
    (_, pairs), shares = scan_back(
        step, (last, ops.zeros_like(transitions)), ops.shape(emissions)[0]
    )
    return shares, pairs, last


def path_score(tags, emissions, mask, transitions, end):
    """Returns the scores of given paths.

    Args:
        tags: Integers of shape `(time, batch)`.
        emissions: Tensor of shape `(time, batch, tags + 1)`, below infinity.
        mask: Booleans of shape `(time, batch)`, false where a step is skipped.
        transitions: Tensor of shape `(tags + 1, tags + 1)`.
        end: Tensor of shape `(tags + 1,)`.

    Returns:
        Tensor of shape `(batch,)`. It is NaN for a tag that does not exist.
    """
    width = transitions.shape[0]
    exists = (tags >= 0) & (tags < width - 1)
    known = ops.all(exists | ~mask, axis=0)
    tags = ops.where(exists, tags, 0)
    # Emissions of tags that are not chosen may be minus infinity.
    chosen = at_tag(tags, width) & mask[..., None]
    emitted = ops.sum(ops.where(chosen, emissions, 0.0), axis=(0, 2))

    lengths = ops.sum(ops.cast(mask, "int32"), axis=0)
    tags = ops.take_along_axis(tags, unmasked_first(mask, 0), axis=0)
    start = ops.full_like(tags[:1], width - 1)
    before = ops.concatenate([start, tags[:-1]])
    moves = ops.take(ops.reshape(transitions, (-1,)), before * width + tags)
    positions = ops.arange(ops.shape(tags)[0], dtype="int32")
    here = ops.where(positions[:, None] < lengths, moves, 0.0)

    # With the start state in front, the last tag of a row is at its length.
    after = ops.concatenate([start, tags])
    last = ops.take_along_axis(after, lengths[None], axis=0)[0]
    score = emitted + ops.sum(here, axis=0) + ops.take(end, last)
    return ops.where(known, score, float("nan"))


def best_path(emissions, mask, transitions, end):
    """Returns the best paths and their scores (Viterbi algorithm).

    On the way back through time, the predecessor of each tag of the path is
    computed again. Storing the predecessors of all tags would take longer.

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
        # Quantized to 8 bits, the weights would be lost beside `NEVER`.
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
    """Returns the index of the largest score, the first of equal ones.

    `argmax` of floats looks at their bits, which LiteRT does not support.
    """
    is_best = ops.equal(scores, maximum(scores, axis=-1, keepdims=True))
    return ops.cast(ops.argmax(ops.cast(is_best, "int32"), axis=-1), "int32")


def best_paths(emissions, mask, transitions, end, *, count):
    """Returns the `count` best paths and their scores, best first.

    Args:
        emissions, mask, transitions, end: As in `best_path`.
        count: Positive integer.

    Returns:
        Integers of shape `(time, batch, count)`, and a tensor of shape
        `(batch, count)`. If there are fewer paths, the remaining tags are 0 and
        their scores minus infinity.
    """
    time = ops.shape(emissions)[0]
    width = transitions.shape[0]
    arriving = ops.repeat(ops.transpose(transitions), count, axis=1)

    # A state is a pair of a tag and one of the best paths to it, as one number.
    def forward(old, index):
        new, origins = largest(old[:, None, :] + arriving, count)
        new = new + emissions[index][..., None]
        new = ops.reshape(new, (-1, width * count))
        origins = ops.reshape(origins, (-1, width * count))
        return ops.where(mask[index][:, None], new, old), origins

    def backward(state, index):
        here = mask[index][:, None]
        old = ops.take_along_axis(origins[index], state, axis=-1)
        return ops.where(here, old, state), ops.where(here, state // count, 0)

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
