"""What tests on JAX need: quick compiling, and not too many programs kept."""

import gc

import keras
import pytest

if keras.backend.backend() == "jax":
    import jax

    # Every eager loop compiles anew; the code need not be good for a test.
    jax.config.update("jax_disable_most_optimizations", True)

    @pytest.fixture(scope="module", autouse=True)
    def forget_compiled_programs():
        """Each program takes some of the memory maps a process may have."""
        yield
        gc.collect()
        jax.clear_caches()
