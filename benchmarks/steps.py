"""Compares single layers with the loop of Keras, at many shapes.

    python benchmarks/steps.py
    python benchmarks/steps.py --backend jax
    PYTHONPATH=../before python benchmarks/steps.py     # another version

Prints the minimum CPU milliseconds of a training step (forward pass and all
gradients) and of inference, for a layer and for `keras.layers.RNN` of its cell.
Both run alternately in one process. On a GPU, it prints wall milliseconds.
`Attention` is additive attention before a GRU, to as many positions as steps;
it is compared with the same attention around Keras's `GRUCell`. `--layers` can
also name the cells that the guides define. With `--memory`, it prints the peak
memory of each instead, measured in its own process, minus that of a sequence of
two steps.
"""

import argparse
import multiprocessing
import os
import resource

# Layer: shapes of (steps, batch, units, input width).
SHAPES = {
    "FastLSTM": [
        (35, 20, 200, 200),
        (100, 32, 256, 64),
        (1000, 16, 256, 16),
        (35, 20, 830, 830),
    ],
    "FastGRU": [(35, 20, 200, 200), (100, 32, 256, 64)],
    "PeepholeLSTM": [(35, 20, 200, 200), (100, 32, 256, 64)],
    "RHN": [(35, 20, 200, 200), (100, 32, 256, 64), (1000, 16, 256, 16)],
    "RHN, depth 10": [(35, 20, 830, 830)],
    "GAM": [(35, 20, 200, 200)],
    "GAMRHN": [(35, 20, 200, 200), (35, 20, 600, 600)],
    "MinGRU": [(100, 32, 256, 256), (1000, 16, 256, 256)],
    "RGLRU": [(100, 32, 256, 256), (1000, 16, 256, 256)],
    "SLSTM": [(100, 32, 256, 256), (1000, 16, 256, 256)],
    "Attention": [(20, 32, 256, 256), (50, 32, 256, 256)],
}
OF_GUIDES = dict.fromkeys(
    ["ProjectingLSTM", "IndRNN", "Leaky", "Leaky, self-attention"],
    [(35, 20, 200, 200), (100, 32, 256, 64)],
)
LONG = ("FastLSTM", (3000, 16, 256, 16)), ("RHN", (3000, 16, 256, 16))


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--backend", default="tensorflow", choices=("tensorflow", "jax"))
    add("--dtypes", nargs="+", default=["float32"])
    add("--repeats", type=int, default=7, help="turns of each system")
    names = [*SHAPES, *OF_GUIDES]
    add("--layers", nargs="+", default=list(SHAPES), choices=names)
    add("--memory", action="store_true", help="measure memory instead of time")
    return parser.parse_args()


ARGS = parse_args()
os.environ["KERAS_BACKEND"] = ARGS.backend
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import devices  # noqa: E402
import guide_cells  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
import speeds  # noqa: E402
import timed_steps  # noqa: E402

from kerasrnn import layers  # noqa: E402

CLOCK, _ = devices.clock()


def make(name, units, dtype, **options):
    """Creates a layer of `SHAPES`, or of a cell of the guides."""
    if name in OF_GUIDES:
        cell = guide_cells.cell(name, units, dtype)
        return layers.FastRNN(cell, dtype=dtype, **options)
    kind, *deep = name.split(", ")
    sizes = {
        "RHN": {"units": units, "depth": 10 if deep else 3},
        "GAM": {"num_groups": units, "group_size": 3, "head_units": units // 2},
        "GAMRHN": speeds.gam_rhn(units, depth=5),
    }.get(kind, {"units": units})
    return getattr(layers, kind)(**sizes, dtype=dtype, **options)


def systems(name, shape, dtype, return_sequences=True):
    """Returns a layer, the loop of Keras around its cell, and their input."""
    steps, batch, units, width = shape
    options = {"return_sequences": return_sequences}
    if name == "Attention":
        return attention(shape, dtype)
    layer = make(name, units, dtype, **options)
    loop = keras.layers.RNN(layer.cell, dtype=layer.dtype_policy, **options)
    shape = (batch, steps, width)
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    return {"layer": layer, "loop": loop}, x


def attention(shape, dtype):
    """Returns attention around our cell and Keras's, and their input."""
    steps, batch, units, width = shape
    x = np.random.default_rng(0).normal(size=(batch, steps, width))

    def around(cell):
        rnn = layers.AttentionRNN(layers.AttentionCell(cell, "additive"))
        return AttentionToItself(rnn)

    found = {
        "layer": around(layers.FastGRUCell(units, dtype=dtype)),
        "loop": around(keras.layers.GRUCell(units, dtype=dtype)),
    }
    for each in found.values():
        each.build(x.shape)
    return found, x.astype("float32")


class AttentionToItself(keras.layers.Layer):
    """An `AttentionRNN` whose memory is its sequence."""

    def __init__(self, rnn):
        super().__init__(dtype=rnn.dtype_policy)
        self.rnn = rnn

    def build(self, shape):
        self.rnn.build(shape, shape)

    def call(self, x, training=False):
        return self.rnn(x, x, training=training)


def print_times(dtype):
    heads = ["layer", "loop", "times", "inference", "loop", "times"]
    shape = f"{dtype}, {CLOCK} ms: T, B, units, input"
    print("| " + " | ".join([shape, *heads]) + " |")
    print("|---|" + "--:|" * len(heads))
    for name in ARGS.layers:
        for shape in (SHAPES | OF_GUIDES)[name]:
            found, x = systems(name, shape, dtype)
            both = [timed_steps.functions(layer, x) for layer in found.values()]
            row = []
            for steps in zip(*both, strict=True):
                fast, slow = timed_steps.least(steps, ARGS.repeats)
                row += [f"{fast:.1f}", f"{slow:.1f}", f"{slow / fast:.2f}"]
            label = f"{name}, {', '.join(map(str, shape))}"
            print(f"| {label} | " + " | ".join(row) + " |", flush=True)


def peak(name, shape, system, training):
    """Returns the peak memory of a process that runs a function, in MiB."""
    set_threads()
    found, x = systems(name, shape, "float32", return_sequences=training)
    steps = timed_steps.functions(found[system], x)
    step = steps[0 if training else 1]
    for _ in range(3):
        step()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_memory():
    """Training returns all outputs, inference only the last one."""
    print("| MiB above those of two steps | layer | loop |")
    print("|---|--:|--:|")
    for name, shape in LONG:
        for training in (True, False):
            row = []
            for system in ("layer", "loop"):
                peaks = []
                for steps in (2, shape[0]):
                    given = (name, (steps, *shape[1:]), system, training)
                    with multiprocessing.get_context("spawn").Pool(1) as pool:
                        peaks.append(pool.apply(peak, given))
                row.append(f"{peaks[1] - peaks[0]:,.0f}")
            what = "training" if training else "inference"
            print(f"| {name}, {what} | " + " | ".join(row) + " |", flush=True)


def set_threads():
    if ARGS.backend == "tensorflow":
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)


def main():
    set_threads()
    if ARGS.memory:
        print_memory()
        return
    for dtype in ARGS.dtypes:
        print_times(dtype)


if __name__ == "__main__":
    main()
