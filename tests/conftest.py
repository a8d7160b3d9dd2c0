import keras

if keras.backend.backend() == "jax":
    import jax

    # Every eager loop compiles anew; the code need not be good for a test.
    jax.config.update("jax_disable_most_optimizations", True)
