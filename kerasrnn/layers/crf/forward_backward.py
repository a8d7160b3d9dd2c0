"""The forward-backward algorithm: the sum over all paths, and its marginals.

For chains see `chain.py`.

The recursion is one of probabilities, scaled to a sum of 1 in each step, with
one matrix product a step and no logarithm. What is smaller than a float can be
gets lost there. If it could have mattered, all is computed once more, with
logarithms, which takes much longer.
"""

from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.crf.chain import FORBIDDEN
from kerasrnn.layers.crf.chain import NEVER
from kerasrnn.layers.crf.chain import maximum
from kerasrnn.layers.crf.chain import scan_back

# What is lost is smaller than 1e-37, so that a sum has lost none of its digits
# if it is above this.
_SAFE = 1e-30


def log_partition(emissions, mask, transitions, end):
    """Returns the logarithm of the sum of `exp(score)` over all paths.

    Its gradients are the marginal probabilities of the tags and of the
    transitions, found by a recursion back through time.

    Args:
        emissions: Tensor of shape `(time, batch, tags + 1)`, below infinity.
        mask: Floats of shape `(time, batch)`, 0 where a step is skipped.
        transitions: Tensor of shape `(tags + 1, tags + 1)`.
        end: Tensor of shape `(tags + 1,)`.

    Returns:
        Tensor of shape `(batch,)`, 0 where all is masked.
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
    return run(emissions, ops.stop_gradient(mask), transitions, end)


def marginals(emissions, mask, transitions, end):
    """Returns the marginal probabilities, of the shape of the emissions.

    Those of masked steps are 0. For the arguments see `log_partition`.
    """
    chain = emissions, mask, transitions, end
    _, kept = _forward(chain)
    shares, *_ = _backward(chain, kept, ops.ones_like(mask[0]))
    return shares * mask[..., None]


def _forward(chain):
    """Returns the logarithm of the sum, and what `_backward` needs.

    This is whether the probabilities were exact, and these, or else their
    logarithms, before each step and after the last one.
    """
    log_sum, before, last, exact = _forward_scaled(*chain)
    log_sum, before, last = ops.cond(
        exact,
        lambda: (log_sum, before, last),
        lambda: _forward_in_logs(*chain),
    )
    return log_sum, (exact, before, last)


def _backward(chain, kept, weights):
    """Returns the shares of tags in each step, of pairs, and at the end.

    The pairs are summed over all steps and, weighted, over the rows of the
    batch.
    """
    exact, *kept = kept
    return ops.cond(
        exact,
        lambda: _backward_scaled(*chain, *kept, weights),
        lambda: _backward_in_logs(*chain, *kept, weights),
    )


def _start(emissions):
    """Returns the probabilities before the first step: no tag as yet."""
    zeros = ops.zeros_like(emissions[0])
    return ops.concatenate([zeros[:, :-1], zeros[:, -1:] + 1], axis=-1)


def _scaled(x, axis=None):
    """Returns `exp(x)` with a maximum of 1, and the logarithm of the scale."""
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

    time = ops.shape(emissions)[0]
    last, before = _backend.scan(step, _start(emissions), time)
    # The sums once more, of all steps in one product, which takes less time
    # than to save them.
    reached = ops.matmul(before, moves)
    sums = ops.where(real[..., 0], ops.sum(reached * factors, axis=-1), 1.0)
    total = ops.sum(last * ends, axis=-1)
    exact = _is_exact(reached, real, before, transitions)
    exact = exact & ops.all(sums > _SAFE) & ops.all(total > _SAFE)
    steps = ops.log(sums) + mask * (scales + scale_of_moves)
    log_sum = ops.sum(steps, axis=0) + ops.log(total) + scale_of_ends
    # Exactly 0, not but for rounding, where all is masked.
    log_sum = ops.where(ops.any(mask > 0, axis=0), log_sum, 0.0)
    return log_sum, before, last, exact


def _is_exact(reached, real, before, transitions):
    """Whether nothing that was lost can matter.

    Each tag that can follow at all is reached with a probability from which
    nothing is missing. The tags that can follow are those that a path can start
    with and, in later steps, those that can come second. If others can come
    third, which is rare, what they lost is not known.
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
    # What is not reached has a share of 0.
    reached = ops.maximum(ops.matmul(before, moves), _SAFE)
    inverse = ops.where(real, 1.0 / reached, 0.0)

    def step(share, index):
        old = before[index] * ops.matmul(share * inverse[index], turned)
        return ops.where(real[index], old, share), share

    last = last * ends
    last = last / ops.sum(last, axis=-1, keepdims=True)
    time = ops.shape(emissions)[0]
    _, shares = scan_back(step, last, time)
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
    time = ops.shape(emissions)[0]
    last, before = _backend.scan(step, start, time)
    return ops.logsumexp(last + end, axis=-1), before, last


def _log_product(logs, transitions):
    return ops.logsumexp(logs[..., None] + transitions, axis=-2)


def _backward_in_logs(emissions, mask, transitions, end, before, last, weights):
    def step(carry, index):
        share, pairs = carry
        old = before[index]
        reached = _log_product(old, transitions)
        # Which part of the share of each tag comes from which tag.
        parts = ops.exp(old[..., None] + transitions - reached[:, None, :])
        parts = parts * share[:, None, :]
        real = mask[index][:, None]
        here = ops.sum(parts * (real * weights[:, None])[..., None], axis=0)
        old = ops.where(real > 0, ops.sum(parts, axis=-1), share)
        return (old, pairs + here), share

    last = ops.softmax(last + end, axis=-1)
    start = last, ops.zeros_like(transitions)
    (_, pairs), shares = scan_back(step, start, ops.shape(emissions)[0])
    return shares, pairs, last
