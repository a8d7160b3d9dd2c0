"""The device of the benchmarks.

python benchmarks/devices.py            # fails where there is no GPU
python benchmarks/devices.py --small
"""

import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys

import keras


def accelerator():
    """Returns the name of the GPU or TPU that Keras uses, `None` on a CPU."""
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
    """Describes the precision of matrix products under a dtype policy."""
    if dtype != "float32":
        return "bfloat16 products of float32 weights, float32 states"
    if accelerator() is None:
        return "float32"
    return "float32, products in TF32 where the GPU has it"


def place(threads):
    """Returns a description of hardware and software, as a list of strings."""
    processor = f"{platform.machine()}, {threads} threads"
    backend = f"keras {keras.__version__} on {keras.backend.backend()}"
    return [accelerator() or processor, backend]


def main():
    """Prints the device, and multiplies two matrices on it."""
    if accelerator() is None and sys.argv[1:] != ["--small"]:
        sys.exit(
            f"{keras.backend.backend()} sees no GPU. Expected: its package "
            "for CUDA; or --small, for toy sizes on any machine."
        )
    product = keras.ops.matmul(
        keras.ops.ones((512, 512)), 2 * keras.ops.eye(512)
    )
    assert float(product[0, 0]) == 2
    names = "keras", "jax", "jaxlib", "torch", "tensorflow", "numpy"
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in names
        if importlib.util.find_spec(name)
    )
    print(
        f"{accelerator() or 'CPU'}, {platform.machine()}, "
        f"{os.cpu_count()} cores; Python {platform.python_version()}, "
        f"{versions}.\n"
    )
    if accelerator():
        query = "name,driver_version,memory.total,clocks.max.sm"
        command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv"]
        print(subprocess.run(command, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
