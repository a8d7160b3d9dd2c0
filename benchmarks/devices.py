"""What the benchmarks compute on."""

import keras


def accelerator():
    """Name of the GPU or TPU that Keras computes on, `None` on a CPU."""
    if keras.backend.backend() == "jax":
        import jax

        device = jax.local_devices()[0]
        return None if device.platform == "cpu" else device.device_kind
    import tensorflow as tf

    for device in tf.config.list_physical_devices("GPU"):
        details = tf.config.experimental.get_device_details(device)
        return details.get("device_name", device.name)
    return None


def precision(dtype):
    """How products are taken under a dtype policy, in words."""
    if dtype != "float32":
        return "bfloat16 products, float32 weights and states"
    return "float32" if accelerator() is None else "float32, products in TF32"


def peak_memory():
    """Most memory of the accelerator in use so far, in MiB, if it is known."""
    if keras.backend.backend() != "jax":
        return None
    import jax

    statistics = jax.local_devices()[0].memory_stats() or {}
    peak = statistics.get("peak_bytes_in_use")
    return peak and round(peak / 2**20)
