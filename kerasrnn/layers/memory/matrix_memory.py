"""A matrix memory that is written and read at every step.

Gated DeltaNet, mLSTM and Mamba-2 all use this operation. `matrix_memory` runs
over a sequence in chunks of steps, and computes each chunk with matrix
products. `matrix_memory_step` is a single step, for decoders and as
documentation.
"""

from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.layers import _backend
from kerasrnn.layers.precision import wide
from kerasrnn.tensors import where_unmasked
from kerasrnn.typing import Tensor

# Stands for the logarithm of 0: its `exp` is 0.
_NOTHING = -1e30


def matrix_memory(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    log_input: Tensor | None = None,
    beta: Tensor | None = None,
    initial_state: list[Tensor] | None = None,
    mask: Tensor | None = None,
    chunk_size: int = 64,
) -> tuple[Tensor, list[Tensor]]:
    """Writes and reads a matrix at every step, computed chunk by chunk.

    With `S` of shape `(key_dim, value_dim)` and `g = exp(log_decay)`, each head
    computes one of these

        S_t = g_t S_{t-1} + k_t v_t'                           Mamba-2
        S_t = g_t S_{t-1} + k_t beta_t (v_t - g_t S_{t-1}' k_t)'     delta rule
        S_t = g_t S_{t-1} + exp(log_input_t) k_t [v_t; 1]'     mLSTM

    and returns `S_t' q_t`. With `log_input`, the last column `n` of `S` is a
    normalizer: the output is `C' q / max(|n' q|, 1)`, where `C` are the other
    columns. With `beta` (delta rule), a step replaces the value of a key; the
    other rules add to it.

    A chunk of `C` steps takes products of `(C, C)`, `(C, key_dim)` and
    `(C, value_dim)` matrices. Only the memories at the borders of chunks are
    computed one after the other. So the cost per step does not depend on the
    length of the sequence. Everything is computed in float32 or wider.

    Args:
        q, k: Tensors of shape `(batch, time, heads, key_dim)`. For the delta
            rule, keys should have length 1. With the other rules, they may have
            a single head, which all heads of `v` share.
        v: Tensor of shape `(batch, time, heads, value_dim)`.
        log_decay: Tensor of shape `(batch, time, heads)`, at most 0: the
            logarithm of the part of the memory that is kept.
        log_input: Optional tensor of the same shape, the logarithm of the
            weight of a step. It may have any magnitude, because weights are
            relative to a running maximum `m`.
        beta: Optional tensor of the same shape, from 0 to 2: the part of a
            value that is replaced. Above 1, the memory can change its sign.
        initial_state: Optional list of initial states, as returned by an
            earlier call; zeros by default.
        mask: Optional boolean tensor of shape `(batch, time)`. A masked step
            leaves the memory unchanged, and its output is meaningless.
        chunk_size: Power of two, at least 4, the number of steps in a chunk.

    Returns:
        The outputs of shape `(batch, time, heads, value_dim)`, and the final
        state: `[S]`, of shape `(batch, heads, key_dim, value_dim)`. With
        `log_input` it is `[S, m]`, where `S` has one more column and is scaled
        by `exp(-m)`, and `m` has the shape `(batch, heads)`.

    Raises:
        ValueError: when both `log_input` and `beta` are given, or `chunk_size`
            is not a power of two, at least 4.

    Example:

    >>> q = k = v = np.ones((2, 100, 4, 8)) / 8**0.5
    >>> outputs, [memory] = matrix_memory(
    ...     q, k, v, log_decay=np.zeros((2, 100, 4)), beta=np.ones((2, 100, 4))
    ... )
    >>> outputs.shape, memory.shape
    ((2, 100, 4, 8), (2, 4, 8, 8))

    References:
        [Yang et al., 2024](https://arxiv.org/abs/2412.06464), Gated DeltaNet;
        [Beck et al., 2024](https://arxiv.org/abs/2405.04517), mLSTM;
        [Dao & Gu, 2024](https://arxiv.org/abs/2405.21060), Mamba-2.
    """
    if log_input is not None and beta is not None:
        raise ValueError(
            "`log_input` (steps add to the memory) and `beta` (steps replace "
            "values) exclude each other. Expected: one of them. Received: both"
        )
    size = integer("chunk_size", chunk_size, 4)
    if size & (size - 1):
        raise ValueError(
            f"`chunk_size` must be a power of two. Received: {chunk_size}"
        )
    batch, time = ops.shape(q)[:2]
    while isinstance(time, int) and size > 4 and size // 2 >= time:
        size //= 2
    count = (time + size - 1) // size

    def chunks(x, masked=0.0):
        """Splits a tensor into chunks, `(batch, heads, count, size, ...)`."""
        x = wide(ops.convert_to_tensor(x))
        if mask is not None:
            x = where_unmasked(mask, x, masked)
        rest = x.shape[2:]
        missing = ops.full((batch, count * size - time, *rest), masked, x.dtype)
        x = ops.concatenate([x, missing], axis=1)
        return ops.moveaxis(ops.reshape(x, (batch, count, size, *rest)), 3, 1)

    q, k, v, log_decay = map(chunks, (q, k, v, log_decay))
    beta = None if beta is None else chunks(beta)[..., None]
    if log_input is not None:
        log_input = chunks(log_input, _NOTHING)
        v = _with_ones(v)
    if initial_state is None:
        initial_state = zero_state(k[:, :, 0, 0], v[:, :, 0, 0], log_input)
    state = [wide(x) for x in initial_state]
    if log_input is not None:
        fixed = ops.stop_gradient(state[1])
        before, scales = _log_scales(log_decay, log_input, fixed)
        # Only the initial scale has a gradient.
        state[0] = state[0] * ops.exp(state[1] - fixed)[..., None, None]
        log_decay = log_decay + before - scales
        k = k * ops.exp(log_input - scales)[..., None]
        state[1] = scales[:, :, -1, -1]
    outputs, state[0] = _run(q, k, v, log_decay, beta, state[0])
    if log_input is not None:
        outputs = _normalized(outputs, scales)
    outputs = ops.moveaxis(outputs, 1, 3)
    joined = (batch, count * size, *outputs.shape[3:])
    return ops.reshape(outputs, joined)[:, :time], state


