"""What all tests share: seed, precision; on JAX, quick and small compiling."""

import collections
import functools
import gc
import os
import random
import zlib

import pytest

from tests import quick_jax

# Keras takes seconds to import, which the process that hands out tests saves.
BACKEND = os.environ.get("KERAS_BACKEND")


# No parameter of a test may have the name of one of these, which it would
# replace.
@pytest.fixture(autouse=True)
def _seed():
    """Two draws of a dropout mask must not be the same by chance.

    Layers of Keras take their seeds from `random`.
    """
    random.seed(0)


@pytest.fixture(autouse=True)
def _policy():
    """What a test, or an example, makes of the precision ends with it."""
    import keras

    before = keras.config.dtype_policy()
    yield
    keras.config.set_dtype_policy(before)


def pytest_collection_modifyitems(items):
    """Files that take long come first, or one process would end with them.

    The other would have nothing left to do. A file keeps to one process.
    """
    import keras

    weights = collections.Counter()
    for item in items:
        weights[item.path] += 10 if item.get_closest_marker("slow") else 1
    items.sort(key=lambda item: -weights[item.path])
    if keras.backend.backend() != "tensorflow":
        leave_to_tensorflow(items)


def pytest_collection_finish():
    """What there is now stays: garbage is not looked for in it again."""
    gc.collect()
    gc.freeze()


def leave_to_tensorflow(items):
    """Of the cases of a test, JAX and PyTorch run one; others are `thorough`.

    JAX compiles every case anew, of the same `keras.ops`, and PyTorch runs its
    loops in Python. Which one it is differs from test to test, so that together
    they go through all of them.
    A test of errors is `thorough`, too: they do not depend on the backend.
    """
    cases = collections.defaultdict(list)
    for item in items:
        cases[item.path, item.originalname].append(item)
    for (_, name), group in cases.items():
        quick = [x for x in group if not x.get_closest_marker("thorough")]
        among = quick or group
        chosen = among[zlib.crc32(name.encode()) % len(among)]
        for item in group:
            errors = "raises" in item.function.__code__.co_names
            if item is not chosen or errors:
                item.add_marker(pytest.mark.thorough)
            if item.get_closest_marker("slow_on_jax"):
                item.add_marker(pytest.mark.slow)


if BACKEND == "torch":
    import torch

    as_array = torch.Tensor.__array__

    def detached(tensor, *args, **kwargs):
        """Tests look at values, not at the gradients that PyTorch guards."""
        return as_array(tensor.detach(), *args, **kwargs)

    torch.Tensor.__array__ = detached

if BACKEND == "jax":
    import jax
    from jax._src.interpreters import mlir

    # A context for each program takes a fifth of the time.
    mlir.make_ir_context = functools.cache(mlir.make_ir_context)
    # Every eager loop compiles anew; the code need not be good for a test.
    jax.config.update("jax_disable_most_optimizations", True)
    # Saves half of the time. Read with the first program.
    given = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{given} {quick_jax.XLA_FLAGS}"

    @pytest.fixture(scope="module", autouse=True)
    def forget_compiled_programs():
        """Each program takes some of the memory maps a process may have."""
        yield
        gc.collect()
        jax.clear_caches()
