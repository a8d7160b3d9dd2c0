"""Chooses the faster precision for training on this device."""

import time

from keras import ops

# bfloat16 has only three digits, so it is chosen only if it is this much
# faster.
_GAIN = 1.25


def faster_dtype() -> str:
    """Returns the dtype policy with the faster matrix products.

    It times a product of two matrices in both precisions, which takes about
    half a second. bfloat16 is much faster on recent GPUs and on processors with
    AMX. On other processors it may be slower than float32.

    Returns:
        `"mixed_bfloat16"` if products in bfloat16 are at least a quarter
        faster, otherwise `"float32"`.

    Example:

    >>> keras.config.set_dtype_policy(faster_dtype())
    """
    gain = _seconds("float32") / _seconds("bfloat16")
    return "mixed_bfloat16" if gain >= _GAIN else "float32"


def _seconds(dtype):
    """Returns the shortest time of a product of 1024 x 1024 matrices."""
    x = ops.ones((1024, 1024), dtype)
    times = []
    for _ in range(4):  # In the first round, the backend chooses an algorithm.
        start = time.perf_counter()
        float(ops.cast(ops.matmul(x, x)[0, 0], "float32"))  # Waits.
        times.append(time.perf_counter() - start)
    return min(times)