def matrix_memory_step(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    log_input: Tensor | None = None,
    beta: Tensor | None = None,
    state: list[Tensor] | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """Computes one step of `matrix_memory`, following its equations.

    Args:
        q, k: Tensors of shape `(batch, heads, key_dim)`.
        v: Tensor of shape `(batch, heads, value_dim)`.
        log_decay, log_input, beta: Tensors of shape `(batch, heads)`.
        state: Optional list of the states, as `matrix_memory` returns it;
            zeros by default.

    Returns:
        The output of shape `(batch, heads, value_dim)`, and the new state.
    """
    q, k, v, log_decay = map(wide, (q, k, v, log_decay))
    if log_input is not None:
        v = _with_ones(v)
    memory, *scale = map(wide, state or zero_state(k, v, log_input))
    if log_input is not None:
        log_input, (before,) = wide(log_input), scale
        scale = [ops.stop_gradient(ops.maximum(log_decay + before, log_input))]
        log_decay = log_decay + before - scale[0]
        k = k * ops.exp(log_input - scale[0])[..., None]
    memory = memory * ops.exp(log_decay)[..., None, None]
    if beta is not None:
        held = ops.sum(k[..., None] * memory, axis=-2)
        v = wide(beta)[..., None] * (v - held)
    memory = memory + k[..., None] * v[..., None, :]
    output = ops.sum(q[..., None] * memory, axis=-2)
    if log_input is not None:
        output = _normalized(output, scale[0])
    return output, [memory, *scale]


def _run(q, k, v, log_decay, beta, memory):
    """Runs over chunks `(batch, heads, count, size, ...)`.

    At step `i`, a part `exp(decayed_i)` of the chunk's initial memory is left,
    and `exp(decayed_i - decayed_j)` of what step `j` wrote.
    """
    size = q.shape[-2]
    decayed = ops.cumsum(log_decay, axis=-1)
    steps = ops.arange(size)
    left = decayed[..., :, None] - decayed[..., None, :]
    left = ops.exp(ops.where(steps[:, None] >= steps, left, _NOTHING))
    left_at_end = ops.exp(decayed[..., -1:] - decayed)[..., None]
    decayed = ops.exp(decayed)[..., None]
    transposed = ops.swapaxes(k, -1, -2)
    kept = decayed[..., -1:, :]
    if beta is not None:
        # What step `i` writes depends on what earlier steps wrote. This is a
        # linear system, solved for the values, and for the keys that read the
        # initial memory.
        written = beta * k
        system = ops.matmul(written, transposed) * left
        system = ops.where(steps[:, None] > steps, system, 0.0)
        right = ops.concatenate([beta * v, written * decayed], axis=-1)
        inverse = _inverse(ops.reshape(system, (-1, size, size)))
        solved = ops.matmul(ops.reshape(inverse, ops.shape(system)), right)
        v, written = solved[..., : v.shape[-1]], solved[..., v.shape[-1] :]
        identity = ops.eye(k.shape[-1], dtype=k.dtype)
        kept = kept * identity - ops.matmul(
            ops.swapaxes(k * left_at_end, -1, -2), written
        )
    added = ops.matmul(ops.swapaxes(k * left_at_end, -1, -2), v)
    update = ops.multiply if beta is None else ops.matmul
    memories, memory = _memories(memory, kept, added, update)
    if beta is not None:
        v = v - ops.matmul(written, memories)
    attended = ops.matmul(q, transposed) * left
    return ops.matmul(attended, v) + ops.matmul(q * decayed, memories), memory


def _memories(memory, kept, added, update):
    """Returns the memory at the start of each chunk, and the final one.

    Args:
        memory: Tensor `(batch, heads, key_dim, value_dim)`, the initial memory.
        kept, added: Tensors of all chunks, `(batch, heads, count, ...)`: the
            next memory is `update(kept, memory) + added`.
        update: `keras.ops.multiply` or `keras.ops.matmul`.
    """
    kept, added = (ops.moveaxis(x, 2, 0) for x in (kept, added))

    def step(memory, index, here):
        kept, added = here
        return update(kept, memory) + added, memory

    memory, memories = _backend.scan_reading(
        _backend.reader([kept, added]), step, memory, ops.shape(added)[0]
    )
    return ops.moveaxis(memories, 0, 2), memory


def _inverse(lower):
    """Returns `(I + lower)^-1` for strictly lower triangular matrices.

    `lower` has the shape `(n, size, size)`. It is inverted by blocks:
    `[[A, 0], [L, B]]` has the inverse `[[A', 0], [-B' L A', B']]`, where `A'`
    and `B'` are the inverses of the blocks. A product of powers of `lower`
    would be shorter, but it loses all precision when keys repeat.
    """
    size = lower.shape[-1]
    if size == 4:  # lower^4 = 0
        identity = ops.eye(4, dtype=lower.dtype)
        return _product(identity - lower, identity + _product(lower, lower))
    half = size // 2
    blocks = [lower[:, :half, :half], lower[:, half:, half:]]
    first, last = ops.split(_inverse(ops.concatenate(blocks)), 2)
    corner = -_product(_product(last, lower[:, half:, :half]), first)
    above = ops.concatenate([first, ops.zeros_like(first)], axis=-1)
    below = ops.concatenate([corner, last], axis=-1)
    return ops.concatenate([above, below], axis=-2)


def _product(x, y):
    """Multiplies batches of matrices; avoids `matmul` for small ones."""
    if x.shape[-1] > 8:
        return ops.matmul(x, y)
    return ops.sum(x[..., None] * y[..., None, :, :], axis=-2)


def _log_scales(log_decay, log_input, first):
    """Returns a running maximum of weights, before and after each step.

        m_t = max(log_decay_t + m_{t-1}, log_input_t)

    Results do not depend on it, so it has no gradient.
    """
    log_decay, log_input = map(ops.stop_gradient, (log_decay, log_input))
    decayed = ops.cumsum(log_decay, axis=-1)
    largest = log_input - decayed
    distance = 1
    while distance < largest.shape[-1]:
        later = ops.maximum(largest[..., distance:], largest[..., :-distance])
        largest = ops.concatenate([largest[..., :distance], later], axis=-1)
        distance *= 2
    ends = ops.moveaxis(decayed[..., -1] + largest[..., -1], 2, 0)
    total = ops.moveaxis(decayed[..., -1], 2, 0)

    def step(scale, index):
        return ops.maximum(scale + total[index], ends[index]), scale

    _, starts = _backend.scan(
        step, ops.stop_gradient(first), ops.shape(ends)[0]
    )
    starts = ops.moveaxis(starts, 0, 2)[..., None]
    scales = decayed + ops.maximum(starts, largest)
    return ops.concatenate([starts, scales[..., :-1]], axis=-1), scales


def zero_state(k, v, log_input=None):
    """Returns the state of an empty memory, for tensors of one step."""
    memory = ops.zeros_like(k[..., None] * v[..., None, :])
    scale = ops.zeros_like(memory[..., 0, 0])
    return [memory] if log_input is None else [memory, scale]


def _with_ones(v):
    """Adds a column of ones to values, which sums up the weights."""
    return ops.concatenate([v, ops.ones_like(v[..., :1])], axis=-1)


def _normalized(outputs, log_scale):
    """Divides by the sum of the weights (the last column), at least by 1."""
    outputs, total = outputs[..., :-1], outputs[..., -1:]
    smallest = ops.exp(-log_scale)[..., None]
    return outputs / ops.maximum(ops.abs(total), smallest)
